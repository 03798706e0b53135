package ideafile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/deciders"
	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/reminder"
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

// AllDecisionKinds lists the decisions that a person can take. Their signals have the same names.
func AllDecisionKinds() []string { return allDecisions }

// onTimeoutPause pauses the process at the deadline instead of deciding.
const onTimeoutPause = "pause"

// ApprovalPolicy is a Tool's approval policy (`_approval`): when a person must decide on a Call before it runs, and what happens when nobody
// does.
type ApprovalPolicy struct {
	// ParamsCondition is a JSON Schema over the resolved parameters; nil: always, also for one that does not compile.
	ParamsCondition *jsonschema.Schema
	// Timeout is the time after which TimeoutAction happens: "reject", "approve" or "pause". 0: it never does.
	Timeout       time.Duration
	TimeoutAction string
	// AllowedDecisions lists the decisions that a person may take.
	AllowedDecisions []string
	// Deciders say who may decide; nil: anybody.
	Deciders *deciders.Rule
	// WhileWaiting says what happens while nobody decides.
	WhileWaiting reminder.Policy
}

// readApprovalPolicy reads `_approval`. It returns nil for a Tool whose Calls need no approval.
func readApprovalPolicy(v any, path string, ps *diag.Problems) *ApprovalPolicy {
	a := &ApprovalPolicy{TimeoutAction: Reject, AllowedDecisions: allDecisions}
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

func (a *ApprovalPolicy) read(m map[string]any, path string, ps *diag.Problems) {
	for _, k := range jsonval.SortedKeys(m) {
		at := jsonval.JSONPathWithKey(path, k)
		var err error
		switch k {
		case "when":
			a.readParamsCondition(m[k], at, ps)
		case "timeout":
			a.Timeout, err = jsonval.ReadDuration(m[k])
		case "onTimeout":
			s, _ := m[k].(string)
			a.TimeoutAction = s
			if !slices.Contains([]string{Reject, Approve, onTimeoutPause}, s) {
				err = fmt.Errorf("want reject, approve or pause")
			}
		case "allow":
			a.AllowedDecisions, err = readAllowedDecisions(m[k])
		case "by":
			a.Deciders = deciders.ReadRule(m[k], at, ps)
		case "proof": // after "by"
			a.Deciders, err = deciders.ReadProof(m[k], a.Deciders)
		case "remind", "escalate":
			a.WhileWaiting.ReadKey(k, m[k], at, ps)
		default:
			err = fmt.Errorf("unknown key %q; _approval has allow, by, escalate, onTimeout, proof, remind, timeout and when", k)
		}
		if err != nil {
			ps.Add(at, "%s", err)
		}
	}
	if m["onTimeout"] != nil && m["timeout"] == nil {
		ps.Add(path+".onTimeout", "it never happens: there is no timeout")
	}
	ends := a.Timeout
	if a.TimeoutAction == onTimeoutPause {
		ends = 0 // the Call waits on while the process is paused
	}
	a.WhileWaiting.Check(a.Deciders, ends, path, ps)
	if a.Deciders != nil && a.TimeoutAction == Approve {
		ps.Add(path+".onTimeout", "by or proof says who must approve, and this would approve without them: want reject or pause")
	}
}

// dropUnsatisfiableCondition has a person asked about every Call where the condition requires a parameter that the Tool does not have: no Call would
// ever fit it, and each would run unasked.
func (a *ApprovalPolicy) dropUnsatisfiableCondition(t *Tool, path string, ps *diag.Problems) {
	if a == nil || a.ParamsCondition == nil || t.AllowsExtraParams {
		return
	}
	for _, name := range jsonschema.RequiredProperties(a.ParamsCondition.Source) {
		if _, declared := t.SchemaByParam[name]; !declared {
			ps.Warn(path+".when", "it requires %q, which is no parameter of the tool, so that a person is asked about every Call%s",
				jsonval.Clip(name, 80), diag.DidYouMean(name, jsonval.SortedKeys(t.SchemaByParam)))
			a.ParamsCondition = nil
			return
		}
	}
}

// readParamsCondition compiles the condition. One that does not compile must not let every Call through: a person is asked about each, and the
// file's author is warned. A schema that refers to another document is an error, as everywhere.
func (a *ApprovalPolicy) readParamsCondition(v any, path string, ps *diag.Problems) {
	if ps == nil {
		a.ParamsCondition = jsonschema.NewLazySchema(v, "") // one that does not compile cannot be evaluated, so that a person is asked
		return
	}
	s, err := jsonschema.CompileSchema(v)
	if err == nil {
		a.ParamsCondition = s
		return
	}
	reason := diag.WithoutPackagePrefix(err)
	if jsonschema.CheckRefs(v) != nil {
		ps.Add(path, "%s", reason)
		return
	}
	ps.Warn(path, "it cannot be evaluated, so that a person is asked about every Call: %s", reason)
}

func readAllowedDecisions(v any) ([]string, error) {
	list, ok := jsonval.AsStringList(v)
	for _, d := range list {
		ok = ok && slices.Contains(allDecisions, d)
	}
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("want a list of %s", strings.Join(allDecisions, ", "))
	}
	return list, nil
}

// RequiresReviewOf reports whether a person must decide on a Call with these resolved parameters. If the condition cannot be evaluated, a
// person must.
func (a *ApprovalPolicy) RequiresReviewOf(params map[string]any) bool {
	if a == nil {
		return false
	}
	if a.ParamsCondition == nil || jsonval.ContainsBlobHandle(params) {
		return true
	}
	holds, err := a.ParamsCondition.Matches(params)
	return holds || err != nil
}
