package turn

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// RequestInput is what one Request is about: the instances that it covers, the Calls planned so far with their outcome,
// and the errors since the last Request. Together with the process's Idea it is everything that the LLM reads.
type RequestInput struct {
	ProcessID string `json:"process"`
	// RequestNumber counts the process's Requests from 1. TurnNumber counts the attempts to ask the LLM, this one
	// included. A Request that was lost before the LLM replied does not count, so TurnNumber may be lower than
	// RequestNumber.
	RequestNumber int `json:"number"`
	TurnNumber    int `json:"turn"`
	// Instances are the covered instances, in order.
	Instances []InstanceInput `json:"covered"`
	// PlanEntries lists the Calls of earlier Requests and of Plans that run directly.
	PlanEntries []PlannedCallSummary `json:"plan,omitempty"`
	// Errors are the errors since the last Request.
	Errors []ContextError `json:"troubles,omitempty"`
	// Others counts the process's instances that the Request does not cover.
	Others OtherInstanceCounts `json:"others,omitzero"`
	// ReopenableTokens are the other instances that have settled only for now: a Call that names one reopens it.
	ReopenableTokens []string `json:"reopenable,omitempty"`
	// IsOutputOnly marks a Request that asks for the process's output and nothing else, since every instance has ended.
	IsOutputOnly bool `json:"closing,omitempty"`
	// MayBeLast means that the reply may call itself the last one for the covered instances, since no goal in State
	// says when they are done.
	MayBeLast bool `json:"mayBeLast,omitempty"`
	// Notes are the notes of earlier replies, in order.
	Notes []Note `json:"notes,omitempty"`
	// DraftOutput is the output of an earlier reply that did not count, if it still holds for every instance that the
	// Request does not cover; nil: none.
	DraftOutput *DraftOutput `json:"draft,omitempty"`
	// OthersAreKnown means that the notes and the draft still hold for every instance that the Request does not cover:
	// the LLM can write the output without seeing those instances.
	OthersAreKnown bool `json:"othersKnown,omitempty"`
	// Questions is not empty for a Request that asks only for the results of latent Calls and for adapted parameters.
	// Such a Request brings no new Calls.
	Questions []QuestionToLLM `json:"asking,omitempty"`
	// TokensHeldForRecheck are covered instances whose Calls are held until the LLM has been asked a second time.
	TokensHeldForRecheck []string `json:"heldFor,omitempty"`
	// Recheck is set if the Request asks a second time for an answer that is already there. Calls of the second answer
	// never run.
	Recheck *Recheck `json:"recheck,omitempty"`
}

// Recheck is the first answer of a Request that is asked a second time: its Calls, the LLM that gave it, and the
// positions of its instances in the prompt, from 1.
type Recheck struct {
	FirstCalls              []ideafile.WrittenCall `json:"calls"`
	InstancePositionByToken map[string]int         `json:"positions"`
	FirstLLM                string                 `json:"llm,omitempty"`
}

// AnswerComparison is two answers about one instance. The chain keeps it as evidence.
type AnswerComparison struct {
	InstanceToken string `json:"instance"`
	// RequestNumber is the number of the Request that both answer, and InstancePositionInPrompt the instance's position
	// in its first prompt.
	RequestNumber            int                    `json:"request"`
	InstancePositionInPrompt int                    `json:"position"`
	HasDiffered              bool                   `json:"differed"`
	FirstCalls               []ideafile.WrittenCall `json:"first"`
	SecondCalls              []ideafile.WrittenCall `json:"second"`
	// FirstLLM is the model that gave the first answer, SecondLLM the model that gave the second.
	FirstLLM  string `json:"firstLLM,omitempty"`
	SecondLLM string `json:"llm,omitempty"`
}

// OtherInstanceCounts counts the instances that a Request is not about, by their phase.
type OtherInstanceCounts struct {
	Finished       int `json:"finished,omitempty"`
	Failed         int `json:"failed,omitempty"`
	AwaitingPeople int `json:"awaitingPeople,omitempty"`
	Working        int `json:"working,omitempty"`
}

// DraftOutput is an output that the LLM gave beside Calls. It did not count, because not all of those Calls ended as
// planned.
type DraftOutput struct {
	Request int `json:"request"`
	Output  any `json:"output"` // as written
}

// Note is a text that the LLM wrote in a reply, which later Requests show to it.
type Note struct {
	Request int    `json:"request"`
	Text    string `json:"text"`
}

// maxNoteChars is how many characters the notes of one reply may have.
const maxNoteChars = 4_000

