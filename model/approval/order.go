package approval

import (
	"fmt"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// StandingOrder is a permission that a person gives beforehand: Calls of Tool that fit ParamsCondition are approved
// under it, or the deputy DeputyName decides in the person's place.
type StandingOrder struct {
	ID   string `json:"id"`
	Tool string `json:"tool,omitempty"`
	// DeputyName names a deputy, who may decide from From until Until; empty: the order is for the Calls of Tool.
	DeputyName string    `json:"to,omitempty"`
	From       time.Time `json:"from,omitzero"`
	// ParamsCondition is a JSON Schema that a Call's parameters fit; nil: any do.
	ParamsCondition jsonval.Object `json:"when,omitempty"`
	// MaxCalls is how many Calls the order approves at most; 0: no limit. Until is when the order ends; zero: no limit.
	MaxCalls int       `json:"count,omitempty"`
	Until    time.Time `json:"until,omitzero"`
	GivenBy  string    `json:"by,omitempty"`
	policy.Account
	Groups []string `json:"groups,omitempty"`
	Reason string   `json:"reason,omitempty"`
	// Proof is the signature that came with the order.
	Proof string `json:"proof,omitempty"`
}

// MaxCallsPerOrder is how many Calls one order may approve.
const MaxCallsPerOrder = 100_000

const (
	maxStandingOrderIDLength = 100
	maxConditionBytes        = 16 << 10
	orderKey                 = "order"
	actIDKey                 = "act"
)

// ReadStandingOrder reads the payload of SteerGiveStandingOrder: id, tool, when, count, until, by, groups, reason and
// proof; and act, the id of the signal itself, which is no part of the order.
func ReadStandingOrder(m jsonval.Object) (o StandingOrder, err error) {
	untilText := ""
	textTargets := orderTextTargets(&o, &untilText)
	textTargets["tool"] = &o.Tool
	if err := readTextFields(m, textTargets, &o.Groups, "when", "count"); err != nil {
		return o, err
	}
	if o.Until, err = readTime("until", untilText); err != nil {
		return o, err
	}
	if v := m["count"]; v != nil {
		if o.MaxCalls, err = jsonval.ReadCount(v, MaxCallsPerOrder); err != nil {
			return o, fmt.Errorf(`"count", the number of Calls: %w`, err)
		}
	}
	switch err := o.checkID(); {
	case err != nil:
		return o, err
	case o.Tool == "":
		return o, fmt.Errorf(`it names no Tool: "tool" is missing`)
	case o.MaxCalls == 0 && o.Until.IsZero():
		return o, fmt.Errorf(`it would never end: it wants "count" or "until"`)
	}
	return o, o.readParamsCondition(m["when"])
}

func (o *StandingOrder) checkID() error {
	switch {
	case o.ID == "":
		return fmt.Errorf(`it has no name: "id" is missing`)
	case len(o.ID) > maxStandingOrderIDLength:
		return fmt.Errorf(`"id" is longer than %d characters`, maxStandingOrderIDLength)
	}
	if err := policy.CheckGroupName(o.ID); err != nil { // people name the order by the id that they see, to end it
		return fmt.Errorf(`"id": %w`, err)
	}
	return nil
}

// orderTextTargets returns, for each key with a text that every order may have, the variable that takes the text.
func orderTextTargets(o *StandingOrder, untilText *string) map[string]*string {
	textTargets := commonTextTargets(&o.ID, &o.GivenBy, &o.Reason, &o.Account)
	textTargets["until"], textTargets["proof"], textTargets[actIDKey] = untilText, &o.Proof, new(string)
	return textTargets
}

// readTime reads a time, in UTC, so that it is signed, kept and shown alike; zero for "".
func readTime(key, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return parsed, fmt.Errorf("%q is a time such as 2026-12-01T18:00:00Z, not %q", key, text)
	}
	return parsed.UTC(), nil
}

