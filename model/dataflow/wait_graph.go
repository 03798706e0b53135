package dataflow

import "slices"

// waitGraph maps each waiter to what it waits for.
type waitGraph[N comparable] map[N][]N

// PruneNodesWaitingOutside removes every node that waits, directly or not, for a node outside the graph. Nothing
// outside can free those that stay.
func (g waitGraph[N]) PruneNodesWaitingOutside() {
	isOutside := func(n N) bool { _, neighbours := g[n]; return !neighbours }
	for changed := true; changed; {
		changed = false
		//workflowcheck:ignore -- the order does not matter: those that stay are the same
		for n, neighbours := range g {
			if slices.ContainsFunc(neighbours, isOutside) {
				delete(g, n)
				changed = true
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
