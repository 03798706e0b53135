package ideafile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// The decisions that a person can take on a Call that waits for one.
const (
	Approve = "approve" // it runs as shown
	Reject  = "reject"  // it does not run
	Amend   = "amend"   // it runs with other parameters
	Replace = "replace" // another Call runs instead
	Answer  = "answer"  // the person gives its result, and nothing runs
)

var allDecisions = []string{Approve, Reject, Amend, Replace, Answer}

// Decisions lists the decisions that a person can take. Their signals have the same names.
func Decisions() []string { return allDecisions }

// onTimeoutPause pauses the process at the deadline instead of deciding.
const onTimeoutPause = "pause"

// Approval is a Tool's approval policy (`_approval`): when a person must decide on a Call before it runs, and what happens when nobody
// does.
type Approval struct {
	// When is a JSON Schema over the resolved parameters; nil: always, also for one that does not compile.
	When *jsonschema.Schema
	// Timeout is the time after which OnTimeout happens: "reject", "approve" or "pause". 0: it never does.
	Timeout   time.Duration
	OnTimeout string
	// Allow lists the decisions that a person may take.
	Allow []string
}

// readApproval reads `_approval`. It returns nil for a Tool whose Calls need no approval.
func readApproval(v any, path string, ps *diag.Problems) *Approval {
	a := &Approval{OnTimeout: Reject, Allow: allDecisions}
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		if !v {
			return nil
		}
	case map[string]any:
		a.read(v, path, ps)
	default:
		ps.Add(path, "want true, false or an object, not %s", jsonval.TypeOf(v))
	}
	return a
}

func (a *Approval) read(m map[string]any, path string, ps *diag.Problems) {
	for _, k := range jsonval.SortedKeys(m) {
		at := jsonval.JSONPathKey(path, k)
		var err error
		switch k {
		case "when":
			a.readWhen(m[k], at, ps)
		case "timeout":
			a.Timeout, err = readDuration(m[k])
		case "onTimeout":
			s, _ := m[k].(string)
			a.OnTimeout = s
			if !slices.Contains([]string{Reject, Approve, onTimeoutPause}, s) {
				err = fmt.Errorf("want reject, approve or pause")
			}
		case "allow":
			a.Allow, err = readAllow(m[k])
		default:
			err = fmt.Errorf("unknown key %q; _approval has allow, onTimeout, timeout and when", k)
		}
		if err != nil {
			ps.Add(at, "%s", err)
		}
	}
	if m["onTimeout"] != nil && m["timeout"] == nil {
		ps.Add(path+".onTimeout", "it never happens: there is no timeout")
	}
}

// readWhen compiles the condition. One that does not compile must not let every Call through: a person is asked about each, and the
// file's author is warned. A schema that refers to another document is an error, as everywhere.
func (a *Approval) readWhen(v any, path string, ps *diag.Problems) {
	s, err := jsonschema.CompileSchema(v)
	if err == nil {
		a.When = s
		return
	}
	reason := withoutPackagePrefix(err)
	if jsonschema.CheckRefs(v) != nil {
		ps.Add(path, "%s", reason)
		return
	}
	ps.Warn(path, "it cannot be evaluated, so that a person is asked about every Call: %s", reason)
}

func readAllow(v any) ([]string, error) {
	list, ok := jsonval.StringList(v)
	for _, d := range list {
		ok = ok && slices.Contains(allDecisions, d)
	}
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("want a list of %s", strings.Join(allDecisions, ", "))
	}
	return list, nil
}

// RequiredFor reports whether a person must decide on a Call with these resolved parameters. If the condition cannot be evaluated, a
// person must.
func (a *Approval) RequiredFor(params map[string]any) bool {
	if a == nil {
		return false
	}
	if a.When == nil || jsonval.HasHandle(params) {
		return true
	}
	holds, err := a.When.Matches(params)
	return holds || err != nil
}

// ApprovalOverride is what `config.approval` adds to the approval policies of the Tools.
//
// Invariant: it takes nothing away; a Call that its Tool's policy asks about is asked about.
type ApprovalOverride struct {
	All   bool     `json:"all,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

func readApprovalOverride(m map[string]any, path string, ps *diag.Problems) (o ApprovalOverride) {
	for _, k := range jsonval.SortedKeys(m) {
		ok := true
		switch k {
		case "all":
			o.All, ok = m[k].(bool)
		case "tools":
			o.Tools, ok = jsonval.StringList(m[k])
		default:
			ps.Add(jsonval.JSONPathKey(path, k), "unknown key %q; approval has all and tools", k)
		}
		if !ok {
			ps.Add(jsonval.JSONPathKey(path, k), `want {"tools": ["name"]} or {"all": true}`)
		}
	}
	return o
}

// checkApprovalOverride refuses unknown Tools: whoever names one relies on a person being asked.
func (i *Idea) checkApprovalOverride(ps *diag.Problems) {
	for n, name := range i.Config.Approval.Tools {
		at := fmt.Sprintf("$.config.approval.tools[%d]", n)
		if i.Tool(name) != nil {
			continue
		}
		if server, ok := i.ServerThatMayOffer(name); ok {
			ps.Warn(at, "%s", MayBeOfferedMessage(name, server))
			continue
		}
		ps.Add(at, "the palette has no tool %q", jsonval.Clip(name, 80))
	}
}

// PolicyFor returns the policy that counts for a Tool's Calls; nil if they need no approval.
func (o ApprovalOverride) PolicyFor(t *Tool) *Approval {
	switch {
	case !o.All && !slices.Contains(o.Tools, t.Name):
		return t.Approval
	case t.Approval == nil:
		return &Approval{OnTimeout: Reject, Allow: allDecisions}
	}
	always := *t.Approval
	always.When = nil
	return &always
}
