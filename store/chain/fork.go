package chain

// ofItself are the keys of meta that say something of the Idea they stand in, and nothing of one that comes from it. The
// Request's number stays: the process that starts from the Idea makes it again.
var ofItself = []string{"process", "at", "parent", "digest", "log", createdAt}

// origin is the key of meta that names the Idea from which a process was forked: {"process", "at", "digest"}.
const origin = "origin"

// Fork makes of an Idea, as Load gives it, one from which another process starts: its meta names where it comes from.
func Fork(idea map[string]any) map[string]any {
	out := make(map[string]any, len(idea))
	for k, v := range idea {
		out[k] = v
	}
	given, _ := idea["meta"].(map[string]any)
	meta := make(map[string]any, len(given))
	for k, v := range given {
		meta[k] = v
	}
	meta[origin] = map[string]any{"process": given["process"], "at": given["at"], "digest": given["digest"]}
	for _, k := range ofItself {
		delete(meta, k)
	}
	out["meta"] = meta
	return out
}
