package undo

import (
	"slices"

	"processidea/model/jsonval"
)

// graph relates Calls, in Plan order, to the Calls that read from them or came after them.
type graph struct {
	calls []Call
	// By a Call's position: readers are the Calls that read from it, reads the Calls from which it read, and behind the
	// readers and the Calls that came after it.
	readersByCall, sourcesByCall, followersByCall [][]int
}

func newGraph(calls []Call) *graph {
	calls = slices.Clone(calls)
	slices.SortStableFunc(calls, func(a, b Call) int { return a.Key.Compare(b.Key) })
	g := &graph{calls: calls, readersByCall: make([][]int, len(calls)), sourcesByCall: make([][]int, len(calls)),
		followersByCall: make([][]int, len(calls))}
	callsByInstance := map[[2]string][]int{}
	for n := range calls {
		callsByInstance[calls[n].instanceKey()] = append(callsByInstance[calls[n].instanceKey()], n)
	}
	for n := range calls {
		for _, m := range callsByInstance[calls[n].instanceKey()] {
			c, w := &calls[n], &calls[m]
			hasRead := c.hasReadFrom(w)
			if hasRead {
				g.readersByCall[m], g.sourcesByCall[n] = append(g.readersByCall[m], n), append(g.sourcesByCall[n], m)
			}
			if hasRead || c.mustComeAfter(w) {
				g.followersByCall[m] = append(g.followersByCall[m], n)
			}
		}
	}
	return g
}

// visitReachable visits a Call, and all Calls that can be reached from it by edges.
func visitReachable(edges [][]int, start int, visit func(n int)) {
	visited := map[int]bool{start: true}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		visit(queue[0])
		for _, n := range edges[queue[0]] {
			if !visited[n] {
				visited[n] = true
				queue = append(queue, n)
			}
		}
	}
}

// nearestFollowers lists, in order, the steps that must precede the step of Call n: those of the Calls that read from
// it or came after it. If such a Call has no step, the steps behind that Call count instead.
func (g *graph) nearestFollowers(callIndex int, stepByCallIndex map[int]Step) (list []int) {
	visited := map[int]bool{callIndex: true}
	for queue := slices.Clone(g.followersByCall[callIndex]); len(queue) > 0; queue = queue[1:] {
		m := queue[0]
		if visited[m] {
			continue
		}
		visited[m] = true
		if _, exists := stepByCallIndex[m]; exists {
			list = append(list, m)
		} else {
			queue = append(queue, g.followersByCall[m]...)
		}
	}
	slices.Sort(list)
	return list
}

// PathsReadFromStart lists, by instance, the places of State that had their values when the process began, and from
// which came effects of the process itself that are not undone.
func PathsReadFromStart(calls []Call) map[string][]jsonval.Path {
	g, pathsByInstance := newGraph(calls), map[string][]jsonval.Path{}
	for n := range g.calls {
		if c := &g.calls[n]; c.UndoneByProcess+c.RanByProcessID != "" || !leavesEffect(c) {
			continue
		}
		visitReachable(g.sourcesByCall, n, func(n int) {
			c := &g.calls[n]
			for _, path := range slices.Concat(c.ReadPaths, c.ScopePaths) {
				isWrittenBy := func(w int) bool { return g.calls[w].WroteAnyOf([]jsonval.Path{path}) }
				if !slices.ContainsFunc(g.sourcesByCall[n], isWrittenBy) {
					pathsByInstance[c.Instance] = append(pathsByInstance[c.Instance], path)
				}
			}
		})
	}
	return pathsByInstance
}

// FindEffectReader returns a Call with an effect that is not undone and that read from the Call with an id, directly or
// through others; nil: there is none.
func FindEffectReader(calls []Call, id string) (reader *Call) {
	g := newGraph(calls)
	for callIndex := range g.calls {
		if g.calls[callIndex].ID != id {
			continue
		}
		visitReachable(g.readersByCall, callIndex, func(n int) {
			if c := &g.calls[n]; n != callIndex && reader == nil && c.UndoneByProcess == "" && leavesEffect(c) {
				reader = c
			}
		})
	}
	return reader
}
