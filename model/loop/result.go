package loop

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// ProcessStatus is where a process stands.
type ProcessStatus string

// The statuses of a process.
const (
	StatusCompleted ProcessStatus = "completed"
	StatusFailed    ProcessStatus = "failed"
	StatusCancelled ProcessStatus = "cancelled"
	StatusPaused    ProcessStatus = "paused"
	StatusRunning   ProcessStatus = "running"
)

// Result is what `run --json` prints.
type Result struct {
	Process   string                    `json:"process"`
	Status    ProcessStatus             `json:"status"`
	Output    any                       `json:"output"`
	Instances map[string]InstanceResult `json:"instances"`
	Ideas     int                       `json:"ideas"`
	Requests  int                       `json:"requests"`
	Calls     turn.CallCounts           `json:"calls"`
	Usage     turn.Usage                `json:"usage"`
	Error     *diag.Fault               `json:"error"`
	// Simulated says that no Tool was touched, and who played; absent of a process that ran.
	Simulated *ideafile.Simulation `json:"simulated,omitempty"`
}

// InstanceResult is one instance in a Result. State is absent where it was not asked for.
type InstanceResult struct {
	Status ideafile.InstanceStatus `json:"status"`
	State  any                     `json:"state,omitempty"`
}

// Counts adds up what became of the Calls in all instances.
func (m *Loop) Counts() turn.CallCounts {
	c := turn.CallCounts{Failed: m.unassignedCalls}
	for _, mem := range m.members {
		//workflowcheck:ignore -- a sum
		for _, r := range mem.calls {
			if !r.FromEarlierProcess {
				c.Increment(r.Status)
			}
		}
	}
	return c
}

// Result is the process as it stands.
func (m *Loop) Result(status ProcessStatus, withStates bool) Result {
	r := Result{
		Process: m.process, Status: status, Output: m.output, Instances: map[string]InstanceResult{},
		Requests: m.requests, Calls: m.Counts(), Usage: m.usage, Error: m.paused, Simulated: m.idea.Simulated,
	}
	for _, mem := range m.members {
		i := InstanceResult{Status: mem.DisplayStatus()}
		if withStates {
			i.State = mem.state.Value()
		}
		r.Instances[mem.Token] = i
	}
	if f := m.failure(); f != nil && status == StatusFailed {
		r.Error = f
	}
	return r
}

// FinalStatus is the status with which a process that is over ends.
func (m *Loop) FinalStatus() ProcessStatus {
	if m.failure() != nil {
		return StatusFailed
	}
	return StatusCompleted
}

func (m *Loop) failure() *diag.Fault {
	var first *InstanceProgress
	failed := 0
	for _, mem := range m.members {
		if mem.Status == ideafile.InstanceFailed {
			if failed++; first == nil {
				first = mem
			}
		}
	}
	switch {
	case failed == 0:
		return m.outputFault
	case first.Token == "":
		return first.Fault
	}
	return diag.Faultf(first.Fault.Code, "%d of %d instances failed; the first, %s: %s",
		failed, len(m.members), first.Token, first.Fault.Message)
}
