package protocol

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/loop"
	"processidea/model/turn"
)

// InlinePayload marks answers to queries. They stay in the payload whatever their size, since people without our
// store read them.
type InlinePayload interface{ inline() }

// WaitingForPerson begins each line of ProcessView.Waiting that is about a pending approval, or a Plan.
const WaitingForPerson = "a person: "

// WaitingForPlanDecision begins the ones about a Plan.
const WaitingForPlanDecision = WaitingForPerson + "the Plan "

// WaitingForLLM begins the line of ProcessView.Waiting that is about the Request under way.
const WaitingForLLM = "Request "

// ProcessView answers the query "status" of a process: as `run --json` without States, and what it waits for.
type ProcessView struct {
	loop.Result
	// Waiting tells people what the process waits for.
	Waiting []string `json:"waiting"`
	// Awaiting counts the Calls, and the Plans, that wait for a person.
	Awaiting int `json:"awaiting"`
	// Refusals are the last hundred signals that changed nothing, Refused counts them all.
	Refusals []approval.Fate `json:"refusals"`
	Refused  int             `json:"refused"`
	// Orders are the standing orders that people gave, those that have ended included.
	Orders approval.Orders `json:"orders,omitempty"`
	// Parts are the parts of a split process: their instances are <process of the part>/<token>.
	Parts []PartView `json:"parts,omitempty"`
}

func (ProcessView) inline() {}

// InstanceID returns the workflow id of an instance. In a split process the instance belongs to a part.
func (v ProcessView) InstanceID(token string) string {
	for _, part := range v.Parts {
		if slices.Contains(part.Instances, token) {
			return InstanceID(part.Process, token)
		}
	}
	return InstanceID(v.ProcessID, token)
}

// PartView is one part of a process that is split.
type PartView struct {
	Process   string      `json:"process"`
	Status    loop.Status `json:"status"` // empty: it has not reported yet
	Instances []string    `json:"instances"`
}

// OutcomeQuestion asks a workflow for the outcomes of acts that were sent to it: signals, and the decisions in one of
// them. Their ids are the ids in the payloads, 1 to 200 characters each; the nth decision of a signal with the id x, if
// it has none, has x/n. One question names at most 2,000 ids.
type OutcomeQuestion struct {
	IDs []string `json:"ids"`
}

// OutcomeAnswer answers it, in the order of the ids.
type OutcomeAnswer struct {
	Acts []approval.Outcome `json:"acts"`
}

func (OutcomeAnswer) inline() {}

// ApprovalContext is what a person who decides on a Call sees of its instance: its State as it is now, and its own
// input. Both are nil where they would make an answer too large: the instance's own answer has them.
type ApprovalContext struct {
	Input any `json:"input,omitempty"`
	State any `json:"state,omitempty"`
}

// ApprovalsView answers the query "approvals" of an instance.
type ApprovalsView struct {
	Approvals []approval.Pending `json:"approvals"`
	ApprovalContext
}

func (ApprovalsView) inline() {}

// Approval is a pending approval of a process, with its instance.
type Approval struct {
	Process  string `json:"process"`
	Instance string `json:"instance"`
	approval.Pending
	ApprovalContext
	// The workflow reports only what runs. The reader of the answer adds Call and Reasoning.
	shown.Call
	// Reasoning is the reason that the LLM gave for the Call, where it did.
	Reasoning string `json:"reasoning,omitempty"`
}

// ProcessApprovals answers the query "approvals" of a process.
type ProcessApprovals struct {
	Approvals []Approval `json:"approvals"`
	// Plans are those that wait as a whole.
	Plans []PlanView `json:"plans,omitempty"`
}

func (ProcessApprovals) inline() {}

// PlanView is a Plan that waits for a person, with the process whose Plan it is: of a split one, the part.
type PlanView struct {
	Process string `json:"process"`
	approval.Plan
	// Excluded are the people whom rules exclude from the decision; nil if there are none, or if an older worker
	// answered.
	Excluded *approval.Excluded `json:"excluded,omitempty"`
	// Deputies are the remarks that name deputies of who may decide; the whole knows those of its parts.
	Deputies []approval.Decision `json:"deputies,omitempty"`
}

// PlanProgress answers the query "plan" of a process: the Calls of its latest Plan, and in how many instances each
// has which status. Of a process that is split the parts know.
type PlanProgress struct {
	Calls []turn.CallCount `json:"calls"`
}

func (PlanProgress) inline() {}
