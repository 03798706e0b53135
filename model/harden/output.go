package harden

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file finds how the outputs of processes come from their States.

// generaliseOutput gives the Plan an output where every process had one, and all had it from the same places.
func (h *hardener) generaliseOutput() {
	var wired any
	for n, s := range h.stories {
		out := jsonval.AsObject(s.last.Source["solution"])["output"]
		if out == nil {
			if n == 0 && s.last.Output == nil {
				return
			}
			h.particular(nil, "the output: %s has none", s.Process)
			return
		}
		form, ok := s.wired(out)
		if !ok {
			h.particular(nil, "the output of %s: the LLM wrote it, and it stands nowhere in State", s.Process)
			return
		}
		if n > 0 && !jsonval.Equal(form, wired) {
			h.particular(nil, "the output: that of %s comes from other places than that of %s", s.Process, h.stories[0].Process)
			return
		}
		wired = form
	}
	h.output, h.hasOutput = wired, true
}

// wired gives the output as References: those by which a solution wired it, or the only places where its parts stand.
func (s *story) wired(out any) (any, bool) {
	if len(s.runs) == 0 {
		return nil, false
	}
	for n := len(s.Ideas) - 1; n >= 0; n-- {
		form := jsonval.AsObject(s.Ideas[n]["solution"])["output"]
		if refs, err := refexpr.References(form); err != nil || len(refs) == 0 {
			continue
		}
		if v, err := refexpr.ResolveBy(form, s.find); err == nil && jsonval.Equal(v, out) || n == len(s.Ideas)-1 {
			return form, err == nil
		}
	}
	return s.sought(out, nil)
}

// find is what an output's Reference stands for: in a process of several instances, every one's value by its token.
func (s *story) find(e refexpr.Expression) (any, bool) {
	if s.runs[0].token == "" || !e.ReadsKind(ideafile.TypeState) {
		return s.runs[0].resolved(e.String())
	}
	all := map[string]any{}
	for _, r := range s.runs {
		v, ok := r.resolved(e.String())
		if !ok {
			return nil, false
		}
		all[r.token] = v
	}
	return all, true
}

// sought looks for the places where an output's parts stand.
func (s *story) sought(out any, at jsonval.Path) (any, bool) {
	var found []string
	for _, ref := range placesIn(nil, refexpr.Reference{Kind: ideafile.TypeState}, s.runs[0].final, s.runs[0].part(out), false) {
		if v, ok := s.find(refexpr.Expression{{ref}}); ok && jsonval.Equal(v, out) {
			found = append(found, ref.String())
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	m, ok := out.(map[string]any)
	if !ok || len(found) > 1 {
		return nil, false
	}
	parts := map[string]any{}
	for _, k := range jsonval.SortedKeys(m) {
		if parts[k], ok = s.sought(m[k], append(at[:len(at):len(at)], k)); !ok {
			return nil, false
		}
	}
	return parts, len(parts) > 0
}

// part is what an instance would have brought to an output.
func (r *instanceRun) part(out any) any {
	if m, ok := out.(map[string]any); ok && r.token != "" {
		if v, ok := m[r.token]; ok {
			return v
		}
	}
	return out
}
