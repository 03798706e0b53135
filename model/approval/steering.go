package approval

import (
	"fmt"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// The signals by which people steer a process.
const (
	SteerPause        = "pause"
	SteerResume       = "resume"
	SteerRevise       = "revise"
	SteerAddInstances = "add"
	SteerUndo         = "undo"
	// SteerDecideMany carries many decisions at once (ReadDecisionBatch).
	SteerDecideMany = "decide"
	// SteerGiveStandingOrder gives a standing order (ReadStandingOrder), SteerEndStandingOrder ends one.
	SteerGiveStandingOrder = "allow"
	SteerEndStandingOrder  = "disallow"
	// SteerDeputy names a deputy for a time (ReadDeputyOrder). The process keeps it as an order, and sends it to each
	// waiting Call as a remark.
	SteerDeputy = "deputy"
)

// SteeringPayload is the payload of a signal that steers.
type SteeringPayload struct {
	ID     string
	SentBy string `json:"By"` // the key of processes that run
	Reason string
	policy.Account
	// Limits are the limits of resume and revise; 0 keeps the old limit.
	Limits ideafile.Limits
	// Context is the messages of revise and add, as written.
	Context []any
	// Undo says what undo undoes.
	Undo UndoOrder
}

// UndoOrder says what to undo, by whom and why: the Call CallID with all that read from it, or only CallIDs, or
// everything in Instance; without any of these, everything. RequiresReview has a person review each Call that undoes
// another.
type UndoOrder struct {
	CallID         string   `json:"call,omitempty"`
	CallIDs        []string `json:"calls,omitempty"`
	InstanceToken  *string  `json:"instance,omitempty"`
	ID             string   `json:"id,omitempty"`
	RequestedBy    string   `json:"by,omitempty"`
	Reason         string   `json:"reason,omitempty"`
	RequiresReview bool     `json:"review,omitempty"`
}

// TargetInstance returns the instance that the order names, as it was spelled; isNamed is false if it names none.
func (o UndoOrder) TargetInstance() (token string, isNamed bool) {
	if o.InstanceToken != nil {
		return *o.InstanceToken, true
	}
	return ideafile.InstanceTokenOfCallID(o.CallID), o.CallID != ""
}

// Identity is the sender of the signal.
func (s SteeringPayload) Identity() policy.Identity {
	return policy.Identity{Name: s.SentBy, Account: s.Account}
}

// ReadSteering reads the payload of a steering signal: id, by and reason; limits for resume; context for add; both for
// revise; what to undo for undo.
func ReadSteering(kind string, m jsonval.Object) (s SteeringPayload, err error) {
	allowedKeys := map[string][]string{SteerResume: {"limits"}, SteerRevise: {"limits", "context"},
		SteerAddInstances: {"context"},
		SteerUndo:         {"call", "calls", "instance", ideafile.UndoReviewKey}}[kind]
	if err := readTextFields(m, commonTextTargets(&s.ID, &s.SentBy, &s.Reason, &s.Account), nil,
		allowedKeys...); err != nil {
		return s, err
	}
	var ps diag.Problems
	s.Limits = ideafile.ReadLimits(diag.ReadObject(m, "limits", "$", &ps), "$.limits", &ps)
	if c, ok := m["context"]; ok {
		s.Context, ok = c.([]any)
		if !ok {
			ps.Add("$.context", "want a list of messages, not %s", jsonval.TypeOf(c))
		}
	}
	s.Undo = readUndo(m, &ps)
	s.Undo.ID, s.Undo.RequestedBy, s.Undo.Reason = s.ID, s.SentBy, s.Reason
	for n, raw := range s.Context {
		if ideafile.IsMessageMarkedSimulated(raw) {
			ps.Add(fmt.Sprintf("$.context[%d]", n), "it is marked as simulated: nothing in it is real")
		}
	}
	ps.Append(ideafile.CheckNewUndoesKeys(jsonval.Object{"context": s.Context}, nil)...)
	switch {
	case len(ps) > 0:
		return s, ps
	case kind == SteerAddInstances && len(s.Context) == 0, kind == SteerRevise && len(s.Context) == 0 &&
		s.Limits == ideafile.Limits{}:
		return s, fmt.Errorf("it says nothing: %q is missing", "context")
	}
	return s, nil
}

func readUndo(m jsonval.Object, ps *diag.Problems) (o UndoOrder) {
	var hasRightType, isList, isToken bool
	var token string
	if o.CallID, hasRightType = m["call"].(string); m["call"] != nil && !hasRightType {
		ps.Add("$.call", "want the id of a Call, not %s", jsonval.TypeOf(m["call"]))
	}
	if o.CallIDs, isList = jsonval.AsStringList(m["calls"]); m["calls"] != nil && !isList {
		ps.Add("$.calls", "want a list of the ids of Calls, not %s", jsonval.TypeOf(m["calls"]))
	}
	if token, isToken = m["instance"].(string); isToken {
		o.InstanceToken = &token
	} else if m["instance"] != nil {
		ps.Add("$.instance", "want the token of an instance, not %s", jsonval.TypeOf(m["instance"]))
	}
	review := m[ideafile.UndoReviewKey]
	if o.RequiresReview, hasRightType = review.(bool); review != nil && !hasRightType {
		ps.Add("$."+ideafile.UndoReviewKey, "want true or false, not %s", jsonval.TypeOf(review))
	}
	return o
}
