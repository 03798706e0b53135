package harden

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file writes the Idea that was made of Stories.

// idea is the file: what the first process was told, with the common Plan and the State schema.
func (h *hardener) idea(template bool) map[string]any {
	first, last := h.stories[0].first, h.stories[0].last
	out := map[string]any{"meta": h.metaOf(last), "schema": last.Source["schema"]}
	if config := last.Source["config"]; config != nil {
		out["config"] = config
	}
	var shared, own []any
	for _, m := range first.Context {
		switch {
		case m.Kind == ideafile.TypeState || m.Type == ideafile.TypeError || m.Type == ideafile.TypePlan:
		case m.Instance != "":
			own = append(own, m.Source)
		case m.Kind == "" || !template || h.sharedByAll(m):
			shared = append(shared, m.Source)
		}
	}
	shared = append(shared, map[string]any{"type": ideafile.TypeState, ideafile.TypeState: h.everybodys(template), "schema": h.stateSchema()})
	if !template {
		shared = append(append(shared, h.states()...), own...)
	}
	out["context"] = append(shared, h.planMessage())
	return out
}

func (h *hardener) metaOf(last *ideafile.Idea) map[string]any {
	meta := map[string]any{}
	if last.Path != "" {
		meta["path"] = last.Path
	}
	if last.Version != "" {
		meta["version"] = last.Version
	}
	var from []any
	for _, s := range h.stories {
		given := jsonval.AsObject(s.last.Source["meta"])
		from = append(from, map[string]any{"process": s.Process, "at": given["at"], "digest": given["digest"]})
	}
	meta["hardened"] = from
	return meta
}

// sharedByAll says whether every process was told a shared message alike.
func (h *hardener) sharedByAll(m ideafile.Message) bool {
	for _, s := range h.stories {
		found := false
		for _, other := range s.first.Context {
			found = found || other.Instance == "" && other.Kind == m.Kind && jsonval.Equal(other.Source, m.Source)
		}
		if !found {
			return false
		}
	}
	return true
}

// everybodys is the State that is not one instance's alone.
func (h *hardener) everybodys(template bool) any {
	r := h.runs[0]
	if start := r.start.Payload[ideafile.TypeState]; r.token == "" && !template && start != nil {
		return start
	}
	return map[string]any{}
}

// states is what the instances of the first process began with.
func (h *hardener) states() []any {
	var out []any
	for _, r := range h.runs {
		if r.story == h.runs[0].story && r.token != "" {
			start := r.start.Payload[ideafile.TypeState]
			if start == nil {
				start = map[string]any{}
			}
			out = append(out, map[string]any{"type": ideafile.TypeState, "_instance": r.token, ideafile.TypeState: start})
		}
	}
	return out
}

// planMessage is the Plan. It runs by itself where nothing was named that it does not cover.
func (h *hardener) planMessage() map[string]any {
	m := map[string]any{"type": ideafile.TypePlan, "name": "hardened", "plan": h.plan()}
	if len(h.particulars) == 0 {
		m["stage"] = ideafile.StageOptimal
	}
	if h.hasOutput {
		m["output"] = h.output
	}
	return m
}
