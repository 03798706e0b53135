package turn

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file merges the records of a split process's parts, and divides them among parts again. Each part is a process
// with an Idea of its own.

// AddPartContext adds the content of the last Idea of a part to the input of the whole process: how its instances
// ended, the Calls with their outcomes, and the errors not reported yet. whole and part are contexts.
func (in *RequestInput) AddPartContext(whole, part any, tokens []string, states jsonval.Object) {
	places := directPlanPositions(whole)
	byToken := map[string]*InstanceInput{}
	for _, token := range tokens {
		byToken[token] = &InstanceInput{Token: token, State: states[token]}
	}
	owned := map[string]int{}
	for _, raw := range jsonval.AsList(part) {
		m, ok := ideafile.ParseMessage(raw)
		e, isError := ReadContextError(m)
		switch of := byToken[m.InstanceToken]; {
		case !ok:
		case m.PayloadKind == ideafile.TypeState && of != nil:
			of.Status, of.Fault, of.Steps = m.InstanceEndStatus, m.InstanceFault, m.InstanceSteps
		case m.IsDirectPlan():
			at := 0
			if own, n := places[m.InstanceToken], owned[m.InstanceToken]; n < len(own) {
				at = own[n]
			}
			owned[m.InstanceToken]++
			in.mergeRecordedCalls(at, m.PlanName, ReadDirectPlanRecord(m, tokens))
			for _, token := range m.FallbackInstances {
				if of := byToken[token]; of != nil {
					of.FailedDirectPlanPosition = at
				}
			}
		case m.IsPlanWithRecord():
			in.mergeRecordedCalls(0, "", ReadPlanRecord(m, tokens))
		case isError:
			if len(e.Instances) == 0 {
				e.Instances = tokens
			}
			in.mergeError(e)
		}
	}
	for _, token := range tokens {
		in.Instances = append(in.Instances, *byToken[token])
	}
	slices.SortStableFunc(in.Errors,
		func(a, b ContextError) int { return callKeyOf(a.CallID).Compare(callKeyOf(b.CallID)) })
}

// directPlanPositions returns the positions in a context, from 1, of the Plans that run directly, by the instance that
// owns them.
func directPlanPositions(context any) map[string][]int {
	places := map[string][]int{}
	for n, raw := range jsonval.AsList(context) {
		if m, ok := ideafile.ParseMessage(raw); ok && m.IsDirectPlan() {
			places[m.InstanceToken] = append(places[m.InstanceToken], n+1)
		}
	}
	return places
}

// mergeRecordedCalls adds Calls, and merges each with the same Call of other parts.
func (in *RequestInput) mergeRecordedCalls(directPlan int, name string, calls []RecordedCall) {
	for _, p := range calls {
		at := slices.IndexFunc(in.PlanEntries, func(e PlannedCallSummary) bool {
			return e.DirectPlan == directPlan && e.CallID == p.CallKey().ID("") &&
				jsonval.Equal(e.Call.AsWritten(), p.WrittenCall.AsWritten())
		})
		if at < 0 {
			at = len(in.PlanEntries)
			in.PlanEntries = append(in.PlanEntries, PlannedCallSummary{
				CallID: p.CallKey().ID(""), DirectPlan: directPlan, PlanName: name, Call: p.WrittenCall,
				StatusCounts:     map[ideafile.CallStatus]int{},
				ResultByInstance: jsonval.Object{},
			})
		}
		for token := range jsonval.Sorted(p.StatusByInstance) {
			in.PlanEntries[at].AddReport(token, p.Report(token))
		}
	}
}

// mergeError adds an error, or only its instances if another part has the same error.
func (in *RequestInput) mergeError(e ContextError) {
	at := slices.IndexFunc(in.Errors, func(o ContextError) bool { return o.CallID == e.CallID && o.Fault == e.Fault })
	if at < 0 {
		in.Errors = append(in.Errors, e)
		return
	}
	in.Errors[at].Instances = slices.Concat(in.Errors[at].Instances, e.Instances)
}

// FilterPlanRecord returns a message as a part of the process sees it: a Plan's record keeps only what concerns the
// part's instances. ok is false if nothing is left.
func FilterPlanRecord(raw any, tokens []string) (out any, ok bool) {
	m, ok := ideafile.ParseMessage(raw)
	if !ok || m.Type != ideafile.TypePlan || (len(m.PlanRecordByCallID) == 0 && len(m.FallbackInstances) == 0) {
		return raw, true
	}
	mine := map[string]bool{}
	for _, token := range tokens {
		mine[token] = true
	}
	record, calls, ids := jsonval.Object{}, []any{}, m.RecordedCallIDs()
	for n, call := range m.PlanCalls {
		if ids == nil {
			return raw, true
		}
		entry, left := filterPlanEntry(m.PlanRecordByCallID[ids[n]], mine)
		if left {
			calls = append(calls, call.AsWritten())
			record[ids[n]] = entry
		}
		for _, token := range tokens {
			if own, ok := m.PlanRecordByCallID[ids[n]+"@"+token]; ok {
				record[ids[n]+"@"+token] = own
			}
		}
	}
	next := jsonval.WithoutKey(m.Source, ideafile.FallbackInstancesKey)
	next["record"] = record
	if fellBack := toTokenSet(m.FallbackInstances, mine); len(fellBack) > 0 {
		next[ideafile.FallbackInstancesKey] = jsonval.ToJSONValue(fellBack)
	}
	if m.IsDirectPlan() {
		if len(record) == 0 {
			delete(next, "record")
		}
		return next, true
	}
	next["plan"] = calls
	return next, len(calls) > 0
}

// filterPlanEntry keeps, of a record's entry, what concerns the given instances or all. left reports whether anything
// is left.
func filterPlanEntry(entry any, mine map[string]bool) (out any, left bool) {
	object, ok := entry.(jsonval.Object)
	if !ok {
		return entry, entry != nil
	}
	rest := jsonval.Object{}
	named := false
	for key, v := range jsonval.Sorted(object) {
		tokens, isList := jsonval.AsStringList(v)
		switch {
		case key == recordResults, key == recordRan, key == recordReview:
			rest[key] = filterByToken(v, mine)
		case key == recordDecided:
			rest[key] = slices.DeleteFunc(slices.Clone(jsonval.AsList(v)), func(d any) bool {
				return !mine[jsonval.AsText(jsonval.AsObject(d)["token"])]
			})
		case key == recordFaults:
			rest[key] = filterFaults(jsonval.AsList(v), mine)
		case isList:
			named = true
			if list := toTokenSet(tokens, mine); len(list) > 0 {
				rest[key], left = jsonval.ToJSONValue(list), true
			}
		default:
			rest[key], left = v, true
		}
	}
	return rest, left || !named
}

func filterByToken(values any, mine map[string]bool) jsonval.Object {
	out := jsonval.Object{}
	for token, v := range jsonval.Sorted(jsonval.AsObject(values)) {
		if mine[token] {
			out[token] = v
		}
	}
	return out
}

func filterFaults(list []any, mine map[string]bool) []any {
	out := []any{}
	for _, raw := range list {
		fault := jsonval.WithoutKey(jsonval.AsObject(raw), "instances")
		tokens, _ := jsonval.AsStringList(jsonval.AsObject(raw)["instances"])
		if left := toTokenSet(tokens, mine); len(left) > 0 {
			fault["instances"] = jsonval.ToJSONValue(left)
			out = append(out, fault)
		}
	}
	return out
}

// toTokenSet picks the tokens that are in a set.
func toTokenSet(tokens []string, set map[string]bool) []string {
	return jsonval.Filter(tokens, func(t string) bool { return set[t] })
}
