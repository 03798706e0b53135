package check

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/refexpr"
)

// This file finds who can never run because it waits for itself, through any number of others.

// writers lists the Calls that may yet write what a Call reads, by the rule of provides in readiness.go.
func (f *flow) writers(n int, ref refexpr.Reference) []int {
	if ref.Kind != ideafile.TypeState {
		return nil
	}
	var list []int
	for w, s := range f.steps {
		facts := f.facts[w]
		if _, writes := firstAt(facts.open, ref.Path); w == n || !writes || !facts.here || facts.skipped || facts.walled {
			continue
		}
		if !s.update() || w < n {
			list = append(list, w)
		}
	}
	return list
}

// enliven finds the Calls that can run: the smallest set such that each finds what it reads, or a member that writes it.
// A Call that is broken was told of, and those that read from it are not to blame.
func (f *flow) enliven() {
	for grew := true; grew; {
		grew = false
		for n, s := range f.steps {
			if f.facts[n].here && !f.alive[n] && (s.broken || f.facts[n].outside != "" || len(f.waitsFor(n)) == 0) {
				f.alive[n], grew = true, true
			}
		}
	}
}

// waitsFor lists the reads of a Call of which no alternative is there or has living Calls that write it.
func (f *flow) waitsFor(n int) []int {
	var out []int
	for r, facts := range f.facts[n].reads {
		met := f.facts[n].skipped
		for i := range facts {
			met = met || len(f.lacks(n, r, i)) == 0
		}
		if !met {
			out = append(out, r)
		}
	}
	return out
}

// lacks lists the terms of an alternative that are not there and that no living Call writes.
func (f *flow) lacks(n, r, alternative int) []refexpr.Reference {
	var out []refexpr.Reference
	for t, facts := range f.facts[n].reads[r][alternative] {
		ref := f.steps[n].reads[r].expr[alternative][t]
		if !facts.present && facts.outside == "" && !f.anyAlive(f.writers(n, ref)) {
			out = append(out, ref)
		}
	}
	return out
}

func (f *flow) anyAlive(list []int) bool {
	for _, w := range list {
		if f.alive[w] {
			return true
		}
	}
	return false
}

// edge is what keeps a Call waiting: the writer, and the read that needs it.
type edge struct{ writer, read int }

func (f *flow) edges(n int) []edge {
	var out []edge
	for _, r := range f.waitsFor(n) {
		for i := range f.facts[n].reads[r] {
			for _, ref := range f.lacks(n, r, i) {
				for _, w := range f.writers(n, ref) {
					out = append(out, edge{w, r})
				}
			}
		}
	}
	return out
}

// checkCycles reports every circle of dead Calls once, at its first Call.
func (f *flow) checkCycles() {
	told := map[int]bool{}
	for n := range f.steps {
		if f.alive[n] || !f.facts[n].here || told[n] {
			continue
		}
		circle := f.circle(n)
		if circle == nil {
			continue
		}
		var calls []*planStep
		for _, e := range circle {
			calls = append(calls, f.steps[e.writer])
			told[e.writer] = true
		}
		slices.Reverse(calls) // found from readers to writers, told along the data
		s := f.steps[n]
		f.report(s, s.reads[circle[0].read].path, fmt.Sprintf(
			"a cycle: %s; each waits for what the one before it writes, so none can start: have one of them read something else", namesOf(append(calls, s))))
	}
}

// circle is the shortest way from a Call through what it waits for back to itself; nil where there is none.
func (f *flow) circle(start int) []edge {
	type way struct{ edges []edge }
	seen := map[int]bool{}
	for todo := []way{{}}; len(todo) > 0; todo = todo[1:] {
		at := start
		if k := len(todo[0].edges); k > 0 {
			at = todo[0].edges[k-1].writer
		}
		for _, e := range f.edges(at) {
			next := append(todo[0].edges[:len(todo[0].edges):len(todo[0].edges)], e)
			if e.writer == start {
				return next
			}
			if !seen[e.writer] {
				seen[e.writer] = true
				todo = append(todo, way{next})
			}
		}
	}
	return nil
}

func namesOf(steps []*planStep) string {
	names := make([]string, len(steps))
	for n, s := range steps {
		names[n] = s.String()
	}
	return strings.Join(names, " → ")
}
