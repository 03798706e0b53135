package approval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/jsonval"
)

// Limits of one signal with many decisions.
const (
	MaxDecisionsPerSignal = 1000
	// MaxBytesOfDecisions is counted as JSON: a Temporal server takes no larger payload from a client without a store.
	MaxBytesOfDecisions = 2 << 20
)

const (
	decisionKindKey = "decision"
	decisionsKey    = "decisions"
	signalIDKey     = "id"
)

// ManyDecisions is the payload of SteerDecide.
type ManyDecisions struct {
	// ID, By and Reason are the signal's own.
	ID, By, Reason string
	List           []OneOfMany
	common         jsonval.Object // the keys of the signal that apply to each decision without its own
}

// OneOfMany is one of many decisions, in the form of a signal of its own.
type OneOfMany struct {
	Decision
	// Payload is the payload of that signal. The signal's name is Kind.
	Payload jsonval.Object
	// Invalid is the error in the decision's form; nil: none.
	Invalid error
	written jsonval.Object
}

// ReadDecisions reads the payload of SteerDecide: decisions, each with the keys of its own signal (ReadDecision) and
// decision, its kind. The keys by, groups, reason and proof apply to every decision without its own. The nth decision
// without an id gets the id of the signal and its number: x/1. An error concerns the whole signal; a fault of one
// decision is in its Invalid.
func ReadDecisions(m jsonval.Object) (many ManyDecisions, err error) {
	texts := actTexts(&many.ID, &many.By, &many.Reason, new(policy.Account))
	texts["proof"] = new(string)
	err = readTexts(m, texts, new([]string), decisionsKey)
	list, isList := m[decisionsKey].([]any)
	switch {
	case err != nil:
		return many, err
	case !isList && m[decisionsKey] != nil:
		return many, fmt.Errorf("%q is a list, not %s", decisionsKey, jsonval.TypeOf(m[decisionsKey]))
	case len(list) == 0:
		return many, fmt.Errorf("it decides nothing: %q is missing", decisionsKey)
	case len(list) > MaxDecisionsPerSignal:
		return many, fmt.Errorf("%d decisions are too many for one signal, which takes %d: send them in several",
			len(list), MaxDecisionsPerSignal)
	case jsonval.SizeUpToLimit(m, MaxBytesOfDecisions) > MaxBytesOfDecisions:
		return many, errors.New("the decisions are larger than 2 MB together: send them in several signals")
	}
	many.common = jsonval.Object{}
	for _, key := range sharedDecisionKeys {
		if v := m[key]; v != nil && v != "" {
			many.common[key] = v
		}
	}
	for n, raw := range list {
		many.List = append(many.List, many.read(n, raw))
	}
	return many, nil
}

// sharedDecisionKeys are the keys of the signal that apply to every decision without its own. A null in them counts as
// absent.
var sharedDecisionKeys = []string{"by", issuerKey, subjectKey, "groups", "reason", "proof"}

func (many *ManyDecisions) read(n int, raw any) (one OneOfMany) {
	object, isObject := raw.(jsonval.Object)
	if !isObject {
		one.Kind, one.Payload = SteerDecide, jsonval.Object{}
		one.Invalid = fmt.Errorf("decisions[%d] is an object, not %s", n, jsonval.TypeOf(raw))
		return one
	}
	one.written = jsonval.Object{}
	for k, v := range jsonval.Sorted(object) {
		if v != nil || k != signalIDKey && !slices.Contains(sharedDecisionKeys, k) {
			one.written[k] = v
		}
	}
	if jsonval.AsText(object[signalIDKey]) == "" && many.ID != "" {
		one.written[signalIDKey] = fmt.Sprintf("%s/%d", many.ID, n+1)
	}
	one.Payload = maps.Clone(many.common)
	if one.written["by"] != nil { // the signal's account is its sender's, not that of another author
		delete(one.Payload, issuerKey)
		delete(one.Payload, subjectKey)
	}
	maps.Copy(one.Payload, one.written)
	kind := jsonval.AsText(one.Payload[decisionKindKey])
	delete(one.Payload, decisionKindKey)
	if !slices.Contains(policy.AllKinds(), kind) && !IsRemark(kind) {
		one.Kind = SteerDecide
		one.Invalid = fmt.Errorf("decisions[%d]: %q is one of %s", n, decisionKindKey,
			strings.Join(policy.AllKinds(), ", "))
		return one
	}
	one.Decision, one.Invalid = ReadDecision(kind, one.Payload)
	if one.Invalid != nil {
		one.Invalid = fmt.Errorf("decisions[%d]: %w", n, one.Invalid)
	}
	return one
}

// PassedOnPayload is the payload of a signal that passes some of the decisions on, under an id of its own.
func (many ManyDecisions) PassedOnPayload(id string, some []OneOfMany) jsonval.Object {
	list := jsonval.Map(some, func(one OneOfMany) any { return one.written })
	payload := maps.Clone(many.common)
	payload[signalIDKey], payload[decisionsKey] = id, list
	return payload
}
