package simulate

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/sample"
	"processidea/model/turn"
)

// This file makes up what an LLM might answer in a simulation, from schemas alone: the Plan that a file guides to, or each
// Tool once where it guides to none, and values that fit.

// Sketch makes up the solution to one Request, as an LLM would write it: first the Calls for every covered instance, then,
// once there are any, the output. It looks at schemas and Plans, never at what a Call came to, and gives the same each time.
func FakeReply(i *ideafile.Idea, bindings map[string]ideafile.Binding, b *turn.RequestInput) map[string]any {
	solution := map[string]any{"calls": []any{}, "output": nil}
	switch {
	case len(b.Questions) > 0:
		solution["calls"] = fakeAnswers(i, b)
		return solution
	case !b.OutputOnly && !planned(b):
		if calls := fakeCalls(i, bindings, b); len(calls) > 0 {
			solution["calls"] = calls
			return solution
		}
	}
	if i.Output != nil {
		if v, err := sample.Sample(i.Output.Source); err == nil {
			solution["output"] = literal(v)
		}
	}
	return solution
}

// planned says whether a Request has been made before this one: it brought all that there is to plan.
func planned(b *turn.RequestInput) bool {
	return b.Number > 1 || len(turn.WithoutDirectPlans(b.Plan)) > 0
}

// Answers says whether Calls answer what is asked: results where results are asked for, and Calls that were not planned
// before otherwise. No Calls answer anything but that.
func Answers(b *turn.RequestInput, calls []any) bool {
	if len(b.Questions) > 0 {
		for _, raw := range calls {
			if id, _ := jsonval.AsObject(raw)["_call"].(string); asksFor(b, id) {
				return true
			}
		}
		return false
	}
	for _, raw := range calls {
		if !hasPlanned(b, raw) {
			return jsonval.AsObject(raw)["_call"] == nil
		}
	}
	return len(calls) == 0
}

func asksFor(b *turn.RequestInput, id string) bool {
	for _, a := range b.Questions {
		if a.ID == id {
			return true
		}
	}
	return false
}

func hasPlanned(b *turn.RequestInput, call any) bool {
	for _, e := range b.Plan {
		if jsonval.Equal(e.Call.Value(), call) {
			return true
		}
	}
	return false
}

// literal keeps made-up text from being read as a Reference.
func literal(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, refexpr.Dagger) {
			return refexpr.Dagger + v
		}
	case []any:
		out := make([]any, len(v))
		for n, e := range v {
			out[n] = literal(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- a map again
		for k, e := range v {
			out[k] = literal(e)
		}
		return out
	}
	return v
}

// sketchAnswers makes up the results, and fits the values, that a Request asks for by themselves.
func fakeAnswers(i *ideafile.Idea, b *turn.RequestInput) []any {
	answers := []any{}
	for _, a := range b.Questions {
		answer := map[string]any{"_call": a.ID}
		t := i.Tool(a.Tool)
		switch {
		case t == nil:
			continue
		case a.ParamsError != "":
			answer["_params"] = sketchFit(t, a.Params)
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

// sketchFit keeps the parameters that fit and makes up the others.
func sketchFit(t *ideafile.Tool, params map[string]any) map[string]any {
	out := map[string]any{}
	for _, k := range jsonval.SortedKeys(params) {
		out[k] = params[k]
		if s := t.SchemaByParam[k]; s.Validate(params[k]) == nil || jsonval.HasHandle(params[k]) {
			continue
		}
		if v, err := sample.Sample(paramSchema(t, k)); err == nil {
			out[k] = v
		}
	}
	return out
}

// paramSchema is what a parameter must fit, with its references put in.
func paramSchema(t *ideafile.Tool, name string) any {
	form := t.ParamsSchemaSource()
	part, ok := jsonval.AsObject(form["properties"])[name]
	if !ok {
		return map[string]any{}
	}
	return jsonschema.Rooted(form, part)
}

// sketchCalls makes up the Calls of the first Request.
func fakeCalls(i *ideafile.Idea, bindings map[string]ideafile.Binding, b *turn.RequestInput) []any {
	chosen, named := map[int][]string{}, b.Tokens()
	for _, token := range named {
		n := guide(i, token)
		chosen[n] = append(chosen[n], token)
	}
	var calls []any
	for n := -1; n < len(i.Context); n++ {
		tokens := chosen[n]
		if len(tokens) == 0 {
			continue
		}
		var plan []any
		if n < 0 {
			plan = newPlanFaker(i, bindings, tokens[0]).calls()
		} else {
			plan = ideafile.WrittenValues(i.Context[n].Calls)
		}
		calls = append(calls, forTokens(plan, tokens, len(tokens) == len(named))...)
	}
	return calls
}

// guide gives the Plan message that guides an instance, as its place in the context: the first whose `when` holds; -1 where
// there is none.
func guide(i *ideafile.Idea, token string) int {
	view := ideafile.ViewOf(i.Context, token)
	for n, m := range i.Context {
		if m.Type == ideafile.TypePlan && !m.RunsDirectly() && !m.IsPlanRecord() && (m.Instance == "" || m.Instance == token) && m.AppliesTo(view) {
			return n
		}
	}
	return -1
}

// forTokens names the instances in the Calls of a Plan.
func forTokens(plan []any, tokens []string, all bool) []any {
	if len(tokens) == 1 && tokens[0] == "" {
		return plan
	}
	if all {
		tokens = []string{"*"}
	}
	var out []any
	for _, raw := range plan {
		call := jsonval.AsObject(raw)
		if named, ok := call["_instance"].(string); ok && named != "*" {
			out = append(out, raw)
			continue
		}
		for _, token := range tokens {
			own := jsonval.WithoutKey(call, "_instance")
			own["_instance"] = token
			out = append(out, own)
		}
	}
	return out
}
