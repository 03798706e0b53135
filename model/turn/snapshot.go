package turn

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// SnapshotIdea returns the Idea of one Request: the process's palette, the context as the Request saw it, and the
// solution.
//
// Invariants: a process that starts from a snapshot has the instances, in their order, and the States that the Request
// saw; and the snapshot of an Idea that is itself a snapshot has the same context.
func SnapshotIdea(idea jsonval.Object, input *RequestInput, calls []ideafile.WrittenCall, output any) jsonval.Object {
	out := jsonval.WithKey(idea, "context", snapshotContext(idea["context"], input))
	out["solution"] = jsonval.Object{"calls": ideafile.RawWrittenCalls(calls), "output": output}
	if s := ideafile.SimulationOf(idea); s != nil {
		ideafile.MarkStatesSimulated(out["context"].([]any))
		return s.MarkIdea(out)
	}
	return out
}

// snapshotContext replaces the States, the record of earlier Calls and the errors in the process's context by those
// that the Request saw. It keeps all other messages, such as Plans that guide the LLM. The States come before all other
// messages that name an instance, so that the instances keep their order.
func snapshotContext(context any, input *RequestInput) []any {
	var out, instanceMessages []any
	stateSchemaByToken := jsonval.Object{}
	requestPlanEntries := WithoutDirectPlanCalls(input.PlanEntries)
	for n, raw := range jsonval.AsList(context) {
		m, ok := ideafile.ParseMessage(raw)
		switch {
		case !ok:
		case m.PayloadKind == ideafile.TypeState:
			if m.PayloadSchema != nil {
				stateSchemaByToken[m.InstanceToken] = m.PayloadSchema
			}
		case m.Type != ideafile.TypeError && !m.IsStagelessPlanWithRecord():
			raw = addPlanRecord(raw, input, n+1)
			if m.InstanceToken == "" {
				out = append(out, raw)
			} else {
				instanceMessages = append(instanceMessages, raw)
			}
		}
	}
	for _, instance := range input.Instances {
		out = append(out, stateMessage(instance, stateSchemaByToken))
	}
	out = append(out, instanceMessages...)
	for _, plan := range splitIntoPlans(requestPlanEntries) {
		out = append(out, planMessage(plan))
	}
	for _, e := range input.Errors {
		out = append(out, e.ContextMessage())
	}
	return out
}

// addPlanRecord adds to the directly run Plan at position place in the context what became of its Calls, and the
// instances for which it did not suffice.
func addPlanRecord(raw any, input *RequestInput, position int) any {
	record, fallbackTokens := jsonval.Object{}, []string{}
	for _, e := range input.PlanEntries {
		if e.DirectPlanPosition == position {
			record[e.CallID] = e.toRecordValue()
		}
	}
	for _, instance := range input.Instances {
		if instance.FailedDirectPlanPosition == position {
			fallbackTokens = append(fallbackTokens, instance.Token)
		}
	}
	if len(record) == 0 && len(fallbackTokens) == 0 {
		return raw
	}
	m := jsonval.WithoutKey(raw.(jsonval.Object), "record")
	delete(m, ideafile.FallbackInstanceTokensKey)
	if len(record) > 0 {
		m["record"] = record
	}
	if len(fallbackTokens) > 0 {
		m[ideafile.FallbackInstanceTokensKey] = jsonval.ToJSONValue(fallbackTokens)
	}
	return m
}

func stateMessage(instance InstanceInput, stateSchemaByToken jsonval.Object) any {
	m := ideafile.EncodePayloadMessage(ideafile.Message{
		PayloadKind: ideafile.TypeState, InstanceToken: instance.Token, Payload: instance.State})
	schema, ok := stateSchemaByToken[instance.Token]
	if !ok {
		schema, ok = stateSchemaByToken[""]
	}
	if ok {
		m["schema"] = schema
	}
	if instance.EndStatus != "" {
		m[ideafile.InstanceStatusKey] = string(instance.EndStatus)
	}
	if instance.Fault != nil {
		m[ideafile.InstanceFaultKey] = jsonval.ToJSONValue(instance.Fault)
	}
	if len(instance.StepOutcomes) > 0 {
		m[ideafile.StepOutcomesKey] = jsonval.ToJSONValue(instance.StepOutcomes)
	}
	return m
}

// splitIntoPlans splits Calls into Plans, in Plan order, such that no id occurs twice in a Plan. Ids may be equal
// because each part of a process numbers its own Requests.
func splitIntoPlans(entries []PlannedCallSummary) (plans [][]PlannedCallSummary) {
	callIDSets := []map[string]bool{}
	for _, e := range entries {
		planIndex := slices.IndexFunc(callIDSets, func(ids map[string]bool) bool { return !ids[e.CallID] })
		if planIndex < 0 {
			planIndex = len(plans)
			plans, callIDSets = append(plans, nil), append(callIDSets, map[string]bool{})
		}
		plans[planIndex], callIDSets[planIndex][e.CallID] = append(plans[planIndex], e), true
	}
	for _, plan := range plans {
		slices.SortStableFunc(plan, func(a, b PlannedCallSummary) int {
			return parseCallKey(a.CallID).Compare(parseCallKey(b.CallID))
		})
	}
	return plans
}

func parseCallKey(id string) ideafile.CallKey {
	key, _ := ideafile.ParseCallKey(id)
	return key
}

func planMessage(plan []PlannedCallSummary) any {
	calls, record := []any{}, jsonval.Object{}
	for _, e := range plan {
		calls = append(calls, e.Call.AsWritten())
		record[e.CallID] = e.toRecordValue()
	}
	return jsonval.Object{"type": ideafile.TypePlan, "plan": calls, "record": record}
}

// toRecordValue returns the outcome of a Call: its statuses, each with a count or with the instances' tokens, the
// results that are not in State, its faults, people's decisions, what ran, and why a person must review it.
func (e PlannedCallSummary) toRecordValue() any {
	record := jsonval.AsObject(jsonval.ToJSONValue(e.CountByStatus))
	for s, tokens := range e.InstanceTokensByStatus {
		record[string(s)] = jsonval.ToJSONValue(tokens)
	}
	if len(e.ResultByInstance) > 0 {
		record[recordResultsKey] = e.ResultByInstance
	}
	if len(e.Faults) > 0 {
		record[recordFaultsKey] = jsonval.ToJSONValue(e.Faults)
	}
	if len(e.Decisions) > 0 {
		record[recordDecisionsKey] = jsonval.ToJSONValue(e.Decisions)
	}
	if len(e.ExecutedCallByInstance) > 0 {
		record[recordExecutedCallsKey] = jsonval.ToJSONValue(e.ExecutedCallByInstance)
	}
	if len(e.ReviewReasonByInstance) > 0 {
		record[recordReviewReasonsKey] = jsonval.ToJSONValue(e.ReviewReasonByInstance)
	}
	return record
}

// ContextMessage returns the error as a message of an Idea's context, which ReadContextError reads.
func (t ContextError) ContextMessage() any {
	m := jsonval.Object{"type": ideafile.TypeError, "error": jsonval.ToJSONValue(t.Fault), "call": nil}
	if t.CallID != "" {
		m["call"] = t.CallID
	}
	if len(t.InstanceTokens) > 0 {
		m["instances"] = jsonval.ToJSONValue(t.InstanceTokens)
	}
	return m
}
