package harden

import (
	"slices"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// proveByReplay replays the common Plan in every instance, with the results that the Calls had there. It first drops,
// until nothing more is to drop, the Calls that nothing supplies with input and those that would run in an instance
// that never planned them. Then it records every instance that does not reach the State it ended with.
func (h *hardener) proveByReplay() {
	for dropped := true; dropped; {
		dropped = h.dropCallsWithoutInput()
		if !dropped {
			dropped = h.dropUnplannedCalls()
		}
	}
	for _, r := range h.instances {
		h.reportHumanOverrides(r)
		replayed, _ := h.replay(r)
		if f := replayed.PlanFailure(); f != nil {
			h.addNotGeneralized([]*instanceRun{r}, "something failed, and no alternative was planned for it: %s", f.Message)
		}
		// If something is recorded for the instance already, a different State is to be expected.
		if !jsonval.Equal(replayed.State(), r.finalState) && !h.hasReportedDifference(r) {
			h.addNotGeneralized([]*instanceRun{r}, "the Plan comes to another State: %s", differingKeys(replayed.State(), r.finalState))
		}
	}
}

// reportHumanOverrides records decisions of people that the Plan does not reproduce.
func (h *hardener) reportHumanOverrides(r *instanceRun) {
	for _, recorded := range r.recordedCalls {
		for _, decision := range recorded.decisions {
			if decision.Kind != ideafile.Approve {
				h.addNotGeneralized([]*instanceRun{r}, "%s: a person decided otherwise: %s", recorded.call.Tool, decision.Kind)
			}
		}
	}
}

func (h *hardener) hasReportedDifference(r *instanceRun) bool {
	for _, difference := range h.notGeneralized {
		if slices.Contains(difference.Instances, r.name) {
			return true
		}
	}
	return false
}

// dropUnplannedCalls drops Calls that would run in an instance that ended without them.
func (h *hardener) dropUnplannedCalls() bool {
	unplanned := map[*commonCall]bool{}
	for _, r := range h.instances {
		_, calls := h.replay(r)
		for _, c := range calls {
			unplanned[c] = true
		}
	}
	return h.dropCalls(func(c *commonCall) bool {
		if unplanned[c] {
			var ran []*instanceRun
			for _, r := range h.instances {
				if recorded := c.recordedByInstance[r]; recorded != nil && (recorded.status == ideafile.Done || recorded.status == ideafile.Failed) {
					ran = append(ran, r)
				}
			}
			h.addNotGeneralized(ran, "%s: it ran in some instances alone, and nothing tells which", c)
		}
		return unplanned[c]
	})
}

// dropCallsWithoutInput drops Calls that read something that is in no State at the start and that no Call writes.
func (h *hardener) dropCallsWithoutInput() bool {
	return h.dropCalls(func(c *commonCall) bool {
		list, _ := refexpr.Expressions(jsonval.WithoutKey(jsonval.WithoutKey(c.raw, "_outputPath"), "_scopes"))
		for _, e := range list {
			if !h.canBePresent(c, e) {
				h.addNotGeneralized(nil, "%s: nothing is left that writes %s", c, e)
				return true
			}
		}
		return false
	})
}

func (h *hardener) dropCalls(shouldDrop func(*commonCall) bool) bool {
	var kept []*commonCall
	for _, c := range h.calls {
		if !shouldDrop(c) {
			kept = append(kept, c)
		}
	}
	dropped := len(kept) < len(h.calls)
	h.calls = kept
	return dropped
}

func (h *hardener) canBePresent(reader *commonCall, e refexpr.Expression) bool {
	for _, terms := range e {
		allPresent := true
		for _, ref := range terms {
			allPresent = allPresent && (ref.Kind != ideafile.TypeState || h.presentAtStart(ref) || h.writtenByOther(reader, ref.Path))
		}
		if allPresent {
			return true
		}
	}
	return false
}

func (h *hardener) presentAtStart(ref refexpr.Reference) bool {
	for _, r := range h.instances {
		if _, ok := jsonval.Lookup(r.startView.Payload[ideafile.TypeState], ref.Path); ok {
			return true
		}
	}
	return false
}

func (h *hardener) writtenByOther(reader *commonCall, p jsonval.Path) bool {
	for _, c := range h.calls {
		for _, q := range c.paths() {
			if c != reader && q.Overlaps(p) {
				return true
			}
		}
	}
	return false
}

// paths lists the paths to which a Call's result may go.
func (c *commonCall) paths() []jsonval.Path {
	//workflowcheck:ignore -- all recorded Calls have the same paths
	for _, t := range c.recordedByInstance {
		return t.call.OutputPath.Paths()
	}
	return nil
}

// replay runs the Plan in an instance with the known results, and lists the Calls that would run and have none.
func (h *hardener) replay(r *instanceRun) (*dataflow.Instance, []*commonCall) {
	palette := ideafile.Palette{Bindings: map[string]ideafile.Binding{}, UntargetedForAll: true}
	for _, known := range r.process.lastIdea.Tools {
		tool := *known
		tool.Approval = nil
		palette.Tools = append(palette.Tools, &tool)
		palette.Bindings[tool.Name] = ideafile.Binding{Kind: ideafile.KindGo}
	}
	plan := ideafile.Message{Type: ideafile.TypePlan, Stage: ideafile.StageOptimal, Calls: ideafile.ParseWrittenCalls(h.planCalls())}
	instance := dataflow.New(palette, append(r.startMessages[:len(r.startMessages):len(r.startMessages)], plan), r.token)
	instance.StartDirectPlan()
	var unplanned []*commonCall
	for batch := instance.Advance(); len(batch) > 0; batch = instance.Advance() {
		for _, ready := range batch {
			c := h.calls[ready.Record.Index-1]
			switch recorded := c.recordedByInstance[r]; {
			case recorded != nil && recorded.status == ideafile.Done && recorded.hasResult:
				instance.Succeed(ready.Record.ID, recorded.result)
			case recorded != nil && recorded.status == ideafile.Failed:
				instance.Fail(ready.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "%s failed", c))
			default:
				unplanned = append(unplanned, c)
				instance.Fail(ready.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "nobody knows what %s gives", c))
			}
		}
	}
	return instance, unplanned
}

func (h *hardener) planCalls() []any {
	calls := []any{}
	for _, c := range h.calls {
		calls = append(calls, c.raw)
	}
	return calls
}

// differingKeys names the top-level keys in which two States differ.
func differingKeys(a, b any) string {
	x, y := jsonval.AsObject(a), jsonval.AsObject(b)
	var names []string
	for _, k := range jsonval.SortedKeys(x) {
		if v, ok := y[k]; !ok || !jsonval.Equal(v, x[k]) {
			names = append(names, refexpr.Reference{Kind: ideafile.TypeState, Path: jsonval.Path{k}}.String())
		}
	}
	for _, k := range jsonval.SortedKeys(y) {
		if _, ok := x[k]; !ok {
			names = append(names, refexpr.Reference{Kind: ideafile.TypeState, Path: jsonval.Path{k}}.String())
		}
	}
	return diag.SomeOf(names)
}
