package check

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// possibleWriterIndexes lists the Calls that may still write what a Call reads. It mirrors how a running instance
// decides whether a Call may still write a path (package dataflow).
func (f *planDataflow) possibleWriterIndexes(callIndex int, ref refexpr.Reference) []int {
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
	var writerIndexes []int
	for writerIndex, s := range f.calls {
		startStatus := f.startStatusByCall[writerIndex]
		if writerIndex == callIndex || !slices.ContainsFunc(startStatus.writablePaths, ref.Path.Overlaps) ||
			!startStatus.appliesToInstance || startStatus.isSkipped || startStatus.isBlocked {
			continue
		}
		if !s.isUpdate() || writerIndex < callIndex {
			writerIndexes = append(writerIndexes, writerIndex)
		}
	}
	return writerIndexes
}

// markRunnable marks the Calls that can run: the least fixed point, starting from the Calls whose reads are all
// present. A Call with a reported error already counts as runnable, so that its readers are not blamed.
func (f *planDataflow) markRunnable() {
	for changed := true; changed; {
		changed = false
		for n, s := range f.calls {
			if f.startStatusByCall[n].appliesToInstance && !f.canRunByCall[n] &&
				(s.isInvalid || f.startStatusByCall[n].outsideSchemaReason != "" ||
					len(f.unsatisfiedReadIndexes(n)) == 0) {
				f.canRunByCall[n], changed = true, true
			}
		}
	}
}

// unsatisfiedReadIndexes lists the reads of a Call in which every alternative has missing terms.
func (f *planDataflow) unsatisfiedReadIndexes(callIndex int) []int {
	var indexes []int
	isSkipped := f.isSkippedAtStart(callIndex) && len(f.earlierWriterIndexes(callIndex, false)) == 0
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

// earlierWriterIndexes lists the earlier Calls that may write where a Call does, and that can run or, with canRunByCall
// false, cannot. The Call finds its path closed only after those that cannot run.
func (f *planDataflow) earlierWriterIndexes(callIndex int, canRun bool) []int {
	var indexes []int
	for earlierIndex, s := range f.calls[:callIndex] {
		mayOverlap := slices.ContainsFunc(f.calls[callIndex].outputPath.Paths(), s.mayWrite)
		if mayOverlap && f.startStatusByCall[earlierIndex].appliesToInstance && f.canRunByCall[earlierIndex] == canRun {
			indexes = append(indexes, earlierIndex)
		}
	}
	return indexes
}

// termsWithoutWriter lists the terms of an alternative that are not present and that no runnable Call writes.
func (f *planDataflow) termsWithoutWriter(callIndex, readIndex, alternativeIndex int) []refexpr.Reference {
	var terms []refexpr.Reference
	canRun := func(w int) bool { return f.canRunByCall[w] }
	for t, startStatus := range f.startStatusByCall[callIndex].reads[readIndex][alternativeIndex] {
		ref := f.calls[callIndex].reads[readIndex].expr[alternativeIndex][t]
		if !startStatus.isPresent && startStatus.neverPresentReason == "" &&
			!slices.ContainsFunc(f.possibleWriterIndexes(callIndex, ref), canRun) {
			terms = append(terms, ref)
		}
	}
	return terms
}

// dependencyEdge is why a Call waits for the Call writerIndex: that would write what the Call reads, or it delays that
// the Call is skipped.
type dependencyEdge struct {
	writerIndex         int
	waitingPartJSONPath string // the JSON path of the part that waits
	delaysSkip          bool
}

func (f *planDataflow) dependencyEdges(callIndex int) []dependencyEdge {
	var out []dependencyEdge
	if f.isSkippedAtStart(callIndex) {
		for _, w := range f.earlierWriterIndexes(callIndex, false) {
			out = append(out, dependencyEdge{w, f.calls[callIndex].outputPathLocation, true})
		}
		return out // it no longer needs what it reads
	}
	for _, r := range f.unsatisfiedReadIndexes(callIndex) {
		for i := range f.startStatusByCall[callIndex].reads[r] {
			for _, ref := range f.termsWithoutWriter(callIndex, r, i) {
				for _, w := range f.possibleWriterIndexes(callIndex, ref) {
					out = append(out, dependencyEdge{w, f.calls[callIndex].reads[r].jsonPath, false})
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
			n, cycle = cycle[index].writerIndex, slices.Concat(cycle[index+1:], cycle[:index+1])
		}
		var calls []*planCall
		mayResolveItself := false
		for _, e := range cycle {
			calls = append(calls, f.calls[e.writerIndex])
			isReported[e.writerIndex] = true
			// a Call that can run may write the value first, so that this Call waits for nothing
			mayResolveItself = mayResolveItself || len(f.earlierWriterIndexes(e.writerIndex, true)) > 0
		}
		slices.Reverse(calls) // the search goes from readers to writers; the message follows the data
		s := f.calls[n]
		f.reportFinding(s, cycle[0].waitingPartJSONPath, mayResolveItself,
			"a cycle: %s; each waits for the one before it, so none can start: have one of them read something else",
			strings.Join(jsonval.Map(append(calls, s), (*planCall).String), " → "))
	}
}

func (s *planCall) mayWrite(p jsonval.Path) bool {
	return slices.ContainsFunc(s.outputPath.Paths(), p.Overlaps)
}

// shortestCycle returns the shortest path along dependencyEdges from a Call back to itself, or nil.
func (f *planDataflow) shortestCycle(startIndex int) []dependencyEdge {
	visited := map[int]bool{}
	for queue := [][]dependencyEdge{nil}; len(queue) > 0; queue = queue[1:] {
		path, readerIndex := queue[0], startIndex
		if len(path) > 0 {
			readerIndex = path[len(path)-1].writerIndex
		}
		for _, e := range f.dependencyEdges(readerIndex) {
			extendedPath := append(slices.Clip(path), e)
			if e.writerIndex == startIndex {
				return extendedPath
			}
			if !visited[e.writerIndex] {
				visited[e.writerIndex] = true
				queue = append(queue, extendedPath)
			}
		}
	}
	return nil
}
