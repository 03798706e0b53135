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
func (f *planDataflow) possibleWriters(callIndex int, ref refexpr.Reference) []int {
	if key, isCall := ideafile.CallOfReference(ref); isCall {
		index := slices.IndexFunc(f.calls, func(s *planCall) bool { return s.isCall() && s.index == key.Index-1 })
		if index < 0 || !f.startStatusByCall[index].appliesToInstance {
			return nil
		}
		return []int{index}
	}
	if ref.Kind != ideafile.TypeState {
		return nil
	}
	var writers []int
	for writer, s := range f.calls {
		startStatus := f.startStatusByCall[writer]
		if writer == callIndex || !slices.ContainsFunc(startStatus.writablePaths, ref.Path.Overlaps) ||
			!startStatus.appliesToInstance || startStatus.isSkipped || startStatus.isBlocked {
			continue
		}
		if !s.isUpdate() || writer < callIndex {
			writers = append(writers, writer)
		}
	}
	return writers
}

// markRunnable marks the Calls that can run: the least fixed point, starting from the Calls whose reads are all
// present. A Call with a reported error already counts as runnable, so that its readers are not blamed.
func (f *planDataflow) markRunnable() {
	for changed := true; changed; {
		changed = false
		for n, s := range f.calls {
			if f.startStatusByCall[n].appliesToInstance && !f.canRunByCall[n] &&
				(s.isInvalid || f.startStatusByCall[n].outsideSchemaReason != "" || len(f.unsatisfiedReads(n)) == 0) {
				f.canRunByCall[n], changed = true, true
			}
		}
	}
}

// unsatisfiedReads lists the reads of a Call in which every alternative has missing terms.
func (f *planDataflow) unsatisfiedReads(callIndex int) []int {
	var indexes []int
	isSkipped := f.isSkippedAtStart(callIndex) && len(f.earlierWriters(callIndex, false)) == 0
	for r, startStatus := range f.startStatusByCall[callIndex].reads {
		isSatisfied := isSkipped
		for i := range startStatus {
			isSatisfied = isSatisfied || len(f.termsWithoutWriter(callIndex, r, i)) == 0
		}
		if !isSatisfied {
			indexes = append(indexes, r)
		}
	}
	return indexes
}

// earlierWriters lists the earlier Calls that may write where a Call does, and that can run or, with canRunByCall
// false, cannot. The Call finds its path closed only after those that cannot run.
func (f *planDataflow) earlierWriters(callIndex int, canRun bool) []int {
	var list []int
	for earlier, s := range f.calls[:callIndex] {
		mayOverlap := slices.ContainsFunc(f.calls[callIndex].outputPath.Paths(), s.mayWrite)
		if mayOverlap && f.startStatusByCall[earlier].appliesToInstance && f.canRunByCall[earlier] == canRun {
			list = append(list, earlier)
		}
	}
	return list
}

// termsWithoutWriter lists the terms of an alternative that are not present and that no runnable Call writes.
func (f *planDataflow) termsWithoutWriter(callIndex, readIndex, alternative int) []refexpr.Reference {
	var terms []refexpr.Reference
	canRun := func(w int) bool { return f.canRunByCall[w] }
	for t, startStatus := range f.startStatusByCall[callIndex].reads[readIndex][alternative] {
		ref := f.calls[callIndex].reads[readIndex].expr[alternative][t]
		if !startStatus.isPresent && startStatus.neverPresentReason == "" &&
			!slices.ContainsFunc(f.possibleWriters(callIndex, ref), canRun) {
			terms = append(terms, ref)
		}
	}
	return terms
}

// dependencyEdge is why a Call waits for writer: writer would write what the Call reads, or it delays that the Call is
// skipped.
type dependencyEdge struct {
	writer     int
	location   string // the JSON path of the part that waits
	delaysSkip bool
}

func (f *planDataflow) dependencyEdges(callIndex int) []dependencyEdge {
	var out []dependencyEdge
	if f.isSkippedAtStart(callIndex) {
		for _, w := range f.earlierWriters(callIndex, false) {
			out = append(out, dependencyEdge{w, f.calls[callIndex].outputLocation, true})
		}
		return out // it no longer needs what it reads
	}
	for _, r := range f.unsatisfiedReads(callIndex) {
		for i := range f.startStatusByCall[callIndex].reads[r] {
			for _, ref := range f.termsWithoutWriter(callIndex, r, i) {
				for _, w := range f.possibleWriters(callIndex, ref) {
					out = append(out, dependencyEdge{w, f.calls[callIndex].reads[r].location, false})
				}
			}
		}
	}
	return out
}

// checkCycles reports, once, every cycle of Calls that cannot run. The place is the Call that will be blocked: a Call
// that delays the skipping of another, or else the first.
func (f *planDataflow) checkCycles() {
	isReported := map[int]bool{}
	for n := range f.calls {
		if f.canRunByCall[n] || !f.startStatusByCall[n].appliesToInstance || isReported[n] {
			continue
		}
		cycle := f.shortestCycle(n)
		if cycle == nil {
			continue
		}
		if index := slices.IndexFunc(cycle, func(e dependencyEdge) bool { return e.delaysSkip }); index >= 0 {
			n, cycle = cycle[index].writer, slices.Concat(cycle[index+1:], cycle[:index+1])
		}
		var calls []*planCall
		mayBreak := false
		for _, e := range cycle {
			calls = append(calls, f.calls[e.writer])
			isReported[e.writer] = true
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
