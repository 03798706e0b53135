package bulk

import (
	"fmt"
	"slices"

	"processidea/client"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
)

// Selection selects the waiting Calls that match all its fields.
type Selection struct {
	Tool string
	// ParamsSchema is a JSON Schema over the parameters, as they would run, as a JSON value; nil: any parameters.
	ParamsSchema any
	// CallIDs are ids, in either spelling; 1.2 without an instance selects that Call in all instances. Empty: all
	// Calls.
	CallIDs []string
}

// Select returns the selected approvals, in their order. The error, which wraps client.ErrInvalid, says that the schema
// is invalid, or that a Call does not wait.
func (s Selection) Select(approvals []client.Approval) (selected []client.Approval, err error) {
	schema, err := jsonschema.CompileSchema(s.ParamsSchema)
	if s.ParamsSchema == nil {
		schema, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: where: %w", client.ErrInvalid, err)
	}
	for _, callID := range s.CallIDs {
		if !slices.ContainsFunc(approvals, func(a client.Approval) bool { return matchesID(callID, a.CallID) }) {
			return nil, fmt.Errorf("%w: %w", client.ErrInvalid,
				approval.UnknownCallError(callID, nil, pendingCallsOf(approvals)))
		}
	}
	for _, a := range approvals {
		matchesCall := len(s.CallIDs) == 0 ||
			slices.ContainsFunc(s.CallIDs, func(callID string) bool { return matchesID(callID, a.CallID) })
		if !matchesCall || s.Tool != "" && a.Tool != s.Tool {
			continue
		}
		if fits, err := schema.Matches(a.Params); err != nil {
			return nil, fmt.Errorf("%w: where, on %s: %w", client.ErrInvalid, a.CallID, err)
		} else if fits {
			selected = append(selected, a)
		}
	}
	return selected, nil
}

// matchesID reports whether a typed id names a Call.
func matchesID(typedID, callID string) bool {
	if ideafile.MatchesCallID(typedID, callID) {
		return true
	}
	key, isID := ideafile.ParseCallKey(callID)
	return isID && key.ID("") == typedID
}

func pendingCallsOf(approvals []client.Approval) (pending []approval.PendingCall) {
	for _, a := range approvals {
		pending = append(pending, a.PendingCall)
	}
	return pending
}

// DecisionForEach copies one decision for many Calls, each with the digest of what was shown.
func DecisionForEach(approvals []client.Approval, d client.Decision) []client.Decision {
	decisions := make([]client.Decision, len(approvals))
	for n, a := range approvals {
		d.CallID, d.ApprovalDigest = a.CallID, a.Digest
		decisions[n] = d
	}
	return decisions
}