// ShortenNotes bounds the notes of a reply. An ellipsis marks a cut.
func ShortenNotes(text string) string {
	text = strings.TrimSpace(text)
	if characters := []rune(text); len(characters) > maxNoteChars {
		return string(characters[:maxNoteChars]) + " …"
	}
	return text
}

// InstanceInput is one instance as a Request sees it.
type InstanceInput struct {
	Token string `json:"token"`
	State any    `json:"state"`
	// MissingRequiredPaths lists the State paths that the instance's schema requires and that have no value.
	MissingRequiredPaths []string `json:"missing,omitempty"`
	// UnfulfilledSteps are the steps of the instructions that keep the instance from settling.
	UnfulfilledSteps []ideafile.StepOutcome `json:"unfulfilled,omitempty"`
	// HasReachedGoal means that State has all that the schema requires, and that the LLM is asked only because
	// something went wrong.
	HasReachedGoal bool `json:"reachedGoal,omitempty"`
	// EndStatus is set for an instance that has settled or failed, and Fault is why it failed. Both are for the
	// snapshot of the Request, not for the LLM.
	EndStatus ideafile.InstanceStatus `json:"status,omitempty"`
	Fault     *diag.Fault             `json:"fault,omitempty"`
	// StepOutcomes are the outcomes of the instructions' steps, for an instance that has ended.
	StepOutcomes []ideafile.StepOutcome `json:"steps,omitempty"`
	// WasEndedByRequest means that the instance ended by this Request, which is the last one. The snapshot records the
	// end, and a fork of the snapshot makes the Request again.
	WasEndedByRequest bool `json:"endedByRequest,omitempty"`
	// ReopenReason says who reopened the ended instance, and why; empty: nobody has since the last Request about it.
	ReopenReason string `json:"reopened,omitempty"`
	// FailedDirectPlanPosition is the position in the context, from 1, of the direct Plan that did not suffice for the
	// instance; 0: none. It is only for the snapshot, too.
	FailedDirectPlanPosition int `json:"fellBackFrom,omitempty"`
}

// PlannedCallSummary is a Call planned earlier, with the number of instances in each status.
type PlannedCallSummary struct {
	// CallID is the Call's id without an instance.
	CallID string `json:"id"`
	// DirectPlanPosition is the position in the context, from 1, of the directly run Plan with the Call, and PlanName
	// the name of that Plan. DirectPlanPosition is 0 for a Call of a Request.
	DirectPlanPosition int                         `json:"direct,omitempty"`
	PlanName           string                      `json:"plan,omitempty"`
	Call               ideafile.WrittenCall        `json:"call"`
	CountByStatus      map[ideafile.CallStatus]int `json:"how"`
	// InstanceTokensByStatus lists the instances behind each count; empty in a process whose only instance is
	// anonymous.
	InstanceTokensByStatus map[ideafile.CallStatus][]string `json:"where,omitempty"`
	// ResultByInstance has, by instance, the results that are not in State (see CallState.Result).
	ResultByInstance jsonval.Object `json:"results,omitempty"`
	// Faults say why a Call of a direct Plan failed, is blocked or was rejected, for the Plan's record.
	Faults []RecordedFault `json:"faults,omitempty"`
	// Decisions are people's decisions on the Call, in the order of the instances.
	Decisions []InstanceDecision `json:"decided,omitempty"`
	// Remarks are people's questions on the Call of which the LLM is told, with the answers.
	Remarks []InstanceDecision `json:"asked,omitempty"`
	// ExecutedCallByInstance is the Call as it ran after people's decisions, by instance.
	ExecutedCallByInstance map[string]ExecutedCall `json:"ran,omitempty"`
	// ReviewReasonByInstance is why a person must review the Call, by instance, beside its Tool's policy.
	ReviewReasonByInstance map[string]string `json:"review,omitempty"`
}

// InstanceDecision is a person's decision, or remark, on a Call of one instance.
type InstanceDecision struct {
	Token    string            `json:"token"`
	Decision approval.Decision `json:"decision"`
}

// ContextError is an error that the next Request reports to the LLM. It becomes an error message in the context.
type ContextError struct {
	// CallID is the Call's id without an instance; empty when the error is about the Request as a whole.
	CallID         string     `json:"call,omitempty"`
	InstanceTokens []string   `json:"instances,omitempty"`
	Fault          diag.Fault `json:"error"`
}

// QuestionToLLM asks the LLM about one Call by itself: for the result of a latent Call or, when ParamsError is set, for
// parameters that fit the Tool's schema.
type QuestionToLLM struct {
	CallID        string         `json:"id"`
	InstanceToken string         `json:"token"`
	Tool          string         `json:"tool"`
	Params        jsonval.Object `json:"params"`
	// Reasoning is the sentence with which the LLM planned the Call.
	Reasoning string `json:"reasoning,omitempty"`
	// ParamsError is why Params do not fit the schema; empty if a result is wanted.
	ParamsError string `json:"why,omitempty"`
}

