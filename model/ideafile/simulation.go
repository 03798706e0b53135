package ideafile

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// This file holds what makes an Idea a simulation: no Tool is touched, results are made up, and the mark that says so goes
// wherever the Idea goes.

// Simulation says of an Idea that its Tools are played, and by whom. It stands in `meta.simulated`.
type Simulation struct {
	// Tools is who plays the Tools: BySchemas, or ByLLM, which makes every Tool latent.
	Tools string `json:"tools"`
	// Plans is who answers the Requests: BySchemas, ByLLM or ByReplies.
	Plans string `json:"plans"`
}

// Who plays a part in a simulation.
const (
	FakedBySchemas = "schemas" // values are made up from JSON Schemas, Plans from the Tools
	FakedByLLM     = "llm"     // the LLM writes them
	RecordedReplies = "replies" // recorded replies are given
)

// SimulatedPerson is who takes the decisions of people in a simulation.
const SimulatedPerson = "simulated"

// CodeNotSimulated marks a Call whose result could not be made up.
const CodeNotSimulated = "not_simulated"

const (
	simulatedMetaKey    = "simulated"
	SimulatedKey = "_simulated" // beside the payload of a message
)

// readSimulation reads `meta.simulated`. True is the form for people: schemas play all.
func (i *Idea) readSimulation(v any, ps *diag.Problems) {
	if v == nil || v == false {
		return
	}
	i.Simulated = &Simulation{Tools: FakedBySchemas, Plans: FakedBySchemas}
	m, ok := v.(map[string]any)
	if !ok && v != true {
		ps.Add("$.meta.simulated", `want true or {"tools": …, "plans": …}, not %s`, jsonval.TypeOf(v))
	}
	for _, k := range jsonval.SortedKeys(m) {
		s, _ := m[k].(string)
		switch {
		case k == "tools" && slices.Contains([]string{FakedBySchemas, FakedByLLM}, s):
			i.Simulated.Tools = s
		case k == "plans" && slices.Contains([]string{FakedBySchemas, FakedByLLM, RecordedReplies}, s):
			i.Simulated.Plans = s
		default:
			ps.Add(jsonval.JSONPathKey("$.meta.simulated", k), `want "tools": "schemas" or "llm", or "plans": "schemas", "llm" or "replies"`)
		}
	}
}

// detectSimulation takes an Idea for a simulated one where a message of it is marked, even if its meta is not.
func (i *Idea) detectSimulation() {
	for _, m := range i.Context {
		if m.Simulated && i.Simulated == nil {
			i.Simulated = &Simulation{Tools: FakedBySchemas, Plans: FakedBySchemas}
		}
	}
}

// simulationOf reads the mark of an Idea that was read before, or of its messages; nil where there is none.
func SimulationOf(idea map[string]any) *Simulation {
	i := &Idea{}
	i.readSimulation(jsonval.AsObject(idea["meta"])[simulatedMetaKey], new(diag.Problems))
	context, _ := idea["context"].([]any)
	for _, raw := range context {
		if IsMarkedSimulated(raw) && i.Simulated == nil {
			i.Simulated = &Simulation{Tools: FakedBySchemas, Plans: FakedBySchemas}
		}
	}
	return i.Simulated
}

// markedSimulated reads the mark of a message: beside its payload, never in a flat one.
func IsMarkedSimulated(raw any) bool {
	m := jsonval.AsObject(raw)
	_, under := m[jsonval.AsText(m["type"])]
	return under && m[SimulatedKey] == true
}

// markStates marks the States of a simulation, so that one that is taken out of its Idea still says what it is.
func MarkStatesSimulated(context []any) {
	for _, raw := range context {
		if m := jsonval.AsObject(raw); m["type"] == TypeState && m[TypeState] != nil {
			m[SimulatedKey] = true
		}
	}
}

// MarkIdea gives an Idea as a simulation: a copy with the mark in its meta.
func (s Simulation) MarkIdea(idea map[string]any) map[string]any {
	meta := jsonval.WithoutKey(jsonval.AsObject(idea["meta"]), simulatedMetaKey)
	meta[simulatedMetaKey] = jsonval.Normal(s)
	out := jsonval.WithoutKey(idea, "meta")
	out["meta"] = meta
	return out
}

// EffectiveSimulation says who plays the Tools of an Idea, nil where they run. Where a Plan may ask nobody, schemas play.
func (i *Idea) EffectiveSimulation() *Simulation {
	for _, m := range i.Context {
		if i.Simulated != nil && m.Stage == StageComplete {
			return &Simulation{Tools: FakedBySchemas, Plans: i.Simulated.Plans}
		}
	}
	return i.Simulated
}

// Bind gives the binding of a Tool that is played. What schemas make up has no effect, so that it is as good as pure.
func (s Simulation) Bind(b Binding) Binding {
	b.Simulated = &s
	switch {
	case b.Kind == KindDelegate || b.Kind == KindLatent:
	case s.Tools == FakedByLLM:
		return Binding{Kind: KindLatent, Simulated: &s}
	default:
		b.Pure = true
	}
	return b
}

// withBoth is a schema that wants what two want, each with its own references.
func AllOf(a, b any) any {
	return map[string]any{"allOf": []any{jsonschema.InlineRefs(a, a), b}}
}
