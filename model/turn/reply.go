package turn

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/refexpr"
)

// LLMReply is the LLM's side of one Request: its reply, or why there is none.
//
// Invariant: a reply that is not complete has a Fault.
type LLMReply struct {
	// IsComplete reports whether the solution came to its end. Only a complete solution can settle an instance.
	IsComplete bool `json:"whole"`
	// Fault is why the solution is not complete.
	Fault *diag.Fault `json:"end,omitempty"`
	// IsNotRetryable pauses the process: another Request would fail the same way (a refused key, an exhausted quota).
	IsNotRetryable bool `json:"final,omitempty"`
	// IsWorkerLost reports that the worker died while it received the reply; the LLM's answer was not bad.
	IsWorkerLost bool `json:"lost,omitempty"`
	// HasUndeliveredCalls reports that Calls may not have reached all their instances.
	HasUndeliveredCalls bool `json:"undelivered,omitempty"`
	// Calls are the solution's Calls as written, in order.
	Calls []ideafile.WrittenCall `json:"calls,omitempty"`
	// CallFaults are the faults of broken Calls that name no covered instance. Instances report the faults of all other
	// Calls.
	CallFaults []CallFault `json:"faults,omitempty"`
	// InstanceTokensWithoutCalls lists the covered instances to which the solution gave no Call: these may settle.
	InstanceTokensWithoutCalls []string `json:"idle,omitempty"`
	// GoneInstanceTokens lists the covered instances whose workflows took no more Calls, because somebody had
	// terminated or deleted them.
	GoneInstanceTokens []string `json:"gone,omitempty"`
	// Output is the output as written; nil if there was none. OutputFault is why it does not fit the output form.
	Output      any         `json:"output,omitempty"`
	OutputFault *diag.Fault `json:"outputFault,omitempty"`
	// SaysFinished reports that the LLM has nothing left to plan for the covered instances, if the Calls succeed.
	SaysFinished bool `json:"finished,omitempty"`
	// SaysUnfinished reports that the LLM announced further Calls, so that an output beside its Calls does not count.
	SaysUnfinished bool `json:"unfinished,omitempty"`
	// Notes is what the LLM wants to be shown again, because later Requests do not show the instances that its Calls
	// finish; empty: none.
	Notes string     `json:"notes,omitempty"`
	Usage TokenUsage `json:"usage"`
	// AnsweringLLM is the LLM that answered; nil: unknown.
	AnsweringLLM *LLMUsage `json:"llm,omitempty"`
	// HTTPAttemptCount counts the HTTP requests until the server answered.
	HTTPAttemptCount int `json:"attempts,omitempty"`
	// IsSimulated means that the reply was made up from schemas in a simulation. It uses up no line of a script of
	// replies.
	IsSimulated bool `json:"sketched,omitempty"`
	// Comparisons are the results of a Recheck.
	Comparisons []AnswerComparison `json:"comparisons,omitempty"`
}

// CallsMayBeUndelivered reports whether some instances may lack Calls, because the worker that delivered them is gone
// or gave up.
func (r LLMReply) CallsMayBeUndelivered() bool { return r.IsWorkerLost || r.HasUndeliveredCalls }

// LLMUsage records which LLM answered a Request. The meta of an Idea keeps it.
type LLMUsage struct {
	RequestNumber int `json:"request"`
	// RequestedModel is the requested name of the model, and ServedModel the name that the server gave.
	RequestedModel string `json:"model,omitempty"`
	ServedModel    string `json:"served,omitempty"`
	// PromptDigest is the SHA-256, in hex, of the messages and the schema sent to the LLM.
	PromptDigest string `json:"prompt,omitempty"`
	TokenUsage
}

// CallFault is why a Call of a solution cannot be delivered to any instance. Index counts from 1.
type CallFault struct {
	Index int        `json:"index"`
	Fault diag.Fault `json:"error"`
}

// TokenUsage counts tokens as the LLM server reports them, and their cost.
type TokenUsage struct {
	PromptTokens     int `json:"promptTokens"`
	CompletionTokens int `json:"completionTokens"`
	// CachedTokens are the prompt tokens that the server had cached, ReasoningTokens the completion tokens that are not
	// in the reply.
	CachedTokens    int `json:"cachedTokens,omitempty"`
	ReasoningTokens int `json:"reasoningTokens,omitempty"`
	// Cost is the cost of the tokens that have a price. UnpricedTokens counts the tokens without a price, if prices or
	// a limit on money are given.
	Cost           price.Money `json:"cost,omitempty"`
	UnpricedTokens int         `json:"unpricedTokens,omitempty"`
}

