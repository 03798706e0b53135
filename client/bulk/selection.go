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
	// CallIDs are ids, in either spelling; 1.2 without an instance selects that Call in all instances. Empty: all Calls.
	CallIDs []string
}

// Select returns the selected approvals, in their order. The error, which wraps client.ErrInvalid, says that the schema
// is invalid, or that a Call does not wait.
func (s Selection) Select(list []client.Approval) (selected []client.Approval, err error) {
	schema, err := jsonschema.CompileSchema(s.ParamsSchema)
	if s.ParamsSchema == nil {
		schema, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: where: %w", client.ErrInvalid, err)
	}
	for _, call := range s.CallIDs {
		if !slices.ContainsFunc(list, func(a client.Approval) bool { return matchesID(call, a.CallID) }) {
			return nil, fmt.Errorf("%w: %w", client.ErrInvalid, approval.UnknownCallError(call, nil, pendingOf(list)))
		}
	}
	for _, a := range list {
		matchesCall := len(s.CallIDs) == 0 ||
			slices.ContainsFunc(s.CallIDs, func(call string) bool { return matchesID(call, a.CallID) })
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
func matchesID(typedID, id string) bool {
	if ideafile.MatchesCallID(typedID, id) {
		return true
	}
	key, isID := ideafile.ParseCallKey(id)
	return isID && key.ID("") == typedID
}

func pendingOf(list []client.Approval) (pending []approval.Pending) {
	for _, a := range list {
		pending = append(pending, a.Pending)
	}
	return pending
}

// Decisions copies one decision for many Calls, each with the digest of what was shown.
func Decisions(list []client.Approval, d client.Decision) []client.Decision {
	out := make([]client.Decision, len(list))
	for n, a := range list {
		d.Call, d.Digest = a.CallID, a.Digest
		out[n] = d
	}
	return out
}