// ReplyMayHoldOutput reports whether the reply may hold the process's output: the Request covers every instance, or the
// LLM's statements about the others still hold. Otherwise the LLM would summarize only the few instances that it sees.
func (in *RequestInput) ReplyMayHoldOutput() bool {
	return len(in.Questions) == 0 && (in.IsOutputOnly || in.OthersAreKnown || !in.LeavesOutInstances())
}

// LeavesOutInstances reports whether the process has instances that the Request does not cover.
func (in *RequestInput) LeavesOutInstances() bool { return in.Others != OtherInstanceCounts{} }

// InstanceTokens lists the covered instances' tokens. It is empty, never nil, when no instance is covered.
func (in *RequestInput) InstanceTokens() []string {
	return jsonval.Map(in.Instances, func(i InstanceInput) string { return i.Token })
}

// AllInstancesEnded reports whether every instance of the input has settled or failed.
func (in *RequestInput) AllInstancesEnded() bool {
	return !slices.ContainsFunc(in.Instances, func(i InstanceInput) bool { return i.EndStatus == "" })
}

// EndedByRequestMetaKey is the key of an Idea's meta that lists the instances which ended by its Request.
const EndedByRequestMetaKey = "ended"

// TokensEndedByRequest lists the tokens of the instances that ended by this Request.
func (in *RequestInput) TokensEndedByRequest() (tokens []string) {
	for _, i := range in.Instances {
		if i.WasEndedByRequest {
			tokens = append(tokens, i.Token)
		}
	}
	return tokens
}

// QuestionSummary describes in a few words what a Request with Questions asks for.
func (in *RequestInput) QuestionSummary() string {
	badParamsCount := 0
	for _, q := range in.Questions {
		if q.ParamsError != "" {
			badParamsCount++
		}
	}
	switch latentCount := len(in.Questions) - badParamsCount; {
	case badParamsCount == 0:
		return fmt.Sprintf("results of %d latent Calls", latentCount)
	case latentCount == 0:
		return fmt.Sprintf("fit the values of %d Calls", badParamsCount)
	default:
		return fmt.Sprintf("results of %d latent Calls, and fit the values of %d", latentCount, badParamsCount)
	}
}

// AddReport adds what became of the Call in one instance.
func (e *PlannedCallSummary) AddReport(token string, c CallReport) {
	e.CountByStatus[c.Status]++
	if token != "" {
		if e.InstanceTokensByStatus == nil {
			e.InstanceTokensByStatus = map[ideafile.CallStatus][]string{}
		}
		e.InstanceTokensByStatus[c.Status] = append(e.InstanceTokensByStatus[c.Status], token)
	}
	if c.Result != nil {
		e.ResultByInstance[token] = c.Result
	}
	for _, d := range c.Decisions {
		e.Decisions = append(e.Decisions, InstanceDecision{Token: token, Decision: d})
	}
	for _, r := range approval.RemarksForRequest(c.Remarks) {
		e.Remarks = append(e.Remarks, InstanceDecision{Token: token, Decision: r})
	}
	if c.ExecutedCall != nil {
		if e.ExecutedCallByInstance == nil {
			e.ExecutedCallByInstance = map[string]ExecutedCall{}
		}
		e.ExecutedCallByInstance[token] = *c.ExecutedCall
	}
	if c.ReviewReason != "" {
		if e.ReviewReasonByInstance == nil {
			e.ReviewReasonByInstance = map[string]string{}
		}
		e.ReviewReasonByInstance[token] = c.ReviewReason
	}
	if e.DirectPlanPosition > 0 && c.Fault != nil && c.Status.IsFinal() {
		e.addFault(token, *c.Fault)
	}
}

// addFault notes why the Call failed or is blocked in one instance.
func (e *PlannedCallSummary) addFault(token string, f diag.Fault) {
	index := slices.IndexFunc(e.Faults, func(r RecordedFault) bool { return r.Fault == f })
	if index < 0 {
		index = len(e.Faults)
		e.Faults = append(e.Faults, RecordedFault{Fault: f})
	}
	if token != "" {
		e.Faults[index].InstanceTokens = append(e.Faults[index].InstanceTokens, token)
	}
}

// WithoutDirectPlanCalls returns only the Calls that Requests planned.
func WithoutDirectPlanCalls(plannedCalls []PlannedCallSummary) []PlannedCallSummary {
	return jsonval.Filter(plannedCalls, func(e PlannedCallSummary) bool { return e.DirectPlanPosition == 0 })
}
