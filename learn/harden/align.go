package harden

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// String names a Call as people would: by its tool, where its result goes, and its number among such Calls.
func (c *mergedCall) String() string {
	name := c.key.tool
	if c.key.outputPath != "" {
		name += " → " + c.key.outputPath
	}
	if c.key.occurrenceNumber != 1 {
		name += fmt.Sprintf(" (no. %d)", c.key.occurrenceNumber)
	}
	return name + c.variantSuffix()
}

// instancesWithCall lists, in order, the instances that have recorded a Call.
func (h *hardener) instancesWithCall(call *mergedCall) []*instanceRun {
	return jsonval.Filter(h.instances, func(r *instanceRun) bool { return call.pastCallByInstance[r] != nil })
}

// alignCalls brings the Calls of all instances into one order. It keeps the order within each instance, as far as the
// instances agree.
func (h *hardener) alignCalls() {
	callByKey := map[alignmentKey]*mergedCall{}
	predecessors := map[*mergedCall]map[*mergedCall]bool{}
	for _, instance := range h.instances {
		var previousCall *mergedCall
		occurrenceCountByKey := map[alignmentKey]int{}
		for _, pastCall := range dropReplannedCalls(instance.recordedCalls) {
			key := pastCall.alignmentKey()
			occurrenceCountByKey[key]++
			key.occurrenceNumber = occurrenceCountByKey[key]
			call := callByKey[key]
			if call == nil {
				call = &mergedCall{key: key, pastCallByInstance: map[*instanceRun]*recordedCall{}}
				callByKey[key], predecessors[call] = call, map[*mergedCall]bool{}
				h.mergedCalls = append(h.mergedCalls, call)
			}
			call.pastCallByInstance[instance] = pastCall
			if previousCall != nil {
				predecessors[call][previousCall] = true
			}
			previousCall = call
		}
	}
	h.mergedCalls = orderCalls(h.mergedCalls, predecessors)
	h.dropUnusedCalls()
}

// dropReplannedCalls drops blocked Calls that the instance planned again later: the later Call represents both.
func dropReplannedCalls(recordedCalls []*recordedCall) []*recordedCall {
	var remaining []*recordedCall
	for n, pastCall := range recordedCalls {
		hasSameKey := func(later *recordedCall) bool { return later.alignmentKey() == pastCall.alignmentKey() }
		if pastCall.Status != ideafile.CallBlocked || !slices.ContainsFunc(recordedCalls[n+1:], hasSameKey) {
			remaining = append(remaining, pastCall)
		}
	}
	return remaining
}

// alignmentKey is the Call's key without its number.
func (c *recordedCall) alignmentKey() alignmentKey {
	key := alignmentKey{tool: c.parsedCall.Tool, outputMethod: c.parsedCall.OutputMethod}
	if len(c.parsedCall.OutputPath) > 0 {
		key.outputPath = c.parsedCall.OutputPath.ReferenceText()
	}
	return key
}

// orderCalls sorts the Calls topologically. Among Calls that are ready, and within a cycle, the Call that was found
// first comes first.
func orderCalls(calls []*mergedCall, predecessors map[*mergedCall]map[*mergedCall]bool) []*mergedCall {
	var orderedCalls []*mergedCall
	for remaining := slices.Clone(calls); len(remaining) > 0; {
		readyIndex := slices.IndexFunc(remaining, func(c *mergedCall) bool {
			return !slices.ContainsFunc(remaining, func(o *mergedCall) bool { return predecessors[c][o] })
		})
		nextIndex := max(readyIndex, 0)
		orderedCalls = append(orderedCalls, remaining[nextIndex])
		remaining = slices.Delete(remaining, nextIndex, nextIndex+1)
	}
	return orderedCalls
}

// dropUnusedCalls drops the Calls that never ran and were nowhere skipped because another Call had written their path.
// A Call that ran and failed wherever it was planned stays: its Tool may have been broken only at that time.
func (h *hardener) dropUnusedCalls() {
	h.dropCalls(func(c *mergedCall) bool {
		instances := h.instancesWithCall(c)
		instanceSummary := diag.SummarizeNames(instanceNames(instances))
		switch {
		case c.endedWithAny(ideafile.CallDone, ideafile.CallSkipped):
			return false
		case c.endedWithAny(ideafile.CallFailed):
			h.addNote(
				"%s failed wherever it was planned (%s): it stays in the Plan, before what was planned in its place",
				c, instanceSummary)
			return false
		}
		h.addNote("left out: %s, which never ran (planned in %s)", c, instanceSummary)
		return true
	})
}

// endedWithAny reports whether the Call has one of these statuses in any instance.
func (c *mergedCall) endedWithAny(statuses ...ideafile.CallStatus) bool {
	//workflowcheck:ignore -- the order does not matter
	for _, pastCall := range c.pastCallByInstance {
		if slices.Contains(statuses, pastCall.Status) {
			return true
		}
	}
	return false
}

func instanceNames(instances []*instanceRun) []string {
	return jsonval.Map(instances, func(r *instanceRun) string { return r.displayName })
}
