package harden

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// This file reads chains: what every instance began with, the Calls it had with what became of them, and how it ended.

func (h *hardener) read(given FinishedRun) error {
	s := &story{FinishedRun: given}
	if len(s.Ideas) == 0 {
		return fmt.Errorf("it has no Ideas")
	}
	s.first, _ = ideafile.ReadIdea(s.Ideas[0])
	s.last, _ = ideafile.ReadIdea(s.Ideas[len(s.Ideas)-1])
	if s.first.Simulated != nil || s.last.Simulated != nil {
		return fmt.Errorf("it was simulated: its values are made up, and no Tool ran")
	}
	if len(h.stories) > 0 && !jsonval.Equal(h.stories[0].last.Source["schema"], s.last.Source["schema"]) {
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
	starts := map[string]*ideafile.Idea{}
	for _, source := range s.Ideas {
		idea, _ := ideafile.ReadIdea(source)
		for _, token := range idea.Tokens() {
			if starts[token] == nil {
				starts[token] = idea
			}
		}
		for _, m := range idea.Context {
			if m.RunsDirectly() {
				return fmt.Errorf("it ran by a Plan of its own, without the LLM")
			}
		}
	}
	ended := endings(s.last)
	for _, token := range s.last.Tokens() {
		switch status := ended[token]; status {
		case ideafile.InstanceSettled:
			r := &instanceRun{story: s, token: token}
			r.start = ideafile.ViewOf(starts[token].Context, token)
			r.own = beginning(starts[token].Context, token)
			if r.final = ideafile.ViewOf(s.last.Context, token).Payload[ideafile.TypeState]; r.final == nil {
				r.final = map[string]any{}
			}
			s.runs = append(s.runs, r)
		case ideafile.InstanceFailed:
			h.note("left out: instance %q of %s, which failed", token, s.Process)
		default:
			return fmt.Errorf("it has not finished")
		}
	}
	return nil
}

// endings says how every instance ended: by its own word, or, where the last Idea was of a Request that planned nothing more, as
// settled.
func endings(last *ideafile.Idea) map[string]ideafile.InstanceStatus {
	out := map[string]ideafile.InstanceStatus{}
	calls, _ := jsonval.AsObject(last.Source["solution"])["calls"].([]any)
	for _, token := range last.Tokens() {
		if len(calls) == 0 {
			out[token] = ideafile.InstanceSettled
		}
		for _, m := range last.Context {
			if m.Kind == ideafile.TypeState && m.Instance == token && m.Status != "" {
				out[token] = m.Status
			}
		}
	}
	return out
}

// beginning is what an instance saw, as Messages: data alone.
func beginning(context []ideafile.Message, token string) []ideafile.Message {
	var out []ideafile.Message
	for _, m := range context {
		if m.Kind != "" && (m.Instance == "" || m.Instance == token) {
			out = append(out, m)
		}
	}
	return out
}

// readTries lists the Calls of an instance that could have run, the latest word on each.
func (h *hardener) readTries(r *instanceRun) {
	known := map[ideafile.CallKey]*callAttempt{}
	for _, source := range r.story.Ideas {
		idea, _ := ideafile.ReadIdea(source)
		for _, m := range idea.Context {
			if m.IsPlanRecord() {
				r.readRecord(m, idea.Tokens(), known)
			}
		}
		r.readSolution(idea, known)
	}
	var all []*callAttempt
	palette := ideafile.Palette{Tools: r.story.last.Tools, Bindings: h.bindings, Tokens: []string{r.token}, UntargetedForAll: true}
	//workflowcheck:ignore -- sorted below
	for _, t := range known {
		var f *diag.Fault
		if t.call, _, f = palette.Read(ideafile.ParseWrittenCall(t.raw).WithoutTarget()); f == nil {
			t.call.ID = ideafile.CallID(t.request, t.index, r.token)
			r.readResult(t)
			all = append(all, t)
		}
	}
	sortTries(all)
	r.tries = fold(all)
}

func (r *instanceRun) readRecord(m ideafile.Message, tokens []string, known map[ideafile.CallKey]*callAttempt) {
	for _, p := range turn.PastCalls(m, tokens) {
		status, here := p.Status[r.token]
		if !here {
			continue
		}
		t := &callAttempt{request: p.Request, index: p.Index, raw: p.Call.Fields(), status: status, decided: p.Decisions[r.token]}
		t.result, t.hasResult = p.Results[r.token]
		known[ideafile.CallKey{Request: p.Request, Index: p.Index}] = t
	}
}

// readSolution takes in the Calls of a solution of which no record tells later: the log or the State says whether they are done.
func (r *instanceRun) readSolution(idea *ideafile.Idea, known map[ideafile.CallKey]*callAttempt) {
	meta := jsonval.AsObject(idea.Source["meta"])
	n, err := jsonval.FloatOf(meta["request"])
	if err != nil {
		return
	}
	calls, _ := jsonval.AsObject(idea.Source["solution"])["calls"].([]any)
	for k, call := range ideafile.ParseWrittenCalls(calls) {
		at := ideafile.CallKey{Request: int(n), Index: k + 1}
		if known[at] == nil && slices.Contains(call.Targets(idea.Tokens()), r.token) {
			known[at] = &callAttempt{request: at.Request, index: at.Index, raw: call.Fields(), status: ideafile.Done}
		}
	}
}

// readResult finds what a Call gave: in the log, or in the State at its path.
func (r *instanceRun) readResult(t *callAttempt) {
	if t.status != ideafile.Done || t.hasResult {
		return
	}
	for _, e := range r.story.Log {
		if e.By == t.call.ID && e.Instance == r.token {
			t.result, t.hasResult = told(t.call.OutputPath, e.Path, e.Value), true
			return
		}
	}
	if t.call.OutputMethod != "" || t.call.OutputPath.WritesWholeState() {
		return
	}
	for _, p := range t.call.OutputPath.Paths() {
		if v, ok := jsonval.Lookup(r.final, p); ok {
			t.result, t.hasResult = told(t.call.OutputPath, p, v), true
			return
		}
	}
	t.hasResult = len(t.call.OutputPath) == 0
}

// told is a value that went to one of several branches as the result that sends it there.
func told(o refexpr.OutputPath, p jsonval.Path, value any) any {
	if !o.HasBranches() {
		return value
	}
	for _, branch := range o {
		for _, q := range branch {
			if q.String() == p.String() {
				return map[string]any{refexpr.BranchKey: refexpr.OutputPath{branch}.Reference(), refexpr.ResultKey: value}
			}
		}
	}
	return value
}

// fold drops what an instance had for nothing: Calls for a place that another one of the same tool filled, and repeats.
func fold(all []*callAttempt) []*callAttempt {
	var out []*callAttempt
	for n, t := range all {
		vain := false
		for k, o := range all {
			same := k != n && o.key() == t.key()
			equal := same && jsonval.Equal(o.call.Params, t.call.Params)
			switch {
			case same && o.status == ideafile.Done && t.status != ideafile.Done && (t.status != ideafile.Failed || equal):
				vain = true
			case equal && k < n && (o.status == t.status && t.status != ideafile.Done || t.once() && o.status == ideafile.Done):
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
func (t *callAttempt) once() bool {
	return len(t.call.OutputPath) > 0 && !statelog.IsUpdate(t.call.OutputMethod, t.call.OutputPath[0][0])
}