// Total counts the tokens of both kinds.
func (u TokenUsage) Total() int { return u.PromptTokens + u.CompletionTokens }

// Add adds another count.
func (u *TokenUsage) Add(o TokenUsage) {
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
	u.CachedTokens += o.CachedTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.Cost = u.Cost.Plus(o.Cost)
	u.UnpricedTokens += o.UnpricedTokens
}

// String returns the usage as people read it: "tokens: 900 in (400 cached), 80 out (50 for reasoning), $0.0012".
func (u TokenUsage) String() string {
	note := func(n int, label string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(" (%d %s)", n, label)
	}
	text := fmt.Sprintf("tokens: %d in%s, %d out%s", u.PromptTokens, note(u.CachedTokens, "cached"), u.CompletionTokens,
		note(u.ReasoningTokens, "for reasoning"))
	if cost := u.CostText(); cost != "" {
		text += ", " + cost
	}
	return text
}

// CostText returns the cost of the tokens, and how many have no price; empty without prices.
func (u TokenUsage) CostText() string {
	switch {
	case u.UnpricedTokens == 0 && u.Cost == 0:
		return ""
	case u.UnpricedTokens == 0:
		return u.Cost.String()
	case u.Cost == 0:
		return fmt.Sprintf("no price for %d of them", u.UnpricedTokens)
	}
	return fmt.Sprintf("%s, and no price for %d of them", u.Cost, u.UnpricedTokens)
}

// Error codes of Requests and of whole processes. The codes of single Calls are in ideafile.
const (
	CodeTruncated       = "truncated"               // the reply broke off
	CodeWorkerLost      = "worker_lost"             // the worker that received the reply died
	CodeNotJSON         = "not_json"                // the reply is not JSON, or not in the form asked for
	CodeRefusal         = "refusal"                 // the LLM or a content filter refused
	CodeEndlessReply    = "endless"                 // the reply exceeded its limit of time or size
	CodeLLMError        = "llm_error"               // the server refused the Request for good
	CodeLLMUnreachable  = "llm_unreachable"         // no server answered, after all retries
	CodeStoreFull       = "store_full"              // holds processes up: the store has no room left
	CodeStoreForbidden  = "store_forbidden"         // the worker may not write in the store
	CodeKeysMissing     = "keys_missing"            // no worker has the key to the process's data
	CodeToolBusy        = "tool_waits"              // a Tool's server gets too many Calls for now
	CodeRateLimited     = "rate_limited"            // a limit on Calls and Requests per second is reached
	CodeNoWorker        = "no_worker"               // no worker serves the task queue
	CodeTemporalPaused  = "paused_in_temporal"      // somebody paused the process or an activity of it in Temporal
	CodeWorkerFails     = "worker_fails"            // a worker runs but cannot go on with the process
	CodeBadReplies      = "bad_replies"             // three bad replies in a row
	CodeNotWritten      = "not_written"             // a part of a Call's result was not written to State
	CodeOutputTooEarly  = "output_not_taken"        // an output came too early
	CodeBadOutputs      = "bad_outputs"             // three bad outputs in a row
	CodeMissingRequired = "missing_required"        // an instance ended without what its schema requires
	CodeStepUnfulfilled = "instruction_unfulfilled" // an instance ended without what a step requires
	CodeInstanceGone    = "instance_gone"           // somebody terminated or deleted its workflow
	CodeLimitReached    = "limit_reached"
	CodeNoProgress      = "no_progress" // three Requests in a row brought nothing new
	CodeInvalidIdea     = "invalid_idea"
	CodeCallsUndone     = "taken_back"   // a person had the effects of Calls undone
	CodePaused          = "paused"       // by a person
	CodeDisagreement    = "disagreement" // more second answers differ than the limit allows
)

// CheckOutput returns why a process's output does not fit its form, or nil. An output with References is not checked
// here, but once these are resolved.
func CheckOutput(idea *ideafile.Idea, v any) *diag.Fault {
	refs, err := refexpr.FindReferences(v)
	if v == nil || idea.OutputSchema == nil || (err == nil && len(refs) > 0) {
		return nil
	}
	if err := idea.OutputSchema.Validate(idea.OutputSchema.WithoutNulls(v)); err != nil {
		return diag.Faultf(ideafile.CodeBadOutput, "the output does not fit its form: %s", err)
	}
	return nil
}
