package builtin

import (
	"fmt"

	"processidea/tools"
)

const (
	// maxMade is how large a result may become, in bytes: what would be larger is refused before it is made.
	maxMade = 20 << 20
	// maxSearched is how many bytes of text are searched or compared at once: in the form in which that is done they take up to a hundred
	// times as many.
	maxSearched = 2 << 20
	maxWords    = 256 << 10 // of all words to look for
	maxScored   = 512 << 10 // of a text whose mood is scored
)

var errTooMuch = fmt.Errorf("the result would have more than %d MB", maxMade>>20)

// checkSize refuses a text that is longer than a tool can search, in bytes.
func checkSize(what string, size, limit int) error {
	if size > limit {
		return tools.Final(fmt.Errorf("%s: %d bytes are too many to search at once; the limit is %d", what, size, limit))
	}
	return nil
}

// Register registers the tools that come with the program. get makes the GET requests of `fetch`; without one (nil) that
// tool is left out.
func Register(r *tools.Registry, get Getter) {
	registerSentiment(r)
	registerMatchWords(r)
	registerFindSimilar(r)
	registerDecide(r)
	registerSelectJSON(r)
	registerFormatText(r)
	registerCurrentTime(r)
	registerNote(r)
	if get != nil {
		registerFetch(r, get)
	}
}
