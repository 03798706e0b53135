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
	readers, reads, behind [][]int
}

func newGraph(calls []Call) *graph {
	calls = slices.Clone(calls)
	slices.SortStableFunc(calls, func(a, b Call) int { return a.Key.Compare(b.Key) })
	g := &graph{calls: calls, readers: make([][]int, len(calls)), reads: make([][]int, len(calls)),
		behind: make([][]int, len(calls))}
	byInstance := map[[2]string][]int{}
	for n := range calls {
		byInstance[calls[n].place()] = append(byInstance[calls[n].place()], n)
	}
	for n := range calls {
		for _, m := range byInstance[calls[n].place()] {
			c, w := &calls[n], &calls[m]
			reads := c.readFrom(w)
			if reads {
				g.readers[m], g.reads[n] = append(g.readers[m], n), append(g.reads[n], m)
			}
			if reads || c.mustFollow(w) {
				g.behind[m] = append(g.behind[m], n)
			}
		}
	}
	return g
}

// visitFrom visits a Call, and all Calls that can be reached from it by edges.
func visitFrom(edges [][]int, from int, visit func(n int)) {
	seen := map[int]bool{from: true}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		visit(queue[0])
		for _, n := range edges[queue[0]] {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
}

// nearestBehind lists, in order, the steps that must precede the step of Call n: those of the Calls that read from it
// or came after it. If such a Call has no step, the steps behind that Call count instead.
func (g *graph) nearestBehind(n int, steps map[int]Step) (list []int) {
	seen := map[int]bool{n: true}
	for queue := slices.Clone(g.behind[n]); len(queue) > 0; queue = queue[1:] {
		m := queue[0]
		if seen[m] {
			continue
		}
		seen[m] = true
		if _, is := steps[m]; is {
			list = append(list, m)
		} else {
			queue = append(queue, g.behind[m]...)
		}
	}
	slices.Sort(list)
	return list
}

// ReadFromBefore lists, by instance, the places of State that had their values when the process began, and from which
// came effects of the process itself that are not undone.
func ReadFromBefore(calls []Call) map[string][]jsonval.Path {
	g, places := newGraph(calls), map[string][]jsonval.Path{}
	for n := range g.calls {
		if c := &g.calls[n]; c.UndoneBy+c.DoneBefore != "" || !leavesEffect(c) {
			continue
		}
		visitFrom(g.reads, n, func(n int) {
			c := &g.calls[n]
			for _, place := range slices.Concat(c.Reads, c.Scopes) {
				written := func(w int) bool { return g.calls[w].WroteTo([]jsonval.Path{place}) }
				if !slices.ContainsFunc(g.reads[n], written) {
					places[c.Instance] = append(places[c.Instance], place)
				}
			}
		})
	}
	return places
}

// EffectReadFrom returns a Call with an effect that is not undone and that read from the Call with an id, directly or
// through others; nil: there is none.
func EffectReadFrom(calls []Call, id string) (reader *Call) {
	g := newGraph(calls)
	for at := range g.calls {
		if g.calls[at].ID != id {
			continue
		}
		visitFrom(g.readers, at, func(n int) {
			if c := &g.calls[n]; n != at && reader == nil && c.UndoneBy == "" && leavesEffect(c) {
				reader = c
			}
		})
	}
	return reader
}
