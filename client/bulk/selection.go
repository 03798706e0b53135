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
	// Where is a JSON Schema over the parameters, as they would run, as a JSON value; nil: any parameters.
	Where any
	// Calls are ids, in either spelling; 1.2 without an instance selects that Call in all instances. Empty: all Calls.
	Calls []string
}

// Of returns the selected approvals, in their order. The error, which wraps client.ErrInvalid, says that the schema is
// invalid, or that a Call does not wait.
func (s Selection) Of(list []client.Approval) (meant []client.Approval, err error) {
	schema, err := jsonschema.CompileSchema(s.Where)
	if s.Where == nil {
		schema, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: where: %w", client.ErrInvalid, err)
	}
	for _, call := range s.Calls {
		if !slices.ContainsFunc(list, func(a client.Approval) bool { return matchesID(call, a.CallID) }) {
			return nil, fmt.Errorf("%w: %w", client.ErrInvalid, approval.UnknownCallError(call, nil, pendingOf(list)))
		}
	}
	for _, a := range list {
		named := len(s.Calls) == 0 ||
			slices.ContainsFunc(s.Calls, func(call string) bool { return matchesID(call, a.CallID) })
		if !named || s.Tool != "" && a.Tool != s.Tool {
			continue
		}
		if fits, err := schema.Matches(a.Params); err != nil {
			return nil, fmt.Errorf("%w: where, on %s: %w", client.ErrInvalid, a.CallID, err)
		} else if fits {
			meant = append(meant, a)
		}
	}
	return meant, nil
}

// matchesID reports whether a typed id names a Call.
func matchesID(typed, id string) bool {
	if ideafile.IsCallID(typed, id) {
		return true
	}
	key, isID := ideafile.ParseCallKey(id)
	return isID && key.ID("") == typed
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
