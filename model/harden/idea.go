package harden

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// buildIdea writes the Idea file: the context of the first process, the State schema and the common Plan.
func (h *hardener) buildIdea(template bool) map[string]any {
	first, last := h.processes[0].firstIdea, h.processes[0].lastIdea
	out := map[string]any{"meta": h.ideaMeta(last), "schema": last.Source["schema"]}
	if config := last.Source["config"]; config != nil {
		out["config"] = config
	}
	var shared, instanceMessages []any
	for _, m := range first.Context {
		switch {
		case m.Kind == ideafile.TypeState || m.Type == ideafile.TypeError || m.Type == ideafile.TypePlan:
		case m.Instance != "":
			instanceMessages = append(instanceMessages, m.Source)
		case m.Kind == "" || !template || h.sharedByAll(m):
			shared = append(shared, m.Source)
		}
	}
	shared = append(shared, map[string]any{"type": ideafile.TypeState, ideafile.TypeState: h.sharedState(template), "schema": h.stateSchema()})
	if !template {
		shared = append(append(shared, h.instanceStates()...), instanceMessages...)
	}
	out["context"] = append(shared, h.planMessage())
	return out
}

func (h *hardener) ideaMeta(last *ideafile.Idea) map[string]any {
	meta := map[string]any{}
	if last.Path != "" {
		meta["path"] = last.Path
	}
	if last.Version != "" {
		meta["version"] = last.Version
	}
	var sources []any
	for _, process := range h.processes {
		sourceMeta := jsonval.AsObject(process.lastIdea.Source["meta"])
		sources = append(sources, map[string]any{"process": process.Process, "at": sourceMeta["at"], "digest": sourceMeta["digest"]})
	}
	meta["hardened"] = sources
	return meta
}

// sharedByAll reports whether every process had the same shared message.
func (h *hardener) sharedByAll(m ideafile.Message) bool {
	for _, process := range h.processes {
		found := false
		for _, other := range process.firstIdea.Context {
			found = found || other.Instance == "" && other.Kind == m.Kind && jsonval.Equal(other.Source, m.Source)
		}
		if !found {
			return false
		}
	}
	return true
}

// sharedState is the State that belongs to no instance by name.
func (h *hardener) sharedState(template bool) any {
	r := h.instances[0]
	if start := r.startView.Payload[ideafile.TypeState]; r.token == "" && !template && start != nil {
		return start
	}
	return map[string]any{}
}

// instanceStates are the State messages that the first process's instances started with.
func (h *hardener) instanceStates() []any {
	var out []any
	for _, r := range h.instances {
		if r.process == h.instances[0].process && r.token != "" {
			start := r.startView.Payload[ideafile.TypeState]
			if start == nil {
				start = map[string]any{}
			}
			out = append(out, map[string]any{"type": ideafile.TypeState, "_instance": r.token, ideafile.TypeState: start})
		}
	}
	return out
}

// planMessage is the Plan message. The Plan runs without the LLM where everything was generalized.
func (h *hardener) planMessage() map[string]any {
	m := map[string]any{"type": ideafile.TypePlan, "name": "hardened", "plan": h.planCalls()}
	if len(h.notGeneralized) == 0 {
		m["stage"] = ideafile.StageOptimal
	}
	if h.hasOutput {
		m["output"] = h.output
	}
	return m
}
