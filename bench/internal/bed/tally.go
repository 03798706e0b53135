package bed

import (
	"fmt"

	"processidea/model/jsonval"
	"processidea/model/loop"
)

// Tally counts the instances, Calls and Requests of processes.
type Tally struct{ Instances, Calls, Requests int }

// Since returns the growth since an earlier tally.
func (t Tally) Since(earlier Tally) Tally {
	return Tally{t.Instances - earlier.Instances, t.Calls - earlier.Calls, t.Requests - earlier.Requests}
}

// Tally returns the tally of all processes that have completed here.
func (b *TestBed) Tally() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tally
}

// addResult adds a process's Result to the tally. A process that has not completed is an error.
func (b *TestBed) addResult(r loop.ProcessResult) error {
	if r.Status != loop.StatusCompleted {
		return fmt.Errorf("process %s ended as %s: %s", r.ProcessID, r.Status,
			jsonval.Encode(jsonval.ToJSONValue(r.Error)))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tally.Instances += len(r.Instances)
	b.tally.Calls += r.Calls.Total()
	b.tally.Requests += r.RequestCount
	return nil
}
