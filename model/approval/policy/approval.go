package policy

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

var decisionKinds = []string{Approve, Reject, Amend, Replace, Answer}

// DecisionKinds lists the decisions that a person can take. Their signals have the same names.
func DecisionKinds() []string { return decisionKinds }

// timeoutActionPause pauses the process at the deadline instead of deciding.
const timeoutActionPause = "pause"

// Approval is a Tool's approval policy (`_approval`): when a person must decide on a Call before it runs, and what
// happens when nobody does.
type Approval struct {
	// ParamsCondition is a JSON Schema over the resolved parameters; nil: a person decides on every Call, as with a
	// schema that does not compile.
	ParamsCondition *jsonschema.Schema
	// Timeout is the time after which TimeoutAction happens: "reject", "approve" or "pause". 0: it never does.
	Timeout       time.Duration
	TimeoutAction string
	// AllowedDecisions lists the decisions and the remarks that a person may make. If it has no remark, all are
	// allowed.
	AllowedDecisions []string
	// Deciders say who may decide; nil: anybody.
	Deciders *DeciderRule
	// ReminderRules says what happens while nobody decides.
	ReminderRules ReminderRules
	// Note is shown to the people who are asked.
	Note string
}

const maxNoteLength = 2000 // characters

// ReadApproval reads `_approval`. It returns nil for a Tool whose Calls need no approval.
func ReadApproval(v any, path string, ps *diag.Problems) *Approval {
	a := &Approval{TimeoutAction: Reject, AllowedDecisions: decisionKinds}
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		if !v {
			return nil
		}
	case jsonval.Object:
		a.read(v, path, ps)
	default:
		ps.Add(path, "want true, false or an object, not %s", jsonval.TypeOf(v))
	}
	return a
}

func (a *Approval) read(m jsonval.Object, path string, ps *diag.Problems) {
	for k := range jsonval.Sorted(m) {
		keyPath := jsonval.JSONPathWithKey(path, k)
		var err error
		switch k {
		case "when":
			a.readParamsCondition(m[k], keyPath, ps)
		case "timeout":
			a.Timeout, err = jsonval.ReadDuration(m[k])
		case "onTimeout":
			s := jsonval.AsText(m[k])
			a.TimeoutAction = s
			if !slices.Contains([]string{Reject, Approve, timeoutActionPause}, s) {
				err = fmt.Errorf("want reject, approve or pause")
			}
		case "allow":
			a.AllowedDecisions, err = readAllowedDecisions(m[k])
		case "by":
			a.Deciders = ReadDeciderRule(m[k], keyPath, ps)
		case "proof": // after "by"
			a.Deciders, err = ReadProofRequirement(m[k], a.Deciders)
		case "remind", "escalate":
			a.ReminderRules.ReadKey(k, m[k], keyPath, ps)
		case "note":
			a.Note, err = readNote(m[k])
		default:
			err = fmt.Errorf(
				"unknown key %q; _approval has allow, by, escalate, note, onTimeout, proof, remind, timeout and "+
					"when", k)
		}
		if err != nil {
			ps.Add(keyPath, "%s", err)
		}
	}
	if m["onTimeout"] != nil && m["timeout"] == nil {
		ps.Add(path+".onTimeout", "it has no effect: there is no timeout")
	}
	timeout := a.Timeout
	if a.TimeoutAction == timeoutActionPause {
		timeout = 0 // the Call waits on while the process is paused
	}
	a.ReminderRules.Check(a.Deciders, timeout, path, ps)
	if a.Deciders != nil && a.TimeoutAction == Approve {
		ps.Add(path+".onTimeout",
			"by or proof names who must approve, but this would approve without them: want reject or pause")
	}
}

// readParamsCondition compiles the condition. If it does not compile, a person is asked about every Call, so that none
// gets through unseen, and the file's author is warned. A schema that refers to another document is an error, as
// everywhere.
func (a *Approval) readParamsCondition(v any, path string, ps *diag.Problems) {
	if ps == nil {
		// a schema that does not compile cannot be evaluated, so a person is asked
		a.ParamsCondition = jsonschema.NewLazySchema(v, "")
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
	ps.Warn(path, "it cannot be evaluated, so a person is asked about every Call: %s", reason)
}

func readNote(v any) (string, error) {
	note, ok := v.(string)
	if !ok || strings.TrimSpace(note) == "" || len([]rune(note)) > maxNoteLength {
		return "", fmt.Errorf("want a text of at most %d characters, not %s", maxNoteLength, jsonval.QuoteForError(v))
	}
	return note, nil
}

// signalByRemarkName maps the remarks, as `allow` names them, to their signals.
var signalByRemarkName = map[string]string{"handOver": "hand-over", "ask": "ask", "comment": "comment"}

// readAllowedDecisions reads `allow`: the decisions, and after them the remarks.
func readAllowedDecisions(v any) (list []string, err error) {
	var remarks []string
	names, ok := jsonval.AsStringList(v)
	for _, name := range names {
		switch signal := signalByRemarkName[name]; {
		case slices.Contains(decisionKinds, name):
			list = append(list, name)
		case signal != "":
			remarks = append(remarks, signal)
		default:
			ok = false
		}
	}
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("want a list of %s, and of handOver, ask, comment", strings.Join(decisionKinds, ", "))
	}
	return append(list, remarks...), nil
}

// RequiresReviewOf reports whether a person must decide on a Call with these resolved parameters. If the condition
// cannot be evaluated, a person must.
func (a *Approval) RequiresReviewOf(params jsonval.Object) bool {
	if a == nil {
		return false
	}
	if a.ParamsCondition == nil || jsonval.ContainsBlobHandle(params) {
		return true
	}
	holds, err := a.ParamsCondition.Matches(params)
	return holds || err != nil
}
