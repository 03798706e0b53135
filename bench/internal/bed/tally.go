package bed

import (
	"fmt"

	"processidea/model/jsonval"
	"processidea/model/loop"
)

// Tally counts the instances, Calls and Requests of processes.
type Tally struct{ Instances, Calls, Requests int }

// Since returns the growth since an earlier tally.
func (t Tally) Since(before Tally) Tally {
	return Tally{t.Instances - before.Instances, t.Calls - before.Calls, t.Requests - before.Requests}
}

// Tally returns the tally of all processes that have completed here.
func (b *Bed) Tally() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tally
}

// addResult adds a process's Result to the tally. A process that has not completed is an error.
func (b *Bed) addResult(r loop.Result) error {
	if r.Status != loop.StatusCompleted {
		return fmt.Errorf("process %s ended as %s: %s", r.ProcessID, r.Status,
			jsonval.Encode(jsonval.ToJSONValue(r.Error)))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tally.Instances += len(r.Instances)
	b.tally.Calls += r.Calls.Total()
	b.tally.Requests += r.Requests
	return nil
}
