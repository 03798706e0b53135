package loop

import (
	"cmp"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// ProcessStatus is the status of a process.
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

// Counts counts the ends of the Calls in all instances.
func (l *Loop) Counts() turn.CallCounts {
	c := turn.CallCounts{Failed: l.unassignedCalls}
	for _, inst := range l.instances {
		//workflowcheck:ignore -- a sum
		for _, r := range inst.calls {
			if !r.FromEarlierProcess {
				c.Increment(r.Status)
			}
		}
	}
	return c
}

// Result returns the process as it stands.
func (l *Loop) Result(status ProcessStatus, withStates bool) Result {
	r := Result{
		Process: l.processID, Status: status, Output: l.output, Instances: map[string]InstanceResult{},
		Requests: l.requestCount, Calls: l.Counts(), Usage: l.usage, Error: l.pauseReason, Simulated: l.idea.Simulated,
	}
	for _, inst := range l.instances {
		i := InstanceResult{Status: inst.DisplayStatus()}
		if withStates {
			i.State = inst.state.Value()
		}
		r.Instances[inst.Token] = i
	}
	if f := l.failure(); f != nil && status == StatusFailed {
		r.Error = f
	}
	return r
}

// FinalStatus is the status of a process that is finished.
func (l *Loop) FinalStatus() ProcessStatus {
	if l.failure() != nil {
		return StatusFailed
	}
	return StatusCompleted
}

func (l *Loop) failure() *diag.Fault {
	var first *InstanceProgress
	failed := 0
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceFailed {
			failed++
			first = cmp.Or(first, inst)
		}
	}
	switch {
	case failed == 0:
		return l.outputFault
	case first.Token == "":
		return first.Fault
	}
	return diag.Faultf(first.Fault.Code, "%d of %d instances failed; the first, %s: %s",
		failed, len(l.instances), first.Token, first.Fault.Message)
}
