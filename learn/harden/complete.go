package harden

import (
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// MarkComplete makes the Plan never ask an LLM: an instance in which something fails has failed. So it removes
// config.quality and config.settle, which say how LLMs are asked. It returns an error if there are Differences.
func (h *Result) MarkComplete() error {
	if n := len(h.Differences); n > 0 {
		return fmt.Errorf(
			"model: harden: the Plan cannot be complete, since it needs an LLM or a person: not generalised: %s; "+
				"decide %s",
			h.Differences[0], h.Differences[0].Advice())
	}
	for _, raw := range jsonval.AsList(h.Idea["context"]) {
		if m := jsonval.AsObject(raw); m["type"] == ideafile.TypePlan && m["stage"] == ideafile.PlanStageOptimal {
			m["stage"] = ideafile.PlanStageComplete
		}
	}
	if config := h.Idea["config"]; config != nil {
		h.Idea["config"] = jsonval.WithoutKey(jsonval.AsObject(config), "quality", "settle")
	}
	return nil
}
