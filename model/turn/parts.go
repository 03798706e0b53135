package turn

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file merges the records of a split process's parts, and divides them among parts again. Each part is a process
// with an Idea of its own.

// AddPartContext adds the content of the last Idea of a part to the input of the whole process: how its instances
// ended, the Calls with their outcomes, and the errors not reported yet. planPositionsByToken is that of the whole.
func (in *RequestInput) AddPartContext(planPositionsByToken map[string][]int, partContext any, tokens []string,
	states jsonval.Object) {
	instanceInputByToken := map[string]*InstanceInput{}
	for _, token := range tokens {
		instanceInputByToken[token] = &InstanceInput{Token: token, State: states[token]}
	}
	seenPlanCountByToken := map[string]int{}
	for _, raw := range jsonval.AsList(partContext) {
		m, ok := ideafile.ParseMessage(raw)
		e, isError := ReadContextError(m)
		switch instance := instanceInputByToken[m.InstanceToken]; {
		case !ok:
		case m.PayloadKind == ideafile.TypeState && instance != nil:
			instance.EndStatus, instance.Fault, instance.StepOutcomes = m.InstanceEndStatus, m.InstanceFault,
				m.InstanceStepOutcomes
		case m.IsDirectPlan():
			position := 0
			if ownPositions, n := planPositionsByToken[m.InstanceToken],
				seenPlanCountByToken[m.InstanceToken]; n < len(ownPositions) {
				position = ownPositions[n]
			}
			seenPlanCountByToken[m.InstanceToken]++
			in.mergeRecordedCalls(position, m.PlanName, ReadDirectPlanRecord(m, tokens))
			for _, token := range m.FallbackInstanceTokens {
				if instance := instanceInputByToken[token]; instance != nil {
					instance.FailedDirectPlanPosition = position
				}
			}
		case m.IsStagelessPlanWithRecord():
			in.mergeRecordedCalls(0, "", ReadPlanRecord(m, tokens))
		case isError:
			if len(e.InstanceTokens) == 0 {
				e.InstanceTokens = tokens
			}
			in.mergeError(e)
		}
	}
	for _, token := range tokens {
		in.Instances = append(in.Instances, *instanceInputByToken[token])
	}
	slices.SortStableFunc(in.Errors,
		func(a, b ContextError) int { return parseCallKey(a.CallID).Compare(parseCallKey(b.CallID)) })
}

// DirectPlanPositionsByToken returns the positions in a context, from 1, of the Plans that run directly, by the
// instance that owns them.
func DirectPlanPositionsByToken(context any) map[string][]int {
	positionsByToken := map[string][]int{}
	for n, raw := range jsonval.AsList(context) {
		if m, ok := ideafile.ParseMessage(raw); ok && m.IsDirectPlan() {
			positionsByToken[m.InstanceToken] = append(positionsByToken[m.InstanceToken], n+1)
		}
	}
	return positionsByToken
}

// mergeRecordedCalls adds Calls, and merges each with the same Call of other parts.
func (in *RequestInput) mergeRecordedCalls(directPlanPosition int, planName string, calls []RecordedCall) {
	for _, p := range calls {
		index := slices.IndexFunc(in.PlanEntries, func(e PlannedCallSummary) bool {
			return e.DirectPlanPosition == directPlanPosition && e.CallID == p.CallKey().ID("") &&
				jsonval.Equal(e.Call.AsWritten(), p.WrittenCall.AsWritten())
		})
		if index < 0 {
			index = len(in.PlanEntries)
			in.PlanEntries = append(in.PlanEntries, PlannedCallSummary{
				CallID: p.CallKey().ID(""), DirectPlanPosition: directPlanPosition, PlanName: planName,
				Call:             p.WrittenCall,
				CountByStatus:    map[ideafile.CallStatus]int{},
				ResultByInstance: jsonval.Object{},
			})
		}
		for token := range jsonval.Sorted(p.StatusByInstance) {
			in.PlanEntries[index].AddReport(token, p.Report(token))
		}
	}
}

// mergeError adds an error, or only its instances if another part has the same error.
func (in *RequestInput) mergeError(e ContextError) {
	index := slices.IndexFunc(in.Errors, func(o ContextError) bool {
		return o.CallID == e.CallID && o.Fault == e.Fault
	})
	if index < 0 {
		e.InstanceTokens = slices.Clone(e.InstanceTokens) // grows below
		in.Errors = append(in.Errors, e)
		return
	}
	in.Errors[index].InstanceTokens = append(in.Errors[index].InstanceTokens, e.InstanceTokens...)
}

