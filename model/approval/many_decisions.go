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
	// MaxDecisionsBytes is counted as JSON: a Temporal server takes no larger payload from a client without a store.
	MaxDecisionsBytes = 2 << 20
)

const (
	decisionKindKey = "decision"
	decisionsKey    = "decisions"
	signalIDKey     = "id"
)

// DecisionBatch is the payload of SteerDecideMany.
type DecisionBatch struct {
	// ID, DecidedBy and Reason are the signal's own.
	ID, DecidedBy, Reason string
	Decisions             []BatchDecision
	sharedPayload         jsonval.Object // the keys of the signal that apply to each decision without its own
}

// BatchDecision is one of many decisions, in the form of a signal of its own.
type BatchDecision struct {
	Decision
	// Payload is the payload of that signal. The signal's name is Kind.
	Payload jsonval.Object
	// ReadErr is the error in the decision's form; nil: none.
	ReadErr    error
	ownPayload jsonval.Object
}

// ReadDecisionBatch reads the payload of SteerDecideMany: decisions, each with the keys of its own signal
// (ReadDecision) and decision, its kind. The keys by, groups, reason and proof apply to every decision without its own.
// The nth decision without an id gets the id of the signal and its number: x/1. An error concerns the whole signal; a
// fault of one decision is in its Invalid.
func ReadDecisionBatch(m jsonval.Object) (batch DecisionBatch, err error) {
	textTargets := commonTextTargets(&batch.ID, &batch.DecidedBy, &batch.Reason, new(policy.Account))
	textTargets["proof"] = new(string)
	err = readTextFields(m, textTargets, new([]string), decisionsKey)
	list, isList := m[decisionsKey].([]any)
	switch {
	case err != nil:
		return batch, err
	case !isList && m[decisionsKey] != nil:
		return batch, fmt.Errorf("%q is a list, not %s", decisionsKey, jsonval.TypeOf(m[decisionsKey]))
	case len(list) == 0:
		return batch, fmt.Errorf("it decides nothing: %q is missing", decisionsKey)
	case len(list) > MaxDecisionsPerSignal:
		return batch, fmt.Errorf("%d decisions are too many for one signal, which takes %d: send them in several",
			len(list), MaxDecisionsPerSignal)
	case jsonval.SizeUpToLimit(m, MaxDecisionsBytes) > MaxDecisionsBytes:
		return batch, errors.New("the decisions are larger than 2 MB together: send them in several signals")
	}
	batch.sharedPayload = jsonval.Object{}
	for _, key := range sharedDecisionKeys {
		if v := m[key]; v != nil && v != "" {
			batch.sharedPayload[key] = v
		}
	}
	for n, raw := range list {
		batch.Decisions = append(batch.Decisions, batch.readDecision(n, raw))
	}
	return batch, nil
}

// sharedDecisionKeys are the keys of the signal that apply to every decision without its own. A null in them counts as
// absent.
var sharedDecisionKeys = []string{"by", issuerKey, subjectKey, "groups", "reason", "proof"}

func (batch *DecisionBatch) readDecision(n int, raw any) (decision BatchDecision) {
	object, isObject := raw.(jsonval.Object)
	if !isObject {
		decision.Kind, decision.Payload = SteerDecideMany, jsonval.Object{}
		decision.ReadErr = fmt.Errorf("decisions[%d] is an object, not %s", n, jsonval.TypeOf(raw))
		return decision
	}
	decision.ownPayload = jsonval.Object{}
	for k, v := range jsonval.Sorted(object) {
		if v != nil || k != signalIDKey && !slices.Contains(sharedDecisionKeys, k) {
			decision.ownPayload[k] = v
		}
	}
	if jsonval.AsText(object[signalIDKey]) == "" && batch.ID != "" {
		decision.ownPayload[signalIDKey] = fmt.Sprintf("%s/%d", batch.ID, n+1)
	}
	decision.Payload = maps.Clone(batch.sharedPayload)
	if decision.ownPayload["by"] != nil { // the signal's account is its sender's, not that of another author
		delete(decision.Payload, issuerKey)
		delete(decision.Payload, subjectKey)
	}
	maps.Copy(decision.Payload, decision.ownPayload)
	kind := jsonval.AsText(decision.Payload[decisionKindKey])
	delete(decision.Payload, decisionKindKey)
	if !slices.Contains(policy.DecisionKinds(), kind) && !IsRemark(kind) {
		decision.Kind = SteerDecideMany
		decision.ReadErr = fmt.Errorf("decisions[%d]: %q is one of %s", n, decisionKindKey,
			strings.Join(policy.DecisionKinds(), ", "))
		return decision
	}
	decision.Decision, decision.ReadErr = ReadDecision(kind, decision.Payload)
	if decision.ReadErr != nil {
		decision.ReadErr = fmt.Errorf("decisions[%d]: %w", n, decision.ReadErr)
	}
	return decision
}

// PayloadToForward is the payload of a signal that passes some of the decisions on, under an id of its own.
func (batch DecisionBatch) PayloadToForward(signalID string, selected []BatchDecision) jsonval.Object {
	list := jsonval.Map(selected, func(decision BatchDecision) any { return decision.ownPayload })
	payload := maps.Clone(batch.sharedPayload)
	payload[signalIDKey], payload[decisionsKey] = signalID, list
	return payload
}
