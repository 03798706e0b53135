package policy

import (
	"maps"
	"slices"

	"processidea/model/jsonval"
)

// Keys of an Idea's meta: who started the process and its ancestors by forks; who else caused what its instances do;
// and the decisions on Calls in the ancestors.
const (
	startersMetaKey            = "startedBy"
	causersMetaKey             = "causedBy"
	decisionsBeforeForkMetaKey = "decided"
)

// ChainMetaKeys lists the keys of an Idea's meta that belong to the chain. A fork cannot set them.
func ChainMetaKeys() []string {
	return []string{startersMetaKey, causersMetaKey, decisionsBeforeForkMetaKey}
}

// PriorDecision is who decided on a Call in a process that this one was forked from.
type PriorDecision struct {
	CallID    string `json:"call"`
	Tool      string `json:"tool,omitempty"`
	DecidedBy string `json:"by"`
	// Account is the person's account, if the proof has one; zero: unknown.
	Account
	// Proof is the proof of a signed decision; empty: the decision was declared.
	Proof string `json:"proof,omitempty"`
}

// ReadStarters reads, from an Idea's source, who started the process and the processes that it was forked from.
func ReadStarters(source jsonval.Object) []Identity {
	return readIdentities(jsonval.Lookup(source, "meta", startersMetaKey))
}

// WithStarters returns an Idea's source that names these people too.
func WithStarters(source jsonval.Object, starters []Identity) jsonval.Object {
	allStarters := ReadStarters(source)
	oldCount := len(allStarters)
	for _, person := range starters {
		if !containsSameAccount(allStarters, person) {
			allStarters = append(slices.Clip(allStarters), person)
		}
	}
	if len(allStarters) == oldCount {
		return source
	}
	return withMeta(source, startersMetaKey, allStarters)
}

// ReadCausers reads who has added or revised an instance, or amended its Plan, since the process started. An empty name
// is a person who did not give one.
func ReadCausers(source jsonval.Object, instanceToken string) []Identity {
	identitiesByInstance := jsonval.AsObject(jsonval.Lookup(source, "meta", causersMetaKey))
	list := readIdentities(identitiesByInstance[allInstancesToken])
	if instanceToken != allInstancesToken {
		list = append(list, readIdentities(identitiesByInstance[instanceToken])...)
	}
	return list
}

// ReadCausersByInstance reads who has added or revised which instances; nil: nobody. The token "" means all instances.
func ReadCausersByInstance(source jsonval.Object) (causersByInstance map[string][]Identity) {
	for token, people := range jsonval.Sorted(jsonval.AsObject(jsonval.Lookup(source, "meta", causersMetaKey))) {
		if causersByInstance == nil {
			causersByInstance = map[string][]Identity{}
		}
		causersByInstance[token] = readIdentities(people)
	}
	return causersByInstance
}

// ReadAllCausers reads who has added or revised any instance.
func ReadAllCausers(source jsonval.Object) (list []Identity) {
	for _, people := range jsonval.Sorted(ReadCausersByInstance(source)) {
		for _, person := range people {
			if !containsSameAccount(list, person) {
				list = append(list, person)
			}
		}
	}
	return list
}

// allInstancesToken is the token for every instance, future ones included. It is also the token of the only instance.
const allInstancesToken = ""

// WithCauser returns an Idea's source that names somebody who has added or revised these instances; the token "" means
// all instances.
func WithCauser(source jsonval.Object, person Identity, instanceTokens ...string) jsonval.Object {
	causersByInstance := maps.Clone(jsonval.AsObject(jsonval.Lookup(source, "meta", causersMetaKey)))
	if causersByInstance == nil {
		causersByInstance = jsonval.Object{}
	}
	for _, token := range instanceTokens {
		if list := readIdentities(causersByInstance[token]); !containsSameAccount(list, person) {
			causersByInstance[token] = jsonval.ToJSONValue(append(list, person))
		}
	}
	return withMeta(source, causersMetaKey, causersByInstance)
}

// ReadDecisionsBeforeFork reads the decisions in the processes that this one was forked from.
func ReadDecisionsBeforeFork(source jsonval.Object) (list []PriorDecision) {
	// malformed entries: as far as they can be read
	_ = jsonval.ReadAs(jsonval.Lookup(source, "meta", decisionsBeforeForkMetaKey), &list)
	return list
}

// WithDecisionsBeforeFork returns an Idea's source with these decisions added.
func WithDecisionsBeforeFork(source jsonval.Object, decisions []PriorDecision) jsonval.Object {
	if len(decisions) == 0 {
		return source
	}
	return withMeta(source, decisionsBeforeForkMetaKey, append(ReadDecisionsBeforeFork(source), decisions...))
}

func withMeta(source jsonval.Object, key string, v any) jsonval.Object {
	meta := jsonval.WithKey(jsonval.AsObject(source["meta"]), key, jsonval.ToJSONValue(v))
	return jsonval.WithKey(source, "meta", meta)
}