// FilterPlanRecord returns a message as a part of the process sees it: a Plan's record keeps only what concerns the
// part's instances. ok is false if nothing is left.
func FilterPlanRecord(raw any, tokens []string) (out any, ok bool) {
	m, ok := ideafile.ParseMessage(raw)
	if !ok || m.Type != ideafile.TypePlan || (len(m.PlanRecordByCallID) == 0 && len(m.FallbackInstanceTokens) == 0) {
		return raw, true
	}
	ownTokens := map[string]bool{}
	for _, token := range tokens {
		ownTokens[token] = true
	}
	record, calls, callIDs := jsonval.Object{}, []any{}, m.RecordedCallIDs()
	for n, call := range m.PlanCalls {
		if callIDs == nil {
			return raw, true
		}
		entry, isKept := filterPlanEntry(m.PlanRecordByCallID[callIDs[n]], ownTokens)
		if isKept {
			calls = append(calls, call.AsWritten())
			record[callIDs[n]] = entry
		}
		for _, token := range tokens {
			if ownRecord, ok := m.PlanRecordByCallID[callIDs[n]+"@"+token]; ok {
				record[callIDs[n]+"@"+token] = ownRecord
			}
		}
	}
	filtered := jsonval.WithoutKey(m.Source, ideafile.FallbackInstanceTokensKey)
	filtered["record"] = record
	if fallbackTokens := filterTokens(m.FallbackInstanceTokens, ownTokens); len(fallbackTokens) > 0 {
		filtered[ideafile.FallbackInstanceTokensKey] = jsonval.ToJSONValue(fallbackTokens)
	}
	if m.IsDirectPlan() {
		if len(record) == 0 {
			delete(filtered, "record")
		}
		return filtered, true
	}
	filtered["plan"] = calls
	return filtered, len(calls) > 0
}

// filterPlanEntry keeps, of a record's entry, what concerns the given instances or all. isKept reports whether anything
// is left.
func filterPlanEntry(entry any, ownTokens map[string]bool) (out any, isKept bool) {
	object, ok := entry.(jsonval.Object)
	if !ok {
		return entry, entry != nil
	}
	keptFields := jsonval.Object{}
	namesInstances := false
	for key, v := range jsonval.Sorted(object) {
		tokens, isList := jsonval.AsStringList(v)
		switch {
		case key == recordResultsKey, key == recordExecutedCallsKey, key == recordReviewReasonsKey:
			keptFields[key] = filterByToken(v, ownTokens)
		case key == recordDecisionsKey:
			keptFields[key] = slices.DeleteFunc(slices.Clone(jsonval.AsList(v)), func(d any) bool {
				return !ownTokens[jsonval.AsText(jsonval.AsObject(d)["token"])]
			})
		case key == recordFaultsKey:
			keptFields[key] = filterFaults(jsonval.AsList(v), ownTokens)
		case isList:
			namesInstances = true
			if list := filterTokens(tokens, ownTokens); len(list) > 0 {
				keptFields[key], isKept = jsonval.ToJSONValue(list), true
			}
		default:
			keptFields[key], isKept = v, true
		}
	}
	return keptFields, isKept || !namesInstances
}

func filterByToken(values any, ownTokens map[string]bool) jsonval.Object {
	out := jsonval.Object{}
	for token, v := range jsonval.Sorted(jsonval.AsObject(values)) {
		if ownTokens[token] {
			out[token] = v
		}
	}
	return out
}

func filterFaults(list []any, ownTokens map[string]bool) []any {
	out := []any{}
	for _, raw := range list {
		fault := jsonval.WithoutKey(jsonval.AsObject(raw), "instances")
		tokens, _ := jsonval.AsStringList(jsonval.AsObject(raw)["instances"])
		if tokensLeft := filterTokens(tokens, ownTokens); len(tokensLeft) > 0 {
			fault["instances"] = jsonval.ToJSONValue(tokensLeft)
			out = append(out, fault)
		}
	}
	return out
}

// filterTokens picks the tokens that are in a set.
func filterTokens(tokens []string, isAllowed map[string]bool) []string {
	return jsonval.Filter(tokens, func(t string) bool { return isAllowed[t] })
}
