package simulate

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonschema/sample"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// FakeSolution makes up the solution to one Request, as an LLM would write it: the Calls for every instance in the
// first Request, and the output later, when it is wanted. The Calls are those of the Plan that guides an instance;
// without such a Plan, they use each Tool once. The solution depends on schemas and Plans only, never on results, and
// is the same each time.
func FakeSolution(idea *ideafile.Idea, bindings ideafile.ToolBindings,
	request *turn.RequestInput) jsonval.Object {
	solution := jsonval.Object{"calls": []any{}, "output": nil}
	switch {
	case len(request.Questions) > 0:
		solution["calls"] = fakeAnswers(idea, request)
		return solution
	case !request.IsOutputOnly && request.RequestNumber <= 1 &&
		len(turn.WithoutDirectPlanCalls(request.PlanEntries)) == 0:
		// no earlier Request has planned: the first one plans everything
		if calls := fakeCalls(idea, bindings, request); len(calls) > 0 {
			solution["calls"] = calls
			return solution
		}
	}
	if idea.OutputSchema != nil {
		if v, err := sample.MakeSample(idea.OutputSchema.Source); err == nil {
			solution["output"] = refexpr.EscapeDaggers(v)
		}
	}
	return solution
}

// AnswersRequest reports whether Calls answer a Request. Questions need at least one result. Any other Request needs at
// least one new Call, or no Calls at all.
func AnswersRequest(request *turn.RequestInput, calls []any) bool {
	if len(request.Questions) > 0 {
		return slices.ContainsFunc(request.Questions, func(q turn.QuestionToLLM) bool {
			return slices.ContainsFunc(calls, func(raw any) bool { return jsonval.AsObject(raw)["_call"] == q.CallID })
		})
	}
	for _, raw := range calls {
		isSameCall := func(e turn.PlannedCallSummary) bool { return jsonval.Equal(e.Call.AsWritten(), raw) }
		if !slices.ContainsFunc(request.PlanEntries, isSameCall) {
			return jsonval.AsObject(raw)["_call"] == nil
		}
	}
	return len(calls) == 0
}

// fakeAnswers makes up the results and the corrected parameters that a Request asks for.
func fakeAnswers(idea *ideafile.Idea, request *turn.RequestInput) []any {
	answers := []any{}
	for _, question := range request.Questions {
		answer := jsonval.Object{"_call": question.CallID}
		t := idea.Tool(question.Tool)
		switch {
		case t == nil:
			continue
		case question.ParamsError != "":
			answer["_params"] = replaceMisfitParams(t, question.Params)
		default:
			v, err := FakeResult(t.Name, t.Source["_output"], nil)
			if err != nil {
				continue
			}
			answer["_output"] = v
		}
		answers = append(answers, answer)
	}
	return answers
}

// replaceMisfitParams keeps the parameters that fit and makes up the others.
func replaceMisfitParams(t *ideafile.Tool, params jsonval.Object) jsonval.Object {
	out := jsonval.Object{}
	for k, value := range jsonval.Sorted(params) {
		out[k] = value
		if s := t.SchemaByParam[k]; s.Validate(value) == nil || jsonval.ContainsBlobHandle(value) {
			continue
		}
		if v, err := sample.MakeSample(paramSchema(t, k)); err == nil {
			out[k] = v
		}
	}
	return out
}

// paramSchema is the schema of a parameter, with the definitions that it refers to.
func paramSchema(t *ideafile.Tool, name string) any {
	schema := t.ParamsSchemaSource()
	partSchema, ok := jsonschema.Properties(schema)[name]
	if !ok {
		return jsonval.Object{}
	}
	return jsonschema.InlineRefs(schema, partSchema)
}

// fakeCalls makes up the Calls of the first Request.
func fakeCalls(idea *ideafile.Idea, bindings ideafile.ToolBindings, request *turn.RequestInput) []any {
	tokensByPlanIndex, coveredTokens := map[int][]string{}, request.InstanceTokens()
	for _, token := range coveredTokens {
		n := guidingPlanIndex(idea, token)
		tokensByPlanIndex[n] = append(tokensByPlanIndex[n], token)
	}
	var calls []any
	for n := -1; n < len(idea.Context); n++ {
		tokens := tokensByPlanIndex[n]
		if len(tokens) == 0 {
			continue
		}
		var plan []any
		if n < 0 {
			plan = newPlanFaker(idea, bindings, tokens[0]).fakePlan()
		} else {
			plan = ideafile.RawWrittenCalls(idea.Context[n].PlanCalls)
		}
		calls = append(calls, assignCallsToInstances(plan, tokens, len(tokens) == len(coveredTokens))...)
	}
	return calls
}

// guidingPlanIndex returns the index in the context of the Plan that guides an instance, which is the first whose
// `when` holds; -1 if there is none.
func guidingPlanIndex(idea *ideafile.Idea, token string) int {
	view := ideafile.InstanceViewOf(idea.Context, token)
	return slices.IndexFunc(idea.Context, func(m ideafile.Message) bool {
		return m.Type == ideafile.TypePlan && !m.IsDirectPlan() && !m.IsStagelessPlanWithRecord() &&
			(m.InstanceToken == "" || m.InstanceToken == token) && m.PlanAppliesTo(view)
	})
}

// assignCallsToInstances sets the instances of those Calls of a Plan that name none.
func assignCallsToInstances(plan []any, tokens []string, coversAllInstances bool) []any {
	if len(tokens) == 1 && tokens[0] == "" {
		return plan
	}
	if coversAllInstances {
		tokens = []string{"*"}
	}
	var out []any
	for _, raw := range plan {
		call := jsonval.AsObject(raw)
		if len(ideafile.ParseWrittenCall(raw).TargetTokens) > 0 {
			out = append(out, raw)
			continue
		}
		for _, token := range tokens {
			assignedCall := jsonval.WithKey(call, "_instance", token)
			out = append(out, assignedCall)
		}
	}
	return out
}