func (o *StandingOrder) readParamsCondition(v any) error {
	if v == nil {
		return nil
	}
	condition, isObject := v.(jsonval.Object)
	switch {
	case !isObject:
		return fmt.Errorf(`"when" is a JSON Schema, an object, not %s`, jsonval.TypeOf(v))
	case jsonval.SizeUpToLimit(condition, maxConditionBytes) > maxConditionBytes:
		return fmt.Errorf(`"when" is larger than %d KB`, maxConditionBytes>>10)
	}
	if _, err := jsonschema.CompileSchema(condition); err != nil {
		return fmt.Errorf("when: %w", err)
	}
	o.ParamsCondition = condition
	return nil
}

// ConditionParamNames lists the parameters that the condition names.
func (o StandingOrder) ConditionParamNames() []string {
	return jsonval.SortedKeys(jsonval.AsObject(o.ParamsCondition["properties"]))
}

// NotCoveredReason returns why the order does not approve a waiting Call at a time; "" if it does. It does not check
// who may give the order.
func (o StandingOrder) NotCoveredReason(p PendingCall, now time.Time) string {
	switch {
	case p.Tool != o.Tool:
		return "it is for " + o.Tool
	case !o.Until.IsZero() && !now.Before(o.Until):
		return "it held until " + o.Until.UTC().Format(time.RFC3339)
	case p.ReviewReason != "":
		return "a person must look at the Call: " + p.ReviewReason
	case p.TimesAsked > 0:
		return "the Call is not the one that was planned: people have decided on it before"
	case jsonval.ContainsBlobHandle(p.Params):
		return "the Call has a value over 64 KB"
	}
	if name := findAbsentProperty(o.ParamsCondition, p.Params); name != "" {
		return "the Call has no " + name
	}
	schema, err := jsonschema.CompileSchema(o.ParamsCondition)
	if err == nil && o.ParamsCondition != nil {
		err = schema.Validate(jsonval.ToJSONValue(p.Params))
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// findAbsentProperty returns a property that a schema names, at any depth of properties, and that a value lacks; "" if
// it lacks none. JSON Schema accepts an absent property, but an order up to an amount must not cover a Call without an
// amount.
func findAbsentProperty(schema jsonval.Object, value any) string {
	properties := jsonval.AsObject(schema["properties"])
	for name, v := range jsonval.Sorted(properties) {
		inner, exists := jsonval.AsObject(value)[name]
		if !exists {
			return name
		}
		if nested := findAbsentProperty(jsonval.AsObject(v), inner); nested != "" {
			return name + "." + nested
		}
	}
	return ""
}

// CheckStandingOrderCovers returns why a decision under a standing order is invalid for a waiting Call, given the
// earlier decisions on it: an order never covers what a person has changed.
func (d Decision) CheckStandingOrderCovers(p PendingCall, priorDecisions []Decision, now time.Time) error {
	if d.Order == nil {
		return nil
	}
	reason := d.Order.NotCoveredReason(p, now)
	for _, prior := range priorDecisions {
		if prior.Kind == policy.Amend || prior.Kind == policy.Replace {
			reason = "a person has changed the Call"
		}
	}
	if reason != "" {
		return fmt.Errorf("the standing order %s does not cover it: %s", d.Order.ID, reason)
	}
	return nil
}

// ApprovalPayload is the payload of the signal that approves a Call under the order.
func (o StandingOrder) ApprovalPayload(p PendingCall) jsonval.Object {
	return jsonval.Object{"call": p.CallID, "digest": p.Digest, signalIDKey: o.SignalID(),
		orderKey: jsonval.ToJSONValue(o)}
}

// StandingOrderIDInPayload returns the id of the order under which the payload of a signal approves a Call; "" if it
// names no order.
func StandingOrderIDInPayload(payload jsonval.Object) string {
	return jsonval.Clip(jsonval.AsText(jsonval.AsObject(payload[orderKey])[signalIDKey]), maxStandingOrderIDLength)
}

// SignalID is the id of the signals that approve Calls under the order.
func (o StandingOrder) SignalID() string { return orderKey + ":" + o.ID }

// IsOrderSignal reports whether a signal gives an order. The order's id is not the signal's id.
func IsOrderSignal(signal string) bool {
	return signal == SteerGiveStandingOrder || signal == SteerDeputy
}

// GivingSignalName is the signal that gives the order.
func (o StandingOrder) GivingSignalName() string {
	if o.DeputyName != "" {
		return SteerDeputy
	}
	return SteerGiveStandingOrder
}

// DecisionToProve is what a proof of the order must contain: the order's id as call, its Digest as digest, and its
// Signal as decision.
func (o StandingOrder) DecisionToProve(processID string) proof.ExpectedDecision {
	return proof.ExpectedDecision{
		ProcessID: processID, CallIDs: []string{o.ID}, ApprovalDigest: o.Digest(), Kind: o.GivingSignalName(),
		DetailsDigest: proof.DetailsDigest(jsonval.Object{"reason": o.Reason}),
	}
}

// Digest is the SHA-256, in hex, of the canonical JSON of the order's id, tool, when, count, to, from and until,
// without absent keys; times are in UTC.
func (o StandingOrder) Digest() string {
	return proof.Digest(StandingOrder{ID: o.ID, Tool: o.Tool, ParamsCondition: o.ParamsCondition, MaxCalls: o.MaxCalls,
		DeputyName: o.DeputyName,
		From:       o.From.UTC(), Until: o.Until.UTC()})
}

// VerifiedGiver returns who gave the order: the proven person, or else the claimed one. The error says why the proof
// does not count. verification is the result of the proof's verification.
func (o StandingOrder) VerifiedGiver(verification *proof.Verification, now time.Time) (policy.Person, error) {
	d := Decision{Kind: o.GivingSignalName(), Order: &o, DecidedBy: o.GivenBy, Account: o.Account, Groups: o.Groups,
		Reason: o.Reason, Proof: o.Proof, Verification: verification}
	d, err := d.VerifyProof(PendingCall{}, nil, now)
	return d.Decider(), err
}

// readOrder reads the order under which a decision is taken, or that names a deputy to a Call. The decision counts as
// the act of the order's giver.
func (d *Decision) readOrder(v any) error {
	m, ok := v.(jsonval.Object)
	switch {
	case d.Kind != policy.Approve && d.Kind != SteerDeputy:
		return fmt.Errorf("only an approval can be given under a standing order")
	case !ok:
		return fmt.Errorf("%q is an object, not %s", orderKey, jsonval.TypeOf(v))
	case d.DecidedBy != "" || len(d.Groups) > 0 || d.Reason != "" || d.Proof != "":
		return fmt.Errorf("an approval under an order names only the order: it may have no other keys")
	}
	readFunc := ReadStandingOrder
	if d.Kind == SteerDeputy {
		readFunc = ReadDeputyOrder
	}
	o, err := readFunc(m)
	if err != nil {
		return fmt.Errorf("%s: %w", orderKey, err)
	}
	d.Order, d.StandingOrderID, d.RecipientName = &o, o.ID, o.DeputyName
	d.DecidedBy, d.Account, d.Groups, d.Reason, d.Proof = o.GivenBy, o.Account, o.Groups, o.Reason, o.Proof
	return nil
}

// ReadStandingOrderEnd reads the payload of SteerEndStandingOrder: order, the id of the order that ends (or id in its
// place), by and reason.
func ReadStandingOrderEnd(m jsonval.Object) (standingOrderID string, s SteeringPayload, err error) {
	textTargets := commonTextTargets(&s.ID, &s.SentBy, &s.Reason, &s.Account)
	textTargets[orderKey] = &standingOrderID
	err = readTextFields(m, textTargets, nil)
	if standingOrderID == "" {
		standingOrderID = s.ID
	}
	if err == nil && standingOrderID == "" {
		err = fmt.Errorf("it names no order: %q is missing", orderKey)
	}
	return standingOrderID, s, err
}
