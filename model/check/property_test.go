package check

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// malformedValue draws something that is no Call.
var malformedValue = rapid.SampledFrom([]any{nil, true, "†", "†state", "*", "x", []any{}, []any{"†input.x"},
	map[string]any{}, map[string]any{"_tool": 5, "x": nil}})

// Whatever a file contains, Check ends and does not panic.
func TestCheckSurvivesAnyPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.GeneratePlan(rt, modeltest.PlanOptions{MaxCalls: 6, MaxRequests: 1})
		var calls []any
		for _, c := range plan.Requests[0] {
			raw := any(c.Source)
			switch rapid.IntRange(0, 9).Draw(rt, "broken") {
			case 0:
				raw = malformedValue.Draw(rt, "call")
			case 1:
				raw = jsonval.WithoutKey(c.Source, "_tool")
			case 2:
				raw.(map[string]any)["_instance"] = malformedValue.Draw(rt, "instance")
			}
			calls = append(calls, raw)
		}
		tools := map[string]any{}
		for _, tool := range modeltest.RandomPlanPalette.Tools {
			tools[tool.Name] = tool.Source
		}
		idea := map[string]any{"schema": map[string]any{"tools": tools},
			"context": append(plan.Context, map[string]any{"type": "plan", "plan": calls})}
		i, ps := ideafile.ReadIdea(idea)
		if len(ps) > 0 {
			rt.Fatalf("%s", ps)
		}
		Check(i, modeltest.RandomPlanPalette.BindingByTool)
	})
}

// valueWithAllPaths is a value that has all the paths of random Plans.
func valueWithAllPaths(depth int) any {
	if depth == 0 {
		return "leaf"
	}
	out := map[string]any{}
	for _, k := range []string{"a", "b", "c", "d", "e"} {
		out[k] = valueWithAllPaths(depth - 1)
	}
	return out
}

func anyOnCall(ps diag.Problems) bool {
	for _, p := range ps {
		if strings.Contains(p.JSONPath, ".plan[") {
			return true
		}
	}
	return false
}

// playAndCheck plays a random Plan in which all Calls succeed, and returns how it went and what Check finds.
func playAndCheck(rt *rapid.T, k modeltest.PlanOptions) (*modeltest.PlanExecution, diag.Problems) {
	plan := modeltest.GeneratePlan(rt, k)
	var calls []any
	tools := map[string]any{}
	for _, tool := range modeltest.RandomPlanPalette.Tools {
		tools[tool.Name] = tool.Source
	}
	for n := range plan.Requests[0] {
		c := &plan.Requests[0][n]
		c.Index, c.Fails, c.ResultFunc = n+1, false, func(_, _ map[string]any) any { return valueWithAllPaths(3) }
		delete(c.Source, "_output")
		calls = append(calls, c.Source)
	}
	i, ps := ideafile.ReadIdea(map[string]any{
		"schema": map[string]any{"tools": tools},
		"context": append(plan.Context[:len(plan.Context):len(plan.Context)],
			map[string]any{"type": "plan", "plan": calls}),
	})
	if len(ps) > 0 {
		rt.Fatalf("%s", ps)
	}
	p := modeltest.NewPlanExecution(plan)
	p.RunAll(rt, modeltest.PickFirst)
	return p, Check(i, modeltest.RandomPlanPalette.BindingByTool)
}

// Where Check finds nothing wrong with a Plan of write-once Calls that all succeed, no Call blocks.
func TestAPlanThatCheckFindsNothingInDoesNotBlock(t *testing.T) {
	t.Parallel()
	blocked := 0
	rapid.Check(t, func(rt *rapid.T) {
		p, problems := playAndCheck(rt, modeltest.PlanOptions{MaxCalls: 5, MaxRequests: 1, OnlyWriteOnce: true,
			NoWholeStateWrites: true})
		for _, rec := range p.Instance.CallRecords() {
			if rec.Status == ideafile.CallFailed || rec.UntakenBranchReference != "" || rec.TakenBranchNumber > 1 {
				return // whether a result fits its schema, and which branch is taken, is only known at run time
			}
		}
		for _, rec := range p.Instance.CallRecords() {
			if rec.Status == ideafile.CallBlocked {
				blocked++
				if !anyOnCall(problems) {
					rt.Fatalf("%s is blocked and Check says nothing: %s\n%s", rec.ID, rec.Fault, p.Plan)
				}
			}
		}
	})
	if !testing.Short() && blocked == 0 {
		t.Error("no Plan blocked: the test tests nothing")
	}
}

// A Call for which Check reports an error never succeeds.
func TestACallThatCheckReportsNeverSucceeds(t *testing.T) {
	t.Parallel()
	reported := 0
	rapid.Check(t, func(rt *rapid.T) {
		p, problems := playAndCheck(rt, modeltest.PlanOptions{MaxCalls: 6, MaxRequests: 1})
		for n, rec := range p.Instance.CallRecords() {
			for _, problem := range problems.Errors() {
				if !strings.HasPrefix(problem.JSONPath, fmt.Sprintf("$.context[2].plan[%d]", n)) {
					continue
				}
				reported++
				if rec.Status == ideafile.CallDone {
					rt.Fatalf("%s is done, and Check says: %s\n%s", rec.ID, problem, p.Plan)
				}
			}
		}
	})
	if !testing.Short() && reported == 0 {
		t.Error("no Call was reported: the test tests nothing")
	}
}
