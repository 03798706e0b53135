package protocol

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/loop"
	"processidea/model/turn"
)

// InlinePayload marks answers to queries. They stay in the payload at any size, since people read them without access
// to our store.
type InlinePayload interface{ inline() }

// WaitingForPersonPrefix begins each line of ProcessView.WaitingFor that is about a pending approval, or a Plan.
const WaitingForPersonPrefix = "a person: "

// WaitingForPlanPrefix begins each of these lines that is about a Plan.
const WaitingForPlanPrefix = WaitingForPersonPrefix + "the Plan "

// WaitingForLLMPrefix begins the line of ProcessView.WaitingFor that is about the Request under way.
const WaitingForLLMPrefix = "Request "

// ProcessView answers the query "status" of a process: the fields of `run --json` without States, and what the process
// waits for.
type ProcessView struct {
	loop.ProcessResult
	// WaitingFor tells people what the process waits for.
	WaitingFor []string `json:"waiting"`
	// PendingDecisionCount counts the Calls, and the Plans, that wait for a person.
	PendingDecisionCount int `json:"awaiting"`
	// Refusals are the last hundred signals that changed nothing; RefusalCount counts all of them.
	Refusals     []approval.Fate `json:"refusals"`
	RefusalCount int             `json:"refused"`
	// Orders are people's standing orders, ended ones included.
	Orders approval.StandingOrders `json:"orders,omitempty"`
	// Parts are the parts of a split process: their instances are <process of the part>/<token>.
	Parts []PartView `json:"parts,omitempty"`
}

func (ProcessView) inline() {}

// InstanceID returns the workflow id of an instance. In a split process the instance belongs to a part.
func (v ProcessView) InstanceID(instanceToken string) string {
	for _, part := range v.Parts {
		if slices.Contains(part.InstanceTokens, instanceToken) {
			return InstanceID(part.ProcessID, instanceToken)
		}
	}
	return InstanceID(v.ProcessID, instanceToken)
}

// PartView is one part of a process that is split.
type PartView struct {
	ProcessID      string      `json:"process"`
	Status         loop.Status `json:"status"` // empty: it has not reported yet
	InstanceTokens []string    `json:"instances"`
}

// ActOutcomesQuestion asks a workflow for the outcomes of acts that were sent to it: signals, and the decisions in one
// of them. Their ids are the ids in the payloads, 1 to 200 characters each; the nth decision of a signal with the id x,
// if it has none, has x/n. One question names at most 2,000 ids.
type ActOutcomesQuestion struct {
	ActIDs []string `json:"ids"`
}

// ActOutcomesAnswer answers an ActOutcomesQuestion, in the order of its ids.
type ActOutcomesAnswer struct {
	Outcomes []approval.ActOutcome `json:"acts"`
}

func (ActOutcomesAnswer) inline() {}

// ApprovalContext shows the person who decides on a Call the instance's current State and its own input. Both are nil
// if they would make the answer too large; then the instance's own answer has them.
type ApprovalContext struct {
	Input any `json:"input,omitempty"`
	State any `json:"state,omitempty"`
}

// ApprovalsView answers the query "approvals" of an instance.
type ApprovalsView struct {
	Approvals []approval.PendingCall `json:"approvals"`
	ApprovalContext
}

func (ApprovalsView) inline() {}

// Approval is a pending approval of a process, with its instance.
type Approval struct {
	Process  string `json:"process"`
	Instance string `json:"instance"`
	approval.PendingCall
	ApprovalContext
	// The workflow reports only the Call that would run. The reader of the answer adds Call and Reasoning.
	shown.Call
	// Reasoning is the reason that the LLM gave for the Call, if it gave one.
	Reasoning string `json:"reasoning,omitempty"`
}

// ProcessApprovals answers the query "approvals" of a process.
type ProcessApprovals struct {
	Approvals []Approval `json:"approvals"`
	// Plans are the Plans that wait as a whole.
	Plans []PlanView `json:"plans,omitempty"`
}

func (ProcessApprovals) inline() {}

// PlanView is a Plan that waits for a person. Process is the process of the Plan; in a split process, the part.
type PlanView struct {
	Process string `json:"process"`
	approval.PlanAwaitingDecision
	// Excluded are the people whom rules exclude from the decision; nil if there are none, or if an older worker
	// answered.
	Excluded *approval.ExcludedPeople `json:"excluded,omitempty"`
	// DeputyRemarks are the remarks that name deputies of those who may decide; in a split process only the whole has
	// those for all its parts.
	DeputyRemarks []approval.Decision `json:"deputies,omitempty"`
	// Sentence is added by the reader of the answer, as with Approval.
	Sentence string `json:"sentence,omitempty" doc:"what the Plan would do, and for whom"`
}

// PlanProgress answers the query "plan" of a process: for each Call of its latest Plan, the number of instances per
// status. In a split process only the parts can answer.
type PlanProgress struct {
	Calls []turn.PlannedCallCounts `json:"calls"`
}

func (PlanProgress) inline() {}
