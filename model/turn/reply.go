package turn

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// Reply is what became of one Request at the LLM's side.
type Reply struct {
	// Complete says that the solution came to its end. Where it did not, End says why.
	Complete bool        `json:"whole"`
	Fault   *diag.Fault `json:"end,omitempty"`
	// NotRetryable says that asking again by itself is no use: the process pauses (a refused key, an exhausted quota).
	NotRetryable bool `json:"final,omitempty"`
	// WorkerLost says that the worker was lost, not that the LLM answered badly.
	WorkerLost bool `json:"lost,omitempty"`
	// Calls are the solution's Calls as written, in order.
	Calls []ideafile.WrittenCall `json:"calls,omitempty"`
	// CallFaults are the broken Calls that name no covered instance: no instance can tell of them.
	CallFaults []CallFault `json:"faults,omitempty"`
	// InstancesWithoutCalls lists the covered instances that the solution gave no Call.
	InstancesWithoutCalls []string `json:"idle,omitempty"`
	// Output as written, null where there was none, and how it does not fit.
	Output      any         `json:"output,omitempty"`
	OutputFault *diag.Fault `json:"outputFault,omitempty"`
	Usage       Usage       `json:"usage"`
	// Attempts is how often the server was asked until it answered.
	Attempts int `json:"attempts,omitempty"`
	// Faked says that it was made up from schemas: a script has no line for it.
	Faked bool `json:"sketched,omitempty"`
}

// CallFault is a broken Call of a solution, by its index from 1.
type CallFault struct {
	Index int        `json:"index"`
	Fault diag.Fault `json:"error"`
}

// Usage counts tokens, as the server tells them.
type Usage struct {
	PromptTokens     int `json:"promptTokens"`
	CompletionTokens int `json:"completionTokens"`
}

// Add adds another count.
func (u *Usage) Add(o Usage) {
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
}

// Request-level codes.
const (
	CodeTruncated      = "truncated"        // the reply broke off
	CodeWorkerLost           = "worker_lost"      // the worker that listened is gone
	CodeNotJSON        = "not_json"         // the reply is no JSON, or not of the form
	CodeRefusal        = "refusal"          // the LLM refused, or a content filter did
	CodeEndlessReply        = "endless"          // the reply went over every bound
	CodeLLMError     = "llm_error"        // the server said no for good
	CodeLLMUnreachable = "llm_unreachable"  // no server, after retries
	CodeBadReplies     = "bad_replies"      // three bad replies in a row
	CodeBadOutputs     = "bad_outputs"      // three bad outputs in a row
	CodeMissingRequired        = "missing_required" // an instance ended without what its schema requires
	CodeLimitReached          = "limit_reached"
	CodeInvalidIdea    = "invalid_idea"
	CodePaused         = "paused" // by a person
)

// Report is what an instance tells its process.
type Report struct {
	Token string `json:"token"`
	// Number counts the instance's reports, and Heard the events of its history: a report whose sender was lost is made
	// again under the same number, by an instance that may have heard more.
	Number int `json:"number"`
	HistoryLength  int `json:"heard"`
	// Closed is the highest Request that is closed at the instance.
	ClosedThrough int `json:"closed"`
	// Quiet says that nothing of the instance runs any more.
	Idle bool `json:"quiet"`
	// Calls are those that changed since the last report.
	Calls []CallReport `json:"calls,omitempty"`
	// Writes are those since the last report.
	Writes  []statelog.Write `json:"writes,omitempty"`
	Missing []string         `json:"missing,omitempty"`
	// Unmet is what went wrong with the Plan that runs directly and is covered by no alternative.
	PlanFailure *diag.Fault `json:"unmet,omitempty"`
	Questions   []Question  `json:"asking,omitempty"`
	// PendingApprovals is what waits for a person.
	PendingApprovals []PendingApproval `json:"pending,omitempty"`
	// Corrected counts the corrections that the instance has taken in.
	CorrectionsAcked int `json:"corrected,omitempty"`
	// ApprovalOverdue says that the process must pause: nobody decided in time.
	ApprovalOverdue *diag.Fault `json:"overdue,omitempty"`
	// RefusedSignals are signals that changed nothing, since the last report.
	RefusedSignals []RefusedSignal `json:"refusals,omitempty"`
}

// CallReport is what became of one Call in one instance.
type CallReport struct {
	Request int             `json:"request"`
	Index   int             `json:"index"`
	Status  ideafile.CallStatus `json:"status"`
	Fault   *diag.Fault     `json:"error,omitempty"`
	Result  any             `json:"result,omitempty"`
	// Decisions are those that people took on it.
	Decisions []Decision `json:"decisions,omitempty"`
	// Adapted is what the LLM was asked to fit of its parameters.
	Adapted *Adaptation `json:"adapted,omitempty"`
	// Call is the Call as written; it is told of a Request that broke off, whose solution nobody else has whole.
	Call ideafile.WrittenCall `json:"call,omitzero"`
	// FromEarlierProcess says that it had ended in the process whose Idea this one started from.
	FromEarlierProcess bool `json:"past,omitempty"`
}

// Key is the place of the Call in the Plan.
func (c CallReport) Key() ideafile.CallKey {
	return ideafile.CallKey{Request: c.Request, Index: c.Index}
}

// ReadResultAnswer reads one entry {"_call", "_output"} of a reply that was asked for results alone.
func ReadResultAnswer(i *ideafile.Idea, in *RequestInput, w ideafile.WrittenCall) (Question, any, *diag.Fault) {
	m := w.Fields()
	if m == nil {
		return Question{}, nil, diag.Faultf(ideafile.CodeBadForm, "a result is an object, not %s", jsonval.TypeOf(w.Value()))
	}
	id, _ := m["_call"].(string)
	for _, a := range in.Questions {
		if a.ID != id {
			continue
		}
		out, ok := m["_output"]
		if !ok {
			return a, nil, diag.Faultf(ideafile.CodeBadForm, "the result of %s has no _output", id)
		}
		t := i.Tool(a.Tool)
		if t != nil {
			out = t.Output.WithoutNulls(out)
		}
		if t != nil && !jsonval.HasHandle(out) {
			if err := t.Output.Validate(out); err != nil {
				return a, nil, diag.Faultf(ideafile.CodeBadOutput, "the result of %s: %s", id, err)
			}
		}
		return a, out, nil
	}
	return Question{}, nil, diag.Faultf(ideafile.CodeBadForm, "no result of a Call %q was asked for", jsonval.Clip(id, 80))
}

// CheckOutput says how a whole output does not fit its form. One with References is checked when they are resolved.
func CheckOutput(i *ideafile.Idea, v any) *diag.Fault {
	refs, err := refexpr.References(v)
	if v == nil || i.Output == nil || err == nil && len(refs) > 0 {
		return nil
	}
	if err := i.Output.Validate(i.Output.WithoutNulls(v)); err != nil {
		return diag.Faultf(ideafile.CodeBadOutput, "the output does not fit its form: %s", err)
	}
	return nil
}
