package ideafile

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Simulation marks an Idea whose Tools are not run: results are made up (`meta.simulated`).
//
// Invariant: the mark is on every Idea and every State that comes from a simulation, so that made-up values cannot pass
// as real.
type Simulation struct {
	// ToolResultsFrom is the source of results: FakedBySchemas, or FakedByLLM, which makes every Tool latent.
	ToolResultsFrom string `json:"tools"`
	// LLMRepliesFrom is the source of replies: FakedBySchemas, FakedByLLM or RecordedReplies.
	LLMRepliesFrom string `json:"plans"`
}

// Sources of results and replies in a simulation.
const (
	FakedBySchemas  = "schemas" // results are made up from JSON Schemas, Plans from the Tools
	FakedByLLM      = "llm"     // the LLM writes them
	RecordedReplies = "replies" // recorded replies are replayed
)

// SimulatedDecider is the name under which decisions are taken in a simulation.
const SimulatedDecider = "simulated"

// The keys that mark made-up values: in `meta`, and beside the payload of a message.
const (
	simulatedMetaKey    = "simulated"
	SimulatedMessageKey = "_simulated"
)

func newSchemaSimulation() *Simulation { return &Simulation{FakedBySchemas, FakedBySchemas} }

// readSimulation reads `meta.simulated`. true is short for FakedBySchemas everywhere.
func (i *Idea) readSimulation(v any, ps *diag.Problems) {
	if v == nil || v == false {
		return
	}
	i.Simulation = newSchemaSimulation()
	m, ok := v.(jsonval.Object)
	if !ok && v != true {
		ps.AddWrongType("$.meta.simulated", `want true or {"tools": …, "plans": …}`, v)
	}
	for k, value := range jsonval.Sorted(m) {
		s := jsonval.AsText(value)
		switch {
		case k == "tools" && slices.Contains([]string{FakedBySchemas, FakedByLLM}, s):
			i.Simulation.ToolResultsFrom = s
		case k == "plans" && slices.Contains([]string{FakedBySchemas, FakedByLLM, RecordedReplies}, s):
			i.Simulation.LLMRepliesFrom = s
		default:
			ps.AddAtKey("$.meta.simulated", k,
				`want "tools": "schemas" or "llm", or "plans": "schemas", "llm" or "replies"`)
		}
	}
}

// inferSimulationFromMessages marks an Idea as simulated if one of its messages is, even if its meta is not.
func (i *Idea) inferSimulationFromMessages() {
	if i.Simulation == nil && slices.ContainsFunc(i.Context, func(m Message) bool { return m.IsSimulated }) {
		i.Simulation = newSchemaSimulation()
	}
}

// SimulationOf returns the mark of an Idea's source, or of a message in it; nil if there is none.
func SimulationOf(idea jsonval.Object) *Simulation {
	i := &Idea{}
	i.readSimulation(jsonval.Lookup(idea, "meta", simulatedMetaKey), new(diag.Problems))
	if i.Simulation == nil && slices.ContainsFunc(jsonval.AsList(idea["context"]), IsMessageMarkedSimulated) {
		return newSchemaSimulation()
	}
	return i.Simulation
}

// IsMessageMarkedSimulated reports whether a message is marked. Only a message with its payload under a key can be: in
// a flat one the mark would be part of the payload.
func IsMessageMarkedSimulated(raw any) bool {
	m := jsonval.AsObject(raw)
	_, hasPayload := m[jsonval.AsText(m["type"])]
	return hasPayload && m[SimulatedMessageKey] == true
}

// MarkStatesSimulated marks the State messages of a context in place, so that a State that is copied into another Idea
// is still marked.
func MarkStatesSimulated(context []any) {
	for _, raw := range context {
		if m := jsonval.AsObject(raw); m["type"] == TypeState && m[TypeState] != nil {
			m[SimulatedMessageKey] = true
		}
	}
}

// MarkIdea returns a copy of an Idea's source with the mark in its meta.
func (s Simulation) MarkIdea(idea jsonval.Object) jsonval.Object {
	meta := jsonval.WithKey(jsonval.AsObject(idea["meta"]), simulatedMetaKey, jsonval.ToJSONValue(s))
	return jsonval.WithKey(idea, "meta", meta)
}

// EffectiveSimulation returns how the Idea's Tools are simulated; nil if they are run. With a PlanStageComplete Plan
// the LLM must not be asked, so that schemas make up the results.
func (i *Idea) EffectiveSimulation() *Simulation {
	isComplete := func(m Message) bool { return m.PlanStage == PlanStageComplete }
	if i.Simulation != nil && slices.ContainsFunc(i.Context, isComplete) {
		return &Simulation{FakedBySchemas, i.Simulation.LLMRepliesFrom}
	}
	return i.Simulation
}

// SimulateBinding returns the binding of a simulated Tool. Results that are made up from schemas have no effect: such a
// Tool is pure.
func (s Simulation) SimulateBinding(b ToolBinding) ToolBinding {
	b.Simulation = &s
	switch {
	case b.Kind == KindDelegate || b.Kind == KindLatent:
	case s.ToolResultsFrom == FakedByLLM:
		return ToolBinding{Kind: KindLatent, Simulation: &s}
	default:
		b.IsPureFunction = true
	}
	return b
}
