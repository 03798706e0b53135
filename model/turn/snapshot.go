package turn

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Snapshot is the Idea of one Request: the palette as it was, the context as the Request saw it, and the solution. It is
// a file from which a process can start again: State is the position in the Plan.
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

// snapshotContext keeps what does not change, and puts the States, the Calls so far with what became of them, and the
// errors in place of those that the process began with. Plans that are guides stay: each Request is shown them. The States
// come before all else that names an instance, so that the instances keep their order.
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
			raw = addRecord(raw, input.Plan, n+1)
			if m.Instance == "" {
				out = append(out, raw)
			} else {
				perInstance = append(perInstance, raw)
			}
		}
	}
	for _, c := range input.Instances {
		out = append(out, stateMessage(c, schemas))
	}
	out = append(out, perInstance...)
	if len(planned) > 0 {
		out = append(out, planMessage(planned))
	}
	for _, t := range input.Errors {
		out = append(out, errorMessage(t))
	}
	return out
}

// withoutDirect picks the Calls that Requests planned.
func WithoutDirectPlans(plan []PlanEntry) []PlanEntry {
	var list []PlanEntry
	for _, e := range plan {
		if e.DirectPlan == 0 {
			list = append(list, e)
		}
	}
	return list
}

// addRecord puts beside a Plan that runs directly, by its place in the context, what became of its Calls.
func addRecord(raw any, plan []PlanEntry, place int) any {
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

// recordValue is what became of a Call: its status, with the instances where they have names, its results where they stand nowhere
// else, and what people decided on it.
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
