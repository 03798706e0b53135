package harden

import (
	"fmt"
	"sort"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// String names a Call as people would: its tool, and where its result goes.
func (c *commonCall) String() string {
	tool, path, _ := strings.Cut(c.key, "\x00")
	path, _, _ = strings.Cut(path, "\x00")
	if path != "" {
		return tool + " → " + path
	}
	return tool
}

// instancesByCall lists, in order, the instances that have and have not recorded a Call.
func (h *hardener) instancesByCall(call *commonCall) (with, without []*instanceRun) {
	for _, instance := range h.instances {
		if call.recordedByInstance[instance] != nil {
			with = append(with, instance)
		} else {
			without = append(without, instance)
		}
	}
	return with, without
}

// alignCalls brings the Calls of all instances into one order that keeps the order within each instance, as far as the
// instances agree.
func (h *hardener) alignCalls() {
	callsByKey := map[string]*commonCall{}
	predecessors := map[*commonCall]map[*commonCall]bool{}
	for _, instance := range h.instances {
		var previous *commonCall
		for _, keyed := range keyCalls(instance.recordedCalls) {
			call := callsByKey[keyed.key]
			if call == nil {
				call = &commonCall{key: keyed.key, recordedByInstance: map[*instanceRun]*recordedCall{}}
				callsByKey[keyed.key], predecessors[call] = call, map[*commonCall]bool{}
				h.calls = append(h.calls, call)
			}
			call.recordedByInstance[instance] = keyed.recorded
			if previous != nil {
				predecessors[call][previous] = true
			}
			previous = call
		}
	}
	h.calls = orderCalls(h.calls, predecessors)
	h.dropUnusedCalls()
}

// keyedCall is a recorded Call with the key of the commonCall it belongs to.
type keyedCall struct {
	key      string
	recorded *recordedCall
}

// keyCalls numbers the Calls with the same tool, path and method: the nth of one instance corresponds to the nth of
// another.
func keyCalls(recordedCalls []*recordedCall) []keyedCall {
	count := map[string]int{}
	var out []keyedCall
	for _, recorded := range recordedCalls {
		key := recorded.alignmentKey()
		count[key]++
		out = append(out, keyedCall{fmt.Sprintf("%s\x00%d", key, count[key]), recorded})
	}
	return out
}

func (a *recordedCall) alignmentKey() string {
	path := ""
	if len(a.call.OutputPath) > 0 {
		path = a.call.OutputPath.Reference()
	}
	return a.call.Tool + "\x00" + path + "\x00" + a.call.OutputMethod
}

// orderCalls sorts the Calls topologically. Among Calls that are ready, and within a cycle, the first one known comes
// first.
func orderCalls(calls []*commonCall, predecessors map[*commonCall]map[*commonCall]bool) []*commonCall {
	var out []*commonCall
	placed := map[*commonCall]bool{}
	for len(out) < len(calls) {
		next := nextCall(calls, predecessors, placed)
		placed[next] = true
		out = append(out, next)
	}
	return out
}

func nextCall(calls []*commonCall, predecessors map[*commonCall]map[*commonCall]bool, placed map[*commonCall]bool) *commonCall {
	var first *commonCall
	for _, c := range calls {
		if placed[c] {
			continue
		}
		if first == nil {
			first = c
		}
		ready := true
		//workflowcheck:ignore -- visits all: the order does not matter
		for predecessor := range predecessors[c] {
			ready = ready && placed[predecessor]
		}
		if ready {
			return c
		}
	}
	return first
}

// dropUnusedCalls drops the Calls that are nowhere done and nowhere skipped because another Call had written their
// path.
func (h *hardener) dropUnusedCalls() {
	var kept []*commonCall
	for _, c := range h.calls {
		used := false
		//workflowcheck:ignore -- visits all: the order does not matter
		for _, recorded := range c.recordedByInstance {
			used = used || recorded.status == ideafile.Done || recorded.status == ideafile.Skipped
		}
		if used {
			kept = append(kept, c)
			continue
		}
		planned, _ := h.instancesByCall(c)
		h.addNote("left out: %s, which came to a result in no instance (planned in %s)", c, diag.SomeOf(instanceNames(planned)))
	}
	h.calls = kept
}

func instanceNames(instances []*instanceRun) []string {
	names := make([]string, len(instances))
	for n, r := range instances {
		names[n] = r.name
	}
	return names
}

func sortByPosition(recordedCalls []*recordedCall) {
	sort.SliceStable(recordedCalls, func(a, b int) bool {
		if recordedCalls[a].request != recordedCalls[b].request {
			return recordedCalls[a].request < recordedCalls[b].request
		}
		return recordedCalls[a].index < recordedCalls[b].index
	})
}
