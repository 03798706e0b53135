package builtin

import (
	"fmt"

	"processidea/tools"
)

// maxResultBytes bounds a result, in bytes: a larger one is refused before it is made.
const maxResultBytes = 20 << 20

var errResultTooLarge = fmt.Errorf("the result would have more than %d MB", maxResultBytes>>20)

// Register registers the tools that come with the program. get makes the GET requests of `fetch`; if nil, that tool is
// left out.
func Register(r *tools.Registry, get Getter) {
	tools.Register(r, "decide", decide, tools.Pure(), tools.Describe(
		"Decides by a table: the first rule whose JSON Schema holds on the facts gives the decision and its reason."))
	tools.Register(r, "selectJSON", selectJSON, tools.Pure(), tools.Describe("Selects from a JSON value with jq: the "+
		"first result, null where there is none, or with all a list of every result."))
	tools.Register(r, "formatText", formatText, tools.Pure(), tools.Describe("Fills a text template: {name} and "+
		"{path.to.value} are replaced by values; lists and objects read as JSON."))
	tools.Register(r, "currentTime", currentTime, tools.NothingToUndo(), tools.Describe(
		"Tells the time now, as RFC 3339 in UTC unless a zone or a strftime format is given."))
	tools.Register(r, "note", note, tools.Pure(), tools.Describe(
		"Leaves a note for a person: it stands on the Call's record, and nothing else happens."))
	if get != nil {
		registerFetch(r, get)
	}
}
