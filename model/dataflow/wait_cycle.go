package dataflow

import "slices"

// callToBreakDeadlock returns the Call that goes first if Calls wait for each other: the first in Plan order that has
// all inputs, else the first with a pending result. It returns nil if there is no deadlock or a Request is open.
func (i *Instance) callToBreakDeadlock() *CallRecord {
	if i.HasOpenRequest() {
		return nil
	}
	graph := i.mutualWaitGraph()
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

// mutualWaitGraph returns the Calls that wait only for each other, each with the Calls it waits for.
func (i *Instance) mutualWaitGraph() waitGraph[*CallRecord] {
	graph := waitGraph[*CallRecord]{}
	for _, rec := range i.callRecords {
		if rec.phase == phaseResultPending || rec.isUnstarted() {
			graph[rec] = i.awaitedCalls(rec)
		}
	}
	graph.PruneNodesWaitingOutside()
	return graph
}

// waitGraph maps each waiter to what it waits for.
type waitGraph[N comparable] map[N][]N

// PruneNodesWaitingOutside removes every node that waits, directly or not, for a node outside the graph. Nothing
// outside can free those that stay.
func (g waitGraph[N]) PruneNodesWaitingOutside() {
	isOutside := func(n N) bool { _, isNode := g[n]; return !isNode }
	for hasChanged := true; hasChanged; {
		hasChanged = false
		//workflowcheck:ignore -- the order does not matter: those that stay are the same
		for n, isNode := range g {
			if slices.ContainsFunc(isNode, isOutside) {
				delete(g, n)
				hasChanged = true
			}
		}
	}
}

// IsInClosedCycle reports whether every node that n waits for, directly or not, waits for n in turn.
func (g waitGraph[N]) IsInClosedCycle(n N) bool {
	//workflowcheck:ignore -- the order does not matter: all or not all
	for other := range g.reachableFrom(n) {
		if !g.reachableFrom(other)[n] {
			return false
		}
	}
	return true
}

// reachableFrom returns the nodes that a node waits for, directly or not.
func (g waitGraph[N]) reachableFrom(start N) map[N]bool {
	visited := map[N]bool{}
	for queue := slices.Clone(g[start]); len(queue) > 0; {
		n := queue[0]
		if queue = queue[1:]; !visited[n] {
			visited[n] = true
			queue = append(queue, g[n]...)
		}
	}
	return visited
}
