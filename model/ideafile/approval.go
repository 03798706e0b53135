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

// This file holds the rules of when a person must look at a Call before it runs, and what the person is shown.

// The decisions a person can take on a Call that waits for one.
const (
	Approve = "approve" // it runs as shown
	Reject  = "reject"  // it does not run
	Amend   = "amend"   // it runs with other parameters
	Replace = "replace" // another Call takes its place
	Answer  = "answer"  // the person gives its result, and nothing runs
)

var allDecisions = []string{Approve, Reject, Amend, Replace, Answer}

// Decisions lists the decisions a person can take: the names of their signals.
func Decisions() []string { return allDecisions }

// onTimeoutPause is what a deadline can do beside taking a decision.
const onTimeoutPause = "pause"

// Approval is a Tool's policy: when a person must look at its Calls, and what becomes of one at which nobody looks.
type Approval struct {
	// When is a JSON Schema over the resolved parameters; nil: always. One that does not compile asks always.
	When *jsonschema.Schema
	// Timeout after which OnTimeout ("reject", "approve" or "pause") happens by itself; 0: never.
	Timeout   time.Duration
	OnTimeout string
	// Allow lists the decisions that may be taken.
	Allow []string
}

// readApproval reads `_approval`; what is wrong with it goes to ps under path.
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
			if a.OnTimeout = s; !slices.Contains([]string{Reject, Approve, onTimeoutPause}, s) {
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

// readWhen compiles the condition. A policy that is not understood must not become one that lets everything through: it
// asks, and the file's author is warned. What wants to load something is refused as everywhere.
func (a *Approval) readWhen(v any, path string, ps *diag.Problems) {
	s, err := jsonschema.CompileSchema(v)
	if err == nil {
		a.When = s
		return
	}
	reason := strings.TrimPrefix(err.Error(), "model: ")
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

// asks says whether a person must look at a Call with these parameters. A condition that cannot be evaluated asks.
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

// Oversight is what a process's `config.approval` adds to the policies of its Tools. It takes nothing away.
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

// checkOversight refuses names of no Tool: whoever writes one believes that somebody will be asked.
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

// PolicyFor is the policy for a Tool's Calls; nil where nobody need look.
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
