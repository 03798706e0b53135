package check

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// possibleWriters lists the Calls that may still write what a Call reads. It mirrors how a running instance decides
// whether a Call may still write a path (package dataflow).
func (f *planDataflow) possibleWriters(n int, ref refexpr.Reference) []int {
	if key, isCall := ideafile.CallOfReference(ref); isCall {
		at := slices.IndexFunc(f.calls, func(s *planCall) bool { return s.isCall() && s.index == key.Index-1 })
		if at < 0 || !f.facts[at].appliesToInstance {
			return nil
		}
		return []int{at}
	}
	if ref.Kind != ideafile.TypeState {
		return nil
	}
	var writers []int
	for writer, s := range f.calls {
		facts := f.facts[writer]
		if writer == n || !slices.ContainsFunc(facts.writablePaths, ref.Path.Overlaps) ||
			!facts.appliesToInstance || facts.skipped || facts.blocked {
			continue
		}
		if !s.isUpdate() || writer < n {
			writers = append(writers, writer)
		}
	}
	return writers
}

// findRunnable marks the Calls that can run: the least fixed point, starting from the Calls whose reads are all
// present. A Call with a reported error already counts as runnable, so that its readers are not blamed.
func (f *planDataflow) findRunnable() {
	for changed := true; changed; {
		changed = false
		for n, s := range f.calls {
			if f.facts[n].appliesToInstance && !f.canRun[n] &&
				(s.invalid || f.facts[n].outsideSchemaReason != "" || len(f.unsatisfiedReads(n)) == 0) {
				f.canRun[n], changed = true, true
			}
		}
	}
}

// unsatisfiedReads lists the reads of a Call in which every alternative has missing terms.
func (f *planDataflow) unsatisfiedReads(n int) []int {
	var out []int
	skipped := f.isSkippedAtStart(n) && len(f.earlierWriters(n, false)) == 0
	for r, facts := range f.facts[n].reads {
		satisfied := skipped
		for i := range facts {
			satisfied = satisfied || len(f.termsWithoutWriter(n, r, i)) == 0
		}
		if !satisfied {
			out = append(out, r)
		}
	}
	return out
}

// earlierWriters lists the earlier Calls that may write where a Call does, and that can run or, with canRun false,
// cannot. The Call finds its path closed only after those that cannot run.
func (f *planDataflow) earlierWriters(n int, canRun bool) []int {
	var list []int
	for earlier, s := range f.calls[:n] {
		held := slices.ContainsFunc(f.calls[n].outputPath.Paths(), s.mayWrite)
		if held && f.facts[earlier].appliesToInstance && f.canRun[earlier] == canRun {
			list = append(list, earlier)
		}
	}
	return list
}

// termsWithoutWriter lists the terms of an alternative that are not present and that no runnable Call writes.
func (f *planDataflow) termsWithoutWriter(n, r, alternative int) []refexpr.Reference {
	var out []refexpr.Reference
	canRun := func(w int) bool { return f.canRun[w] }
	for t, facts := range f.facts[n].reads[r][alternative] {
		ref := f.calls[n].reads[r].expr[alternative][t]
		if !facts.present && facts.neverPresentReason == "" && !slices.ContainsFunc(f.possibleWriters(n, ref), canRun) {
			out = append(out, ref)
		}
	}
	return out
}

// dependencyEdge is why a Call waits for writer: writer would write what the Call reads, or it delays that the Call is
// skipped.
type dependencyEdge struct {
	writer     int
	location   string // the JSON path of the part that waits
	delaysSkip bool
}

func (f *planDataflow) dependencyEdges(n int) []dependencyEdge {
	var out []dependencyEdge
	if f.isSkippedAtStart(n) {
		for _, w := range f.earlierWriters(n, false) {
			out = append(out, dependencyEdge{w, f.calls[n].outputLocation, true})
		}
		return out // it no longer needs what it reads
	}
	for _, r := range f.unsatisfiedReads(n) {
		for i := range f.facts[n].reads[r] {
			for _, ref := range f.termsWithoutWriter(n, r, i) {
				for _, w := range f.possibleWriters(n, ref) {
					out = append(out, dependencyEdge{w, f.calls[n].reads[r].location, false})
				}
			}
		}
	}
	return out
}

// checkCycles reports, once, every cycle of Calls that cannot run. The place is the Call that will be blocked: a Call
// that delays the skipping of another, or else the first.
func (f *planDataflow) checkCycles() {
	reported := map[int]bool{}
	for n := range f.calls {
		if f.canRun[n] || !f.facts[n].appliesToInstance || reported[n] {
			continue
		}
		cycle := f.shortestCycle(n)
		if cycle == nil {
			continue
		}
		if at := slices.IndexFunc(cycle, func(e dependencyEdge) bool { return e.delaysSkip }); at >= 0 {
			n, cycle = cycle[at].writer, slices.Concat(cycle[at+1:], cycle[:at+1])
		}
		var calls []*planCall
		mayBreak := false
		for _, e := range cycle {
			calls = append(calls, f.calls[e.writer])
			reported[e.writer] = true
			// a Call that can run may write the value first, so that this Call waits for nothing
			mayBreak = mayBreak || len(f.earlierWriters(e.writer, true)) > 0
		}
		slices.Reverse(calls) // the search goes from readers to writers; the message follows the data
		s := f.calls[n]
		f.reportFinding(s, cycle[0].location, mayBreak,
			"a cycle: %s; each waits for the one before it, so none can start: have one of them read something else",
			strings.Join(jsonval.Map(append(calls, s), (*planCall).String), " → "))
	}
}

func (s *planCall) mayWrite(p jsonval.Path) bool {
	return slices.ContainsFunc(s.outputPath.Paths(), p.Overlaps)
}

// shortestCycle returns the shortest path along dependencyEdges from a Call back to itself, or nil.
func (f *planDataflow) shortestCycle(start int) []dependencyEdge {
	visited := map[int]bool{}
	for queue := [][]dependencyEdge{nil}; len(queue) > 0; queue = queue[1:] {
		path, reader := queue[0], start
		if len(path) > 0 {
			reader = path[len(path)-1].writer
		}
		for _, e := range f.dependencyEdges(reader) {
			extended := append(slices.Clip(path), e)
			if e.writer == start {
				return extended
			}
			if !visited[e.writer] {
				visited[e.writer] = true
				queue = append(queue, extended)
			}
		}
	}
	return nil
}
