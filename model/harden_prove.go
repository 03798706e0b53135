package model

import "slices"

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
		if f := run.Unmet(); f != nil {
			h.particular([]*hardRun{r}, "something failed, and no alternative was planned for it: %s", f.Message)
		}
		// Of an instance of which something was named that much is clear.
		if !Equal(run.State(), r.final) && !h.named(r) {
			h.particular([]*hardRun{r}, "the Plan comes to another State: %s", differences(run.State(), r.final))
		}
	}
}

// overruled names what people decided in another way than the Plan would have it.
func (h *hardener) overruled(r *hardRun) {
	for _, t := range r.tries {
		for _, d := range t.decided {
			if d.Decision != Approve {
				h.particular([]*hardRun{r}, "%s: a person decided otherwise: %s", t.call.Tool, d.Decision)
			}
		}
	}
}

func (h *hardener) named(r *hardRun) bool {
	for _, p := range h.particulars {
		if slices.Contains(p.Instances, r.name) {
			return true
		}
	}
	return false
}

// dropStrangers leaves out Calls that would run in an instance that came to its end without them.
func (h *hardener) dropStrangers() bool {
	strange := map[*hardCall]bool{}
	for _, r := range h.runs {
		_, extra := h.replay(r)
		for _, c := range extra {
			strange[c] = true
		}
	}
	return h.drop(func(c *hardCall) bool {
		if strange[c] {
			var done []*hardRun
			for _, r := range h.runs {
				if t := c.tries[r]; t != nil && (t.status == Done || t.status == Failed) {
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
	return h.drop(func(c *hardCall) bool {
		list, _ := Expressions(withoutKey(withoutKey(c.raw, "_outputPath"), "_scopes"))
		for _, e := range list {
			if !h.maybeThere(c, e) {
				h.particular(nil, "%s: nothing is left that writes %s", c, e)
				return true
			}
		}
		return false
	})
}

func (h *hardener) drop(which func(*hardCall) bool) bool {
	var kept []*hardCall
	for _, c := range h.calls {
		if !which(c) {
			kept = append(kept, c)
		}
	}
	dropped := len(kept) < len(h.calls)
	h.calls = kept
	return dropped
}

func (h *hardener) maybeThere(reader *hardCall, e Expression) bool {
	for _, all := range e {
		there := true
		for _, ref := range all {
			there = there && (ref.Kind != TypeState || h.startsWith(ref) || h.writtenByOther(reader, ref.Path))
		}
		if there {
			return true
		}
	}
	return false
}

func (h *hardener) startsWith(ref Reference) bool {
	for _, r := range h.runs {
		if _, ok := Lookup(r.start.Payload[TypeState], ref.Path); ok {
			return true
		}
	}
	return false
}

func (h *hardener) writtenByOther(reader *hardCall, p Path) bool {
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
func (c *hardCall) paths() []Path {
	//workflowcheck:ignore -- all have the same
	for _, t := range c.tries {
		return t.call.OutputPath.Paths()
	}
	return nil
}

// replay runs the Plan in an instance with the results that are known, and lists the Calls that would run and have none.
func (h *hardener) replay(r *hardRun) (*Run, []*hardCall) {
	palette := Palette{Bindings: map[string]Binding{}, Template: true}
	for _, t := range r.story.last.Tools {
		tool := *t
		tool.Approval = nil
		palette.Tools = append(palette.Tools, &tool)
		palette.Bindings[t.Name] = Binding{Kind: KindGo}
	}
	plan := Message{Type: TypePlan, Stage: StageOptimal, Calls: h.plan()}
	run := NewRun(palette, append(r.own[:len(r.own):len(r.own)], plan), r.token)
	run.Begin()
	var strange []*hardCall
	for ready := run.Next(); len(ready) > 0; ready = run.Next() {
		for _, one := range ready {
			c := h.calls[one.Record.Index-1]
			switch t := c.tries[r]; {
			case t != nil && t.status == Done && t.hasResult:
				run.Succeed(one.Record.ID, t.result)
			case t != nil && t.status == Failed:
				run.Fail(one.Record.ID, fault(CodeToolFailed, "%s failed", c))
			default:
				strange = append(strange, c)
				run.Fail(one.Record.ID, fault(CodeToolFailed, "nobody knows what %s gives", c))
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
	x, y := asObject(a), asObject(b)
	var names []string
	for _, k := range sortedKeys(x) {
		if v, ok := y[k]; !ok || !Equal(v, x[k]) {
			names = append(names, Reference{TypeState, Path{k}}.String())
		}
	}
	for _, k := range sortedKeys(y) {
		if _, ok := x[k]; !ok {
			names = append(names, Reference{TypeState, Path{k}}.String())
		}
	}
	return someOf(names)
}
