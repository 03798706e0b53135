package model

import (
	"fmt"
	"slices"
)

// This file reads chains: what every instance began with, the Calls it had with what became of them, and how it ended.

func (h *hardener) read(given Story) error {
	s := &story{Story: given}
	if len(s.Ideas) == 0 {
		return fmt.Errorf("it has no Ideas")
	}
	s.first, _ = ReadIdea(s.Ideas[0])
	s.last, _ = ReadIdea(s.Ideas[len(s.Ideas)-1])
	if s.first.Simulated != nil || s.last.Simulated != nil {
		return fmt.Errorf("it was simulated: its values are made up, and no Tool ran")
	}
	if len(h.stories) > 0 && !Equal(h.stories[0].last.Source["schema"], s.last.Source["schema"]) {
		return fmt.Errorf("its Tools or its output form are others than those of %s", h.stories[0].Process)
	}
	h.stories = append(h.stories, s)
	if err := h.begin(s); err != nil {
		return err
	}
	for _, r := range s.runs {
		h.readTries(r)
	}
	h.runs = append(h.runs, s.runs...)
	return nil
}

// begin finds the instances that settled, and what they began with.
func (h *hardener) begin(s *story) error {
	starts := map[string]*Idea{}
	for _, source := range s.Ideas {
		idea, _ := ReadIdea(source)
		for _, token := range idea.Tokens() {
			if starts[token] == nil {
				starts[token] = idea
			}
		}
		for _, m := range idea.Context {
			if m.direct() {
				return fmt.Errorf("it ran by a Plan of its own, without the LLM")
			}
		}
	}
	ended := endings(s.last)
	for _, token := range s.last.Tokens() {
		switch status := ended[token]; status {
		case InstanceSettled:
			r := &hardRun{story: s, token: token}
			r.start = ViewOf(starts[token].Context, token)
			r.own = beginning(starts[token].Context, token)
			if r.final = ViewOf(s.last.Context, token).Payload[TypeState]; r.final == nil {
				r.final = map[string]any{}
			}
			s.runs = append(s.runs, r)
		case InstanceFailed:
			h.note("left out: instance %q of %s, which failed", token, s.Process)
		default:
			return fmt.Errorf("it has not finished")
		}
	}
	return nil
}

// endings says how every instance ended: by its own word, or, where the last Idea was of a Request that planned nothing more, as
// settled.
func endings(last *Idea) map[string]InstanceStatus {
	out := map[string]InstanceStatus{}
	calls, _ := asObject(last.Source["solution"])["calls"].([]any)
	for _, token := range last.Tokens() {
		if len(calls) == 0 {
			out[token] = InstanceSettled
		}
		for _, m := range last.Context {
			if m.Kind == TypeState && m.Instance == token && m.Status != "" {
				out[token] = m.Status
			}
		}
	}
	return out
}

// beginning is what an instance saw, as Messages: data alone.
func beginning(context []Message, token string) []Message {
	var out []Message
	for _, m := range context {
		if m.Kind != "" && (m.Instance == "" || m.Instance == token) {
			out = append(out, m)
		}
	}
	return out
}

// readTries lists the Calls of an instance that could have run, the latest word on each.
func (h *hardener) readTries(r *hardRun) {
	known := map[[2]int]*hardTry{}
	for _, source := range r.story.Ideas {
		idea, _ := ReadIdea(source)
		for _, m := range idea.Context {
			if m.isRecord() {
				r.readRecord(m, idea.Tokens(), known)
			}
		}
		r.readSolution(idea, known)
	}
	var all []*hardTry
	palette := Palette{Tools: r.story.last.Tools, Bindings: h.bindings, Tokens: []string{r.token}, Template: true}
	//workflowcheck:ignore -- sorted below
	for _, t := range known {
		var f *Fault
		if t.call, _, f = palette.Read(withoutKey(t.raw, "_instance")); f == nil {
			t.call.ID = CallID(t.request, t.index, r.token)
			r.readResult(t)
			all = append(all, t)
		}
	}
	sortTries(all)
	r.tries = fold(all)
}

func (r *hardRun) readRecord(m Message, tokens []string, known map[[2]int]*hardTry) {
	for _, p := range pastOf(m, tokens) {
		status, here := p.how[r.token]
		if !here {
			continue
		}
		t := &hardTry{request: p.request, index: p.index, raw: asObject(p.call), status: status, decided: p.decisions[r.token]}
		t.result, t.hasResult = p.results[r.token]
		known[[2]int{p.request, p.index}] = t
	}
}

// readSolution takes in the Calls of a solution of which no record tells later: the log or the State says whether they are done.
func (r *hardRun) readSolution(idea *Idea, known map[[2]int]*hardTry) {
	meta := asObject(idea.Source["meta"])
	n, err := floatOf(meta["request"])
	if err != nil {
		return
	}
	calls, _ := asObject(idea.Source["solution"])["calls"].([]any)
	for k, raw := range calls {
		at := [2]int{int(n), k + 1}
		if known[at] == nil && slices.Contains(targetsOf(raw, idea.Tokens()), r.token) {
			known[at] = &hardTry{request: at[0], index: at[1], raw: asObject(raw), status: Done}
		}
	}
}

// readResult finds what a Call gave: in the log, or in the State at its path.
func (r *hardRun) readResult(t *hardTry) {
	if t.status != Done || t.hasResult {
		return
	}
	for _, e := range r.story.Log {
		if e.By == t.call.ID && e.Instance == r.token {
			t.result, t.hasResult = t.call.OutputPath.told(e.Path, e.Value), true
			return
		}
	}
	if t.call.Method != "" || t.call.OutputPath.whole() {
		return
	}
	for _, p := range t.call.OutputPath.Paths() {
		if v, ok := Lookup(r.final, p); ok {
			t.result, t.hasResult = t.call.OutputPath.told(p, v), true
			return
		}
	}
	t.hasResult = len(t.call.OutputPath) == 0
}

// told is a value that went to one of several branches as the result that sends it there.
func (o OutputPath) told(p Path, value any) any {
	if !o.branches() {
		return value
	}
	for _, branch := range o {
		for _, q := range branch {
			if q.String() == p.String() {
				return map[string]any{branchKey: OutputPath{branch}.Reference(), resultKey: value}
			}
		}
	}
	return value
}

// fold drops what an instance had for nothing: Calls for a place that another one of the same tool filled, and repeats.
func fold(all []*hardTry) []*hardTry {
	var out []*hardTry
	for n, t := range all {
		vain := false
		for k, o := range all {
			same := k != n && o.key() == t.key()
			equal := same && Equal(o.call.Params, t.call.Params)
			switch {
			case same && o.status == Done && t.status != Done && (t.status != Failed || equal):
				vain = true
			case equal && k < n && (o.status == t.status && t.status != Done || t.once() && o.status == Done):
				vain = true
			}
		}
		if !vain {
			out = append(out, t)
		}
	}
	return out
}

// once says whether a Call writes what is then closed: a second one like it changes nothing.
func (t *hardTry) once() bool {
	return len(t.call.OutputPath) > 0 && !isUpdate(t.call.Method, t.call.OutputPath[0][0])
}
