package loop

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/quality"
	"processidea/model/turn"
)

// Status is the status of a process.
type Status string

// The statuses of a process.
const (
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
	StatusPaused    Status = "paused"
	StatusRunning   Status = "running"
)

// ProcessResult is the output of `run --json`.
type ProcessResult struct {
	ProcessID    string                    `json:"process"`
	Status       Status                    `json:"status"`
	Output       any                       `json:"output"`
	Instances    map[string]InstanceResult `json:"instances"`
	IdeaCount    int                       `json:"ideas"`
	RequestCount int                       `json:"requests"`
	Calls        turn.CallCounts           `json:"calls"`
	// Failures are the reasons why Calls failed, were blocked or rejected, each once.
	Failures turn.Failures   `json:"failures"`
	Usage    turn.TokenUsage `json:"usage"`
	// Quality compares the answers that the LLM was asked for twice; nil: there are none.
	Quality *quality.Report `json:"quality"`
	Error   *diag.Fault     `json:"error"`
	// HoldUps lists what holds up the process, its parts and its delegates until a person outside mends it; absent:
	// nothing.
	HoldUps []turn.HoldUp `json:"heldUp,omitempty"`
	// UnwrittenResults lists the parts of Calls' results that were not written to State.
	UnwrittenResults []UnwrittenResult `json:"notWritten,omitempty"`
	// InstructionStepCounts counts, for each step of the instructions, the ended instances in which it is fulfilled.
	InstructionStepCounts ideafile.StepCounts `json:"instructions,omitempty"`
	// ToolNotes say which Tools of MCP servers are left out, and why.
	ToolNotes []string `json:"toolNotes,omitempty"`
	// Simulation names what played the Tools and the LLM in a simulation; absent for a real run.
	Simulation *ideafile.Simulation `json:"simulated,omitempty"`
}

// UnwrittenResult is a part of a Call's result that was not written to State, with the instances concerned.
type UnwrittenResult struct {
	CallID string `json:"call"` // its id without an instance
	turn.UnwrittenPath
	Instances []string `json:"instances,omitempty"`
}

// AddUnwrittenResult adds a result to a list. If the list has an entry for the same Call and path, it adds the
// instances to that.
func AddUnwrittenResult(list []UnwrittenResult, n UnwrittenResult) []UnwrittenResult {
	index := slices.IndexFunc(list, func(o UnwrittenResult) bool {
		return o.CallID == n.CallID && o.UnwrittenPath == n.UnwrittenPath
	})
	if index < 0 {
		return append(list, n)
	}
	list[index].Instances = append(slices.Clip(list[index].Instances), n.Instances...)
	return list
}

// InstanceResult is one instance in a Result. State is absent if it was not asked for.
type InstanceResult struct {
	Status ideafile.InstanceStatus `json:"status"`
	State  any                     `json:"state,omitempty"`
	// Cost is its share of the cost of the Requests about it, if prices are known: a Request about n instances costs
	// each an nth.
	Cost price.Money `json:"cost,omitempty"`
	// FailedCallCount counts its Calls that failed or were blocked. An instance may settle despite these.
	FailedCallCount int `json:"failedCalls,omitempty"`
	// RejectedCallCount counts its Calls that a person, or a deadline, rejected. An instance settles despite these too.
	RejectedCallCount int `json:"rejectedCalls,omitempty"`
}

// Standing describes the instance: its status, and how many of its Calls failed or were rejected.
func (i InstanceResult) Standing() string {
	text := InstanceStatusText(string(i.Status), i.FailedCallCount)
	switch i.RejectedCallCount {
	case 0:
		return text
	case 1:
		return text + ", 1 Call rejected"
	}
	return fmt.Sprintf("%s, %d Calls rejected", text, i.RejectedCallCount)
}

// InstanceStatusText joins a status with the number of failed Calls.
func InstanceStatusText(status string, failedCallCount int) string {
	switch failedCallCount {
	case 0:
		return status
	case 1:
		return status + ", 1 Call failed"
	}
	return fmt.Sprintf("%s, %d Calls failed", status, failedCallCount)
}
