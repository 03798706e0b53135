package undo

import (
	"slices"

	"processidea/model/jsonval"
)

// callGraph relates Calls, in Plan order, to the Calls that read from them or came after them.
type callGraph struct {
	calls []Call
	// By a Call's position: readers are the Calls that read from it, reads the Calls from which it read, and behind the
	// readers and the Calls that came after it.
	readerIndexesByCall, sourceIndexesByCall, followerIndexesByCall [][]int
}

func newCallGraph(calls []Call) *callGraph {
	calls = slices.Clone(calls)
	slices.SortStableFunc(calls, func(a, b Call) int { return a.Key.Compare(b.Key) })
	g := &callGraph{calls: calls, readerIndexesByCall: make([][]int, len(calls)),
		sourceIndexesByCall:   make([][]int, len(calls)),
		followerIndexesByCall: make([][]int, len(calls))}
	callIndexesByInstance := map[[2]string][]int{}
	for n := range calls {
		callIndexesByInstance[calls[n].instanceKey()] = append(callIndexesByInstance[calls[n].instanceKey()], n)
	}
	for n := range calls {
		for _, m := range callIndexesByInstance[calls[n].instanceKey()] {
			c, w := &calls[n], &calls[m]
			hasRead := c.hasReadFrom(w)
			if hasRead {
				g.readerIndexesByCall[m], g.sourceIndexesByCall[n] = append(g.readerIndexesByCall[m], n),
					append(g.sourceIndexesByCall[n], m)
			}
			if hasRead || c.cameAfter(w) {
				g.followerIndexesByCall[m] = append(g.followerIndexesByCall[m], n)
			}
		}
	}
	return g
}

// visitReachable visits a Call, and all Calls that can be reached from it by edges.
func visitReachable(edges [][]int, startIndex int, visit func(n int)) {
	visited := map[int]bool{startIndex: true}
	for queue := []int{startIndex}; len(queue) > 0; queue = queue[1:] {
		visit(queue[0])
		for _, n := range edges[queue[0]] {
			if !visited[n] {
				visited[n] = true
				queue = append(queue, n)
			}
		}
	}
}

// nearestFollowerIndexes lists, in order, the steps that must precede the step of the Call callIndex: those of the
// Calls that read from it or came after it. If such a Call has no step, the steps behind that Call count instead.
func (g *callGraph) nearestFollowerIndexes(callIndex int, stepByCallIndex map[int]Step) (indexes []int) {
	visited := map[int]bool{callIndex: true}
	for queue := slices.Clone(g.followerIndexesByCall[callIndex]); len(queue) > 0; queue = queue[1:] {
		m := queue[0]
		if visited[m] {
			continue
		}
		visited[m] = true
		if _, exists := stepByCallIndex[m]; exists {
			indexes = append(indexes, m)
		} else {
			queue = append(queue, g.followerIndexesByCall[m]...)
		}
	}
	slices.Sort(indexes)
	return indexes
}

// PathsReadFromStartState lists, by instance, the places of State that had their values when the process began, and
// from which came effects of the process itself that are not undone.
func PathsReadFromStartState(calls []Call) map[string][]jsonval.Path {
	g, pathsByInstance := newCallGraph(calls), map[string][]jsonval.Path{}
	for n := range g.calls {
		if c := &g.calls[n]; c.UndoneByProcessID+c.RanByProcessID != "" || !mayHaveOutsideEffect(c) {
			continue
		}
		visitReachable(g.sourceIndexesByCall, n, func(n int) {
			c := &g.calls[n]
			for _, path := range slices.Concat(c.ReadPaths, c.ScopePaths) {
				isWrittenBy := func(w int) bool { return g.calls[w].WroteAnyOf([]jsonval.Path{path}) }
				if !slices.ContainsFunc(g.sourceIndexesByCall[n], isWrittenBy) {
					pathsByInstance[c.InstanceToken] = append(pathsByInstance[c.InstanceToken], path)
				}
			}
		})
	}
	return pathsByInstance
}

// FindEffectReader returns a Call with an effect that is not undone and that read from the Call with an id, directly or
// through others; nil: there is none.
func FindEffectReader(calls []Call, callID string) (reader *Call) {
	g := newCallGraph(calls)
	for callIndex := range g.calls {
		if g.calls[callIndex].ID != callID {
			continue
		}
		visitReachable(g.readerIndexesByCall, callIndex, func(n int) {
			if c := &g.calls[n]; n != callIndex && reader == nil && c.UndoneByProcessID == "" &&
				mayHaveOutsideEffect(c) {
				reader = c
			}
		})
	}
	return reader
}
