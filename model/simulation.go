package model

import "slices"

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
	BySchemas = "schemas" // values are made up from JSON Schemas, Plans from the Tools
	ByLLM     = "llm"     // the LLM writes them
	ByReplies = "replies" // recorded replies are given
)

// BySimulation is who takes the decisions of people in a simulation.
const BySimulation = "simulated"

// CodeNoSample marks a Call whose result could not be made up.
const CodeNoSample = "not_simulated"

const (
	metaSimulated    = "simulated"
	messageSimulated = "_simulated" // beside the payload of a message
)

// readSimulation reads `meta.simulated`. True is the form for people: schemas play all.
func (i *Idea) readSimulation(v any, ps *Problems) {
	if v == nil || v == false {
		return
	}
	i.Simulated = &Simulation{Tools: BySchemas, Plans: BySchemas}
	m, ok := v.(map[string]any)
	if !ok && v != true {
		ps.add("$.meta.simulated", `want true or {"tools": …, "plans": …}, not %s`, TypeOf(v))
	}
	for _, k := range sortedKeys(m) {
		s, _ := m[k].(string)
		switch {
		case k == "tools" && slices.Contains([]string{BySchemas, ByLLM}, s):
			i.Simulated.Tools = s
		case k == "plans" && slices.Contains([]string{BySchemas, ByLLM, ByReplies}, s):
			i.Simulated.Plans = s
		default:
			ps.add(joinJSONPath("$.meta.simulated", k), `want "tools": "schemas" or "llm", or "plans": "schemas", "llm" or "replies"`)
		}
	}
}

// noteSimulated takes an Idea for a simulated one where a message of it is marked, even if its meta is not.
func (i *Idea) noteSimulated() {
	for _, m := range i.Context {
		if m.Simulated && i.Simulated == nil {
			i.Simulated = &Simulation{Tools: BySchemas, Plans: BySchemas}
		}
	}
}

// simulationOf reads the mark of an Idea that was read before, or of its messages; nil where there is none.
func simulationOf(idea map[string]any) *Simulation {
	i := &Idea{}
	i.readSimulation(asObject(idea["meta"])[metaSimulated], new(Problems))
	context, _ := idea["context"].([]any)
	for _, raw := range context {
		if markedSimulated(raw) && i.Simulated == nil {
			i.Simulated = &Simulation{Tools: BySchemas, Plans: BySchemas}
		}
	}
	return i.Simulated
}

// markedSimulated reads the mark of a message: beside its payload, never in a flat one.
func markedSimulated(raw any) bool {
	m := asObject(raw)
	_, under := m[asText(m["type"])]
	return under && m[messageSimulated] == true
}

// markStates marks the States of a simulation, so that one that is taken out of its Idea still says what it is.
func markStates(context []any) {
	for _, raw := range context {
		if m := asObject(raw); m["type"] == TypeState && m[TypeState] != nil {
			m[messageSimulated] = true
		}
	}
}

// Mark gives an Idea as a simulation: a copy with the mark in its meta.
func (s Simulation) Mark(idea map[string]any) map[string]any {
	meta := withoutKey(asObject(idea["meta"]), metaSimulated)
	meta[metaSimulated] = Normal(s)
	out := withoutKey(idea, "meta")
	out["meta"] = meta
	return out
}

// PlayedBy says who plays the Tools of an Idea, nil where they run. Where a Plan may ask nobody, schemas play.
func (i *Idea) PlayedBy() *Simulation {
	for _, m := range i.Context {
		if i.Simulated != nil && m.Stage == StageComplete {
			return &Simulation{Tools: BySchemas, Plans: i.Simulated.Plans}
		}
	}
	return i.Simulated
}

// Play gives the binding of a Tool that is played. What schemas make up has no effect, so that it is as good as pure.
func (s Simulation) Play(b Binding) Binding {
	b.Simulated = &s
	switch {
	case b.Kind == KindDelegate || b.Kind == KindLatent:
	case s.Tools == ByLLM:
		return Binding{Kind: KindLatent, Simulated: &s}
	default:
		b.Pure = true
	}
	return b
}

// standIn takes the decision on a Call for which a person would be asked: it runs as shown.
func (r *Run) standIn(rec *Record) {
	r.approve(rec, Decision{
		Decision: Approve, Call: rec.ID, Digest: rec.Pending.Digest, By: BySimulation, At: r.now, Reason: "nobody is asked in a simulation",
	})
}

// MakeUp gives what a Tool might return: a value that fits its `_output`, and, where one can be found, the State schema at
// the path where it lands. The error says that there is none.
func MakeUp(tool string, output any, landing *Landing) (any, error) {
	if output == nil {
		output = map[string]any{"const": simulatedText + ": " + tool}
		if wanted := landing.wanted(); wanted != nil {
			if v, err := Sample(output); err == nil && landing.Check(0, v) == nil {
				return v, nil
			}
			return Sample(wanted)
		}
	}
	v, err := Sample(output)
	if err != nil || landing.Check(0, v) == nil {
		return v, err
	}
	if wanted := landing.wanted(); wanted != nil {
		both, err := Sample(withBoth(output, wanted))
		if err == nil && landing.Check(0, both) == nil {
			return both, nil
		}
	}
	return v, nil // the instance says how it does not fit
}

// wanted is the State schema at the path of a result; nil where it says nothing.
func (l *Landing) wanted() any {
	if l == nil || l.Schema == nil || l.Method != "" {
		return nil
	}
	at := placeOf(l.Schema, l.Path[0][0])
	if !at.known {
		return nil
	}
	part, ok := resolvePointer(l.Schema, at.pointer)
	if !ok {
		return nil
	}
	return rooted(l.Schema, part)
}

// withBoth is a schema that wants what two want, each with its own references.
func withBoth(a, b any) any {
	return map[string]any{"allOf": []any{rooted(a, a), b}}
}
