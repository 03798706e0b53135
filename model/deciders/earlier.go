package deciders

import "processidea/model/jsonval"

// Keys of an Idea's meta: who started the process, and the processes that it was forked from; and what was decided on Calls in the latter.
const (
	startersKey = "startedBy"
	earlierKey  = "decided"
)

// Earlier is who decided on a Call in a process that this one was forked from.
type Earlier struct {
	CallID string `json:"call"`
	Tool   string `json:"tool,omitempty"`
	By     string `json:"by"`
	// Proof is that of a signed decision.
	Proof string `json:"proof,omitempty"`
}

// StartersOf reads who started the process, and those that it was forked from, from an Idea's source.
func StartersOf(source map[string]any) []string {
	list, _ := jsonval.AsStringList(jsonval.AsObject(source["meta"])[startersKey])
	return list
}

// WithStarters returns an Idea's source that names these people too.
func WithStarters(source map[string]any, starters []string) map[string]any {
	all := StartersOf(source)
	before := len(all)
	for _, name := range starters {
		if normalName(name) != "" && !containsName(all, name) {
			all = append(all[:len(all):len(all)], name)
		}
	}
	if len(all) == before {
		return source
	}
	return withMeta(source, startersKey, all)
}

// EarlierOf reads what was decided in the processes that this one was forked from.
func EarlierOf(source map[string]any) (list []Earlier) {
	entries, _ := jsonval.AsObject(source["meta"])[earlierKey].([]any)
	for _, raw := range entries {
		e := jsonval.AsObject(raw)
		list = append(list, Earlier{
			CallID: jsonval.AsText(e["call"]), Tool: jsonval.AsText(e["tool"]), By: jsonval.AsText(e["by"]), Proof: jsonval.AsText(e["proof"]),
		})
	}
	return list
}

// WithEarlier returns an Idea's source that tells these decisions too.
func WithEarlier(source map[string]any, made []Earlier) map[string]any {
	if len(made) == 0 {
		return source
	}
	return withMeta(source, earlierKey, append(EarlierOf(source), made...))
}

func withMeta(source map[string]any, key string, v any) map[string]any {
	meta := jsonval.WithoutKey(jsonval.AsObject(source["meta"]), key)
	meta[key] = jsonval.ToJSONValue(v)
	out := jsonval.WithoutKey(source, "meta")
	out["meta"] = meta
	return out
}
