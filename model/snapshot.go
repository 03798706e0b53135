package model

// Snapshot is the Idea of one Request: the palette as it was, the context as the Request saw it, and the solution. It is
// a file from which a process can start again: State is the position in the Plan.
func Snapshot(idea map[string]any, seen *Brief, calls []any, output any) map[string]any {
	out := make(map[string]any, len(idea)+1)
	//workflowcheck:ignore -- a map again
	for k, v := range idea {
		out[k] = v
	}
	out["context"] = snapshotContext(idea["context"], seen)
	out["solution"] = map[string]any{"calls": calls, "output": output}
	if s := simulationOf(idea); s != nil {
		markStates(out["context"].([]any))
		return s.Mark(out)
	}
	return out
}

// snapshotContext keeps what does not change, and puts the States, the Calls so far with what became of them, and the
// errors in place of those that the process began with. Plans that are guides stay: each Request is shown them. The States
// come before all else that names an instance, so that the instances keep their order.
func snapshotContext(context any, seen *Brief) []any {
	var out, own []any
	schemas := map[string]any{}
	list, _ := context.([]any)
	planned := withoutDirect(seen.Plan)
	for n, raw := range list {
		m, ok := ReadMessage(raw, "", new(Problems))
		switch {
		case !ok:
		case m.Kind == TypeState:
			if m.Schema != nil {
				schemas[m.Instance] = m.Schema
			}
		case m.Type != TypeError && !m.isRecord():
			raw = withRecord(raw, seen.Plan, n+1)
			if m.Instance == "" {
				out = append(out, raw)
			} else {
				own = append(own, raw)
			}
		}
	}
	for _, c := range seen.Covered {
		out = append(out, stateMessage(c, schemas))
	}
	out = append(out, own...)
	if len(planned) > 0 {
		out = append(out, planMessage(planned))
	}
	for _, t := range seen.Troubles {
		out = append(out, troubleMessage(t))
	}
	return out
}

// withoutDirect picks the Calls that Requests planned.
func withoutDirect(plan []PlanEntry) []PlanEntry {
	var list []PlanEntry
	for _, e := range plan {
		if e.Direct == 0 {
			list = append(list, e)
		}
	}
	return list
}

// withRecord puts beside a Plan that runs directly, by its place in the context, what became of its Calls.
func withRecord(raw any, plan []PlanEntry, place int) any {
	record := map[string]any{}
	for _, e := range plan {
		if e.Direct != place {
			continue
		}
		record[e.ID] = Normal(e.How)
		for _, token := range e.Done {
			record[e.ID+"@"+token] = string(Done)
		}
	}
	if len(record) == 0 {
		return raw
	}
	m := withoutKey(raw.(map[string]any), "record")
	m["record"] = record
	return m
}

func stateMessage(c Covered, schemas map[string]any) any {
	m := map[string]any{"type": TypeState, TypeState: c.State}
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
		m[messageStatus] = string(c.Status)
	}
	if c.Fault != nil {
		m[messageFault] = Normal(c.Fault)
	}
	return m
}

func planMessage(plan []PlanEntry) any {
	calls, record := []any{}, map[string]any{}
	for _, e := range plan {
		calls = append(calls, e.Call)
		record[e.ID] = e.record()
	}
	return map[string]any{"type": TypePlan, "plan": calls, "record": record}
}

// record is what became of a Call: its status, with the instances where they have names, its results where they stand nowhere
// else, and what people decided on it.
func (e PlanEntry) record() any {
	record := asObject(Normal(e.How))
	for s, tokens := range e.Where {
		record[string(s)] = Normal(tokens)
	}
	if len(e.Results) > 0 {
		record[recordResults] = e.Results
	}
	if len(e.Decided) > 0 {
		record[recordDecided] = Normal(e.Decided)
	}
	return record
}

func troubleMessage(t Trouble) any {
	m := map[string]any{"type": TypeError, "error": Normal(t.Fault), "call": nil}
	if t.Call != "" {
		m["call"] = t.Call
	}
	if len(t.Instances) > 0 {
		m["instances"] = Normal(t.Instances)
	}
	return m
}
