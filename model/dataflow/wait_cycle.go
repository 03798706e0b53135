package dataflow

// callToBreakDeadlock returns the Call that goes first if Calls wait for each other: the first in Plan order that has
// all inputs, else the first with a pending result. It returns nil if there is no deadlock or a Request is open.
func (i *Instance) callToBreakDeadlock() *CallRecord {
	if i.HasOpenRequest() {
		return nil
	}
	waits := i.mutuallyWaitingCalls()
	var firstPending *CallRecord
	for _, rec := range i.callRecords {
		_, ok := waits[rec]
		switch {
		case !ok || !waits.IsInClosedCycle(rec):
		case rec.phase == resultPending && firstPending == nil:
			firstPending = rec
		case rec.phase != resultPending && len(i.unmetReadWriters(rec)) == 0:
			return rec
		}
	}
	return firstPending
}

// mutuallyWaitingCalls returns the Calls that wait only for each other, each with the Calls it waits for.
func (i *Instance) mutuallyWaitingCalls() waitGraph[*CallRecord] {
	waits := waitGraph[*CallRecord]{}
	for _, rec := range i.callRecords {
		if rec.phase == resultPending || rec.isUnstarted() {
			waits[rec] = i.awaitedCalls(rec)
		}
	}
	waits.KeepMutual()
	return waits
}
