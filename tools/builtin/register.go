package builtin

import "processidea/tools"

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
