package policy

import (
	"maps"
	"slices"

	"processidea/model/jsonval"
)

// Keys of an Idea's meta: who started the process and its ancestors by forks; who else caused what its instances do;
// and the decisions on Calls in the ancestors.
const (
	startersKey = "startedBy"
	causersKey  = "causedBy"
	earlierKey  = "decided"
)

// MetaKeys lists the keys of an Idea's meta that belong to the chain. A fork cannot set them.
func MetaKeys() []string { return []string{startersKey, causersKey, earlierKey} }

// PriorDecision is who decided on a Call in a process that this one was forked from.
type PriorDecision struct {
	CallID string `json:"call"`
	Tool   string `json:"tool,omitempty"`
	By     string `json:"by"`
	// Account is the person's account, if the proof has one; zero: unknown.
	Account
	// Proof is the proof of a signed decision; empty: the decision was declared.
	Proof string `json:"proof,omitempty"`
}

// ReadStarters reads, from an Idea's source, who started the process and the processes that it was forked from.
func ReadStarters(source jsonval.Object) []Identity {
	return readIdentities(jsonval.At(source, "meta", startersKey))
}

// WithStarters returns an Idea's source that names these people too.
func WithStarters(source jsonval.Object, starters []Identity) jsonval.Object {
	all := ReadStarters(source)
	before := len(all)
	for _, who := range starters {
		if !isRecorded(all, who) {
			all = append(slices.Clip(all), who)
		}
	}
	if len(all) == before {
		return source
	}
	return withMeta(source, startersKey, all)
}

// ReadCausers reads who has added or revised an instance, or amended its Plan, since the process started. An empty name
// is a person who did not give one.
func ReadCausers(source jsonval.Object, token string) []Identity {
	all := jsonval.AsObject(jsonval.At(source, "meta", causersKey))
	list := readIdentities(all[allInstances])
	if token != allInstances {
		list = append(list, readIdentities(all[token])...)
	}
	return list
}

// ReadCausersByInstance reads who has added or revised which instances; nil: nobody. The token "" means all instances.
func ReadCausersByInstance(source jsonval.Object) (byToken map[string][]Identity) {
	for token, people := range jsonval.Sorted(jsonval.AsObject(jsonval.At(source, "meta", causersKey))) {
		if byToken == nil {
			byToken = map[string][]Identity{}
		}
		byToken[token] = readIdentities(people)
	}
	return byToken
}

// ReadAllCausers reads who has added or revised any instance.
func ReadAllCausers(source jsonval.Object) (list []Identity) {
	for _, people := range jsonval.Sorted(ReadCausersByInstance(source)) {
		for _, who := range people {
			if !isRecorded(list, who) {
				list = append(list, who)
			}
		}
	}
	return list
}

// allInstances is the token for every instance, future ones included. It is also the token of the only instance.
const allInstances = ""

// WithCauser returns an Idea's source that names somebody who has added or revised these instances; the token "" means
// all instances.
func WithCauser(source jsonval.Object, who Identity, tokens ...string) jsonval.Object {
	all := maps.Clone(jsonval.AsObject(jsonval.At(source, "meta", causersKey)))
	if all == nil {
		all = jsonval.Object{}
	}
	for _, token := range tokens {
		if list := readIdentities(all[token]); !isRecorded(list, who) {
			all[token] = jsonval.ToJSONValue(append(list, who))
		}
	}
	return withMeta(source, causersKey, all)
}

// ReadPriorDecisions reads the decisions in the processes that this one was forked from.
func ReadPriorDecisions(source jsonval.Object) (list []PriorDecision) {
	_ = jsonval.ReadAs(jsonval.At(source, "meta", earlierKey), &list) // malformed entries: as far as they can be read
	return list
}

// WithPriorDecisions returns an Idea's source with these decisions added.
func WithPriorDecisions(source jsonval.Object, made []PriorDecision) jsonval.Object {
	if len(made) == 0 {
		return source
	}
	return withMeta(source, earlierKey, append(ReadPriorDecisions(source), made...))
}

func withMeta(source jsonval.Object, key string, v any) jsonval.Object {
	meta := jsonval.WithKey(jsonval.AsObject(source["meta"]), key, jsonval.ToJSONValue(v))
	return jsonval.WithKey(source, "meta", meta)
}
