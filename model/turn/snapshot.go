package turn

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Snapshot returns the Idea of one Request: the process's palette, the context as the Request saw it, and the solution.
//
// Invariants: a process that starts from a Snapshot has the instances, in their order, and the States that the Request saw; and
// the Snapshot of an Idea that is a Snapshot already has the same context.
func Snapshot(idea map[string]any, input *RequestInput, calls []ideafile.WrittenCall, output any) map[string]any {
	out := make(map[string]any, len(idea)+1)
	//workflowcheck:ignore -- a map again
	for k, v := range idea {
		out[k] = v
	}
	out["context"] = snapshotContext(idea["context"], input)
	out["solution"] = map[string]any{"calls": ideafile.WrittenValues(calls), "output": output}
	if s := ideafile.SimulationOf(idea); s != nil {
		ideafile.MarkStatesSimulated(out["context"].([]any))
		return s.MarkIdea(out)
	}
	return out
}

// snapshotContext replaces the States, the record of earlier Calls and the errors of the process's own context by those that the
// Request saw, and keeps all other messages, Plans that guide the LLM among them. The States come before everything else that
// names an instance, so that the instances keep their order.
func snapshotContext(context any, input *RequestInput) []any {
	var out, perInstance []any
	schemas := map[string]any{}
	list, _ := context.([]any)
	planned := WithoutDirectPlans(input.Plan)
	for n, raw := range list {
		m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems))
		switch {
		case !ok:
		case m.Kind == ideafile.TypeState:
			if m.Schema != nil {
				schemas[m.Instance] = m.Schema
			}
		case m.Type != ideafile.TypeError && !m.IsPlanRecord():
			raw = addPlanRecord(raw, input.Plan, n+1)
			if m.Instance == "" {
				out = append(out, raw)
			} else {
				perInstance = append(perInstance, raw)
			}
		}
	}
	for _, instance := range input.Instances {
		out = append(out, stateMessage(instance, schemas))
	}
	out = append(out, perInstance...)
	if len(planned) > 0 {
		out = append(out, planMessage(planned))
	}
	for _, e := range input.Errors {
		out = append(out, errorMessage(e))
	}
	return out
}

// addPlanRecord adds to a directly run Plan, at a position in the context, what became of its Calls.
func addPlanRecord(raw any, plan []PlanEntry, place int) any {
	record := map[string]any{}
	for _, e := range plan {
		if e.DirectPlan != place {
			continue
		}
		record[e.ID] = jsonval.Normal(e.StatusCounts)
		for _, token := range e.DoneInstances {
			record[e.ID+"@"+token] = string(ideafile.Done)
		}
	}
	if len(record) == 0 {
		return raw
	}
	m := jsonval.WithoutKey(raw.(map[string]any), "record")
	m["record"] = record
	return m
}

func stateMessage(c InstanceInput, schemas map[string]any) any {
	m := map[string]any{"type": ideafile.TypeState, ideafile.TypeState: c.State}
	if c.Token != "" {
		m["_instance"] = c.Token
	}
	schema, ok := schemas[c.Token]
	if !ok {
		schema, ok = schemas[""]
	}
	if ok {
		m["schema"] = schema
	}
	if c.Status != "" {
		m[ideafile.StatusKey] = string(c.Status)
	}
	if c.Fault != nil {
		m[ideafile.FaultKey] = jsonval.Normal(c.Fault)
	}
	return m
}

func planMessage(plan []PlanEntry) any {
	calls, record := []any{}, map[string]any{}
	for _, e := range plan {
		calls = append(calls, e.Call.Value())
		record[e.ID] = e.recordValue()
	}
	return map[string]any{"type": ideafile.TypePlan, "plan": calls, "record": record}
}

// recordValue is what became of a Call: its statuses, each with a count or with the instances' tokens, the results that State does
// not hold, and people's decisions.
func (e PlanEntry) recordValue() any {
	record := jsonval.AsObject(jsonval.Normal(e.StatusCounts))
	for s, tokens := range e.InstancesByStatus {
		record[string(s)] = jsonval.Normal(tokens)
	}
	if len(e.Results) > 0 {
		record[recordResults] = e.Results
	}
	if len(e.Decisions) > 0 {
		record[recordDecided] = jsonval.Normal(e.Decisions)
	}
	return record
}

func errorMessage(t ContextError) any {
	m := map[string]any{"type": ideafile.TypeError, "error": jsonval.Normal(t.Fault), "call": nil}
	if t.Call != "" {
		m["call"] = t.Call
	}
	if len(t.Instances) > 0 {
		m["instances"] = jsonval.Normal(t.Instances)
	}
	return m
}
