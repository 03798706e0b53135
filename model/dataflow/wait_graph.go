package dataflow

import "slices"

// waitGraph maps each waiter to what it waits for.
type waitGraph[N comparable] map[N][]N

// KeepMutual removes every node that waits, directly or not, for a node outside the graph. Nothing outside can free
// those that stay.
func (g waitGraph[N]) KeepMutual() {
	isFree := func(n N) bool { _, waits := g[n]; return !waits }
	for freed := true; freed; {
		freed = false
		//workflowcheck:ignore -- the order does not matter: those that stay are the same
		for n, waits := range g {
			if slices.ContainsFunc(waits, isFree) {
				delete(g, n)
				freed = true
			}
		}
	}
}

// IsInClosedCycle reports whether every node that n waits for, directly or not, waits for n in turn.
func (g waitGraph[N]) IsInClosedCycle(n N) bool {
	//workflowcheck:ignore -- the order does not matter: all or not all
	for other := range g.reach(n) {
		if !g.reach(other)[n] {
			return false
		}
	}
	return true
}

// reach returns the nodes that a node waits for, directly or not.
func (g waitGraph[N]) reach(from N) map[N]bool {
	seen := map[N]bool{}
	for todo := slices.Clone(g[from]); len(todo) > 0; {
		n := todo[0]
		if todo = todo[1:]; !seen[n] {
			seen[n] = true
			todo = append(todo, g[n]...)
		}
	}
	return seen
}
