package texttools

import (
	"fmt"

	"processidea/tools"
)

const (
	// maxAnalyzedTextBytes is how many bytes of text are searched, compared or scored at once: the forms made for that
	// take up to a hundred times as many.
	maxAnalyzedTextBytes = 256 << 10
	maxAllWordsBytes     = 32 << 10 // of all words to look for
)

// Register registers the tools.
func Register(r *tools.Registry) {
	registerSentiment(r)
	registerMatchWords(r)
	registerFindSimilar(r)
}

// checkTextSize refuses a text of more bytes than a tool can search.
func checkTextSize(name string, size, limit int) error {
	if size > limit {
		return tools.Final(fmt.Errorf("%s: %d bytes are too many to search at once; the limit is %d", name,
			size, limit))
	}
	return nil
}
