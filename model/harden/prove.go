package harden

import (
	"slices"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file replays the common Plan in every instance with the results that its Calls had there: what does not come to the
// same end is named.

// prove leaves out the Calls that would run where nobody had planned them, and those that read what nobody writes any
// more, until none is left; then it names every instance that would end in another way.
func (h *hardener) prove() {
	for h.dropOrphans() || h.dropStrangers() {
	}
	for _, r := range h.runs {
		h.overruled(r)
		run, _ := h.replay(r)
		if f := run.PlanFailure(); f != nil {
			h.particular([]*instanceRun{r}, "something failed, and no alternative was planned for it: %s", f.Message)
		}
		// Of an instance of which something was named that much is clear.
		if !jsonval.Equal(run.State(), r.final) && !h.named(r) {
			h.particular([]*instanceRun{r}, "the Plan comes to another State: %s", differences(run.State(), r.final))
		}
	}
}

// overruled names what people decided in another way than the Plan would have it.
func (h *hardener) overruled(r *instanceRun) {
	for _, t := range r.tries {
		for _, d := range t.decided {
			if d.Kind != ideafile.Approve {
				h.particular([]*instanceRun{r}, "%s: a person decided otherwise: %s", t.call.Tool, d.Kind)
			}
		}
	}
}

func (h *hardener) named(r *instanceRun) bool {
	for _, p := range h.particulars {
		if slices.Contains(p.Instances, r.name) {
			return true
		}
	}
	return false
}

// dropStrangers leaves out Calls that would run in an instance that came to its end without them.
func (h *hardener) dropStrangers() bool {
	strange := map[*commonCall]bool{}
	for _, r := range h.runs {
		_, extra := h.replay(r)
		for _, c := range extra {
			strange[c] = true
		}
	}
	return h.drop(func(c *commonCall) bool {
		if strange[c] {
			var done []*instanceRun
			for _, r := range h.runs {
				if t := c.tries[r]; t != nil && (t.status == ideafile.Done || t.status == ideafile.Failed) {
					done = append(done, r)
				}
			}
			h.particular(done, "%s: it ran in some instances alone, and nothing tells which", c)
		}
		return strange[c]
	})
}

// dropOrphans leaves out Calls that read what stands in no instance at the start and no Call writes.
func (h *hardener) dropOrphans() bool {
	return h.drop(func(c *commonCall) bool {
		list, _ := refexpr.Expressions(jsonval.WithoutKey(jsonval.WithoutKey(c.raw, "_outputPath"), "_scopes"))
		for _, e := range list {
			if !h.maybeThere(c, e) {
				h.particular(nil, "%s: nothing is left that writes %s", c, e)
				return true
			}
		}
		return false
	})
}

func (h *hardener) drop(which func(*commonCall) bool) bool {
	var kept []*commonCall
	for _, c := range h.calls {
		if !which(c) {
			kept = append(kept, c)
		}
	}
	dropped := len(kept) < len(h.calls)
	h.calls = kept
	return dropped
}

func (h *hardener) maybeThere(reader *commonCall, e refexpr.Expression) bool {
	for _, all := range e {
		there := true
		for _, ref := range all {
			there = there && (ref.Kind != ideafile.TypeState || h.startsWith(ref) || h.writtenByOther(reader, ref.Path))
		}
		if there {
			return true
		}
	}
	return false
}

func (h *hardener) startsWith(ref refexpr.Reference) bool {
	for _, r := range h.runs {
		if _, ok := jsonval.Lookup(r.start.Payload[ideafile.TypeState], ref.Path); ok {
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

// paths lists where a Call's result may go.
func (c *commonCall) paths() []jsonval.Path {
	//workflowcheck:ignore -- all have the same
	for _, t := range c.tries {
		return t.call.OutputPath.Paths()
	}
	return nil
}

// replay runs the Plan in an instance with the results that are known, and lists the Calls that would run and have none.
func (h *hardener) replay(r *instanceRun) (*dataflow.Instance, []*commonCall) {
	palette := ideafile.Palette{Bindings: map[string]ideafile.Binding{}, UntargetedForAll: true}
	for _, t := range r.story.last.Tools {
		tool := *t
		tool.Approval = nil
		palette.Tools = append(palette.Tools, &tool)
		palette.Bindings[t.Name] = ideafile.Binding{Kind: ideafile.KindGo}
	}
	plan := ideafile.Message{Type: ideafile.TypePlan, Stage: ideafile.StageOptimal, Calls: ideafile.ParseWrittenCalls(h.plan())}
	run := dataflow.New(palette, append(r.own[:len(r.own):len(r.own)], plan), r.token)
	run.StartDirectPlan()
	var strange []*commonCall
	for ready := run.Advance(); len(ready) > 0; ready = run.Advance() {
		for _, one := range ready {
			c := h.calls[one.Record.Index-1]
			switch t := c.tries[r]; {
			case t != nil && t.status == ideafile.Done && t.hasResult:
				run.Succeed(one.Record.ID, t.result)
			case t != nil && t.status == ideafile.Failed:
				run.Fail(one.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "%s failed", c))
			default:
				strange = append(strange, c)
				run.Fail(one.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "nobody knows what %s gives", c))
			}
		}
	}
	return run, strange
}

func (h *hardener) plan() []any {
	calls := []any{}
	for _, c := range h.calls {
		calls = append(calls, c.raw)
	}
	return calls
}

// differences names the top-level keys in which two States differ.
func differences(a, b any) string {
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
