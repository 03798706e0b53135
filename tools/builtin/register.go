package builtin

import (
	"fmt"

	"processidea/tools"
)

// maxMade is how large a result may become, in bytes: what would be larger is refused before it is made.
const maxMade = 20 << 20

var errTooMuch = fmt.Errorf("the result would have more than %d MB", maxMade>>20)

// Register registers the tools that come with the program. get makes the GET requests of `fetch`; without one (nil)
// that tool is left out.
func Register(r *tools.Registry, get Getter) {
	registerDecide(r)
	registerSelectJSON(r)
	registerFormatText(r)
	registerCurrentTime(r)
	registerNote(r)
	if get != nil {
		registerFetch(r, get)
	}
}
