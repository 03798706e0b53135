package dataflow

// callToBreakDeadlock returns the Call that goes first if Calls wait for each other: the first in Plan order that has
// all inputs, else the first with a pending result. It returns nil if there is no deadlock or a Request is open.
func (i *Instance) callToBreakDeadlock() *CallRecord {
	if i.HasOpenRequest() {
		return nil
	}
	graph := i.mutuallyWaitingCalls()
	var firstPending *CallRecord
	for _, rec := range i.callRecords {
		_, ok := graph[rec]
		switch {
		case !ok || !graph.IsInClosedCycle(rec):
		case rec.phase == phaseResultPending && firstPending == nil:
			firstPending = rec
		case rec.phase != phaseResultPending && len(i.unmetReadWriters(rec)) == 0:
			return rec
		}
	}
	return firstPending
}

// mutuallyWaitingCalls returns the Calls that wait only for each other, each with the Calls it waits for.
func (i *Instance) mutuallyWaitingCalls() waitGraph[*CallRecord] {
	graph := waitGraph[*CallRecord]{}
	for _, rec := range i.callRecords {
		if rec.phase == phaseResultPending || rec.isUnstarted() {
			graph[rec] = i.awaitedCalls(rec)
		}
	}
	graph.PruneNodesWaitingOutside()
	return graph
}
