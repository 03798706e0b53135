package dataflow_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/statelog"
)

// The rules one by one are in the transcripts under testdata/run. Here is what must hold for any Plan.

var anyPlan = modeltest.PlanOptions{MaxCalls: 8, MaxRequests: 2}

func drawnOrder(t *rapid.T, name string) func(n int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
}

func TestEveryCallReachesAnEndAndStartsOnceAtMost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.NewPlanExecution(modeltest.GeneratePlan(rt, anyPlan))
		p.RunAll(rt, drawnOrder(rt, "order"))
		for _, rec := range p.Instance.CallRecords() {
			if !rec.Status.IsFinal() {
				rt.Fatalf("%s is still %s in\n%s", rec.ID, rec.Status, p.Plan)
			}
		}
		if !p.Instance.IsIdle() || p.Instance.HasOpenRequest() || len(p.Instance.Advance()) > 0 {
			rt.Fatalf("it is not over in\n%s", p.Plan)
		}
	})
}

func TestTheOutcomeDoesNotDependOnTheOrderOfThings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.GeneratePlan(rt, anyPlan)
		first, second := modeltest.NewPlanExecution(plan), modeltest.NewPlanExecution(plan)
		first.RunAll(rt, modeltest.PickFirst)
		second.RunAll(rt, drawnOrder(rt, "order"))
		if a, b := first.DescribeOutcome(), second.DescribeOutcome(); a != b {
			rt.Fatalf("%s\none order:\n%s\nanother:\n%s", plan, a, b)
		}
	})
}

func TestWhatAWriteOnceCallWroteIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.NewPlanExecution(modeltest.GeneratePlan(rt,
			modeltest.PlanOptions{MaxCalls: 8, MaxRequests: 2, OnlyWriteOnce: true}))
		start := leavesOf(p.Instance.State())
		before := map[string]string{}
		p.AfterStep = func() {
			now := leavesOf(p.Instance.State())
			for path, value := range before {
				if start[path] != value && now[path] != value {
					rt.Fatalf("%s was %s and is now %q in\n%s", path, value, now[path], p.Plan)
				}
			}
			before = now
		}
		p.RunAll(rt, drawnOrder(rt, "order"))
		for _, rec := range p.Instance.CallRecords() {
			if rec.Status != ideafile.CallDone || rec.OutputPath == nil || rec.Update() {
				continue
			}
			for _, path := range rec.OutputPath[max(rec.TakenBranchNumber, 1)-1] {
				// it may be replaced, and is not written
				_, before := jsonval.ValueAt(modeltest.NewPlanExecution(p.Plan).Instance.State(), path)
				if _, ok := jsonval.ValueAt(p.Instance.State(), path); !ok && !before {
					rt.Fatalf("%s is done and nothing is at %s in\n%s", rec.ID, path, p.Plan)
				}
			}
		}
	})
}

// leavesOf lists what stands in a value, by path. Empty objects may still grow and are none.
func leavesOf(v any) map[string]string {
	out := map[string]string{}
	var walk func(v any, at jsonval.Path)
	walk = func(v any, at jsonval.Path) {
		m, ok := v.(map[string]any)
		if !ok {
			out[at.String()] = string(jsonval.Encode(v))
		}
		for k, e := range m {
			walk(e, append(at[:len(at):len(at)], k))
		}
	}
	walk(v, nil)
	return out
}

func TestOfSeveralAlternativesTheFirstThatCanSucceeds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.GeneratePlan(rt, modeltest.PlanOptions{MaxCalls: 1, MaxRequests: 1})
		plan.Context[0] = map[string]any{"type": "state", "state": map[string]any{}}
		path := rapid.SampledFrom(modeltest.RandomPlanStatePaths).Draw(rt, "path")
		var calls []modeltest.RandomCall
		winner := ""
		for i := range rapid.IntRange(1, 6).Draw(rt, "alternatives") {
			c := modeltest.RandomCall{Request: 1, Index: i + 1,
				Source: map[string]any{"_tool": "work", "_outputPath": path}, Fails: rapid.Bool().Draw(rt, "fails")}
			c.ResultFunc = func(_, _ map[string]any) any { return c.ID() }
			if rapid.Bool().Draw(rt, "latent") {
				c.Source["_tool"] = "think"
			}
			if rapid.IntRange(0, 4).Draw(rt, "dead") == 0 {
				c.Source["p"] = "†state.never"
			} else if !c.Fails && winner == "" {
				winner = c.ID()
			}
			calls = append(calls, c)
		}
		plan.Requests = [][]modeltest.RandomCall{calls}
		p := modeltest.NewPlanExecution(plan)
		p.AfterStep = func() {
			if n := len(p.RunningCalls) + len(p.Instance.CallsAwaitingLLM()); n > 1 {
				rt.Fatalf("%d alternatives run at once", n)
			}
		}
		p.RunAll(rt, drawnOrder(rt, "order"))
		past := false
		for _, rec := range p.Instance.CallRecords() {
			_, dead := p.CallByID[rec.ID].Source["p"]
			want := fmt.Sprintf("%s by %q", rec.Status, rec.SkippedBecauseOf)
			switch {
			case rec.ID == winner:
				want, past = `done by ""`, true
			case past:
				want = fmt.Sprintf(`skipped by %q`, winner)
			case dead:
				want = `blocked by ""`
			default:
				want = `failed by ""`
			}
			if got := fmt.Sprintf("%s by %q", rec.Status, rec.SkippedBecauseOf); got != want {
				rt.Fatalf("%s is %s, not %s, in\n%s", rec.ID, got, want, p.Plan)
			}
		}
	})
}

func TestAnInstanceRunsAsIfTheOthersWereNotThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.GeneratePlan(rt, anyPlan)
		alone, among := plan, plan
		alone.Context, among.Context = nil, nil
		for _, raw := range plan.Context {
			own := jsonval.DeepMerge(raw, map[string]any{"_instance": "①"})
			other := jsonval.DeepMerge(raw,
				map[string]any{"_instance": "②", "schema": map[string]any{"additionalProperties": false}})
			alone.Context = append(alone.Context, own)
			among.Context = append(among.Context, other, own,
				map[string]any{"type": "input", "_instance": "②", "secret": "②"})
		}
		a, b := modeltest.NewPlanExecutionFor(alone, "①"), modeltest.NewPlanExecutionFor(among, "①")
		a.RunAll(rt, modeltest.PickFirst)
		b.RunAll(rt, drawnOrder(rt, "order"))
		if a.DescribeOutcome() != b.DescribeOutcome() {
			rt.Fatalf("%s\nalone:\n%s\namong others:\n%s", plan, a.DescribeOutcome(), b.DescribeOutcome())
		}
	})
}

func TestWhateverStateHoldsArrivesAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		data := modeltest.AnyJSON(4).Draw(rt, "data")
		plan := modeltest.RandomPlan{
			Context: []any{map[string]any{"type": "state",
				"state": map[string]any{"x": jsonval.EscapeBlobHandles(data)}}}}
		reads := func(index int, ref string) modeltest.RandomCall {
			return modeltest.RandomCall{Request: 1, Index: index,
				Source:     map[string]any{"_tool": "work", "p": []any{ref}, "_outputPath": fmt.Sprintf("r%d", index)},
				ResultFunc: func(params, _ map[string]any) any { return params["p"].([]any)[0] }}
		}
		// and as a result that is read again
		plan.Requests = [][]modeltest.RandomCall{{reads(1, "†state.x"), reads(2, "†state.r1"), reads(3, "†state.r2")}}
		p := modeltest.NewPlanExecution(plan)
		p.RunAll(rt, modeltest.PickFirst)
		for _, k := range []string{"r1", "r2", "r3"} {
			got := p.Instance.State().(map[string]any)[k]
			if !jsonval.Equal(jsonval.UnescapeBlobHandles(got), data) || jsonval.ContainsBlobHandle(got) {
				rt.Fatalf("%s arrives at %s as %s", jsonval.Encode(data), k, jsonval.Encode(got))
			}
		}
	})
}

// The process rebuilds an instance's State from the writes it reports.
func TestTheWritesThatAreReportedMakeTheSameState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.NewPlanExecution(modeltest.GeneratePlan(rt, anyPlan))
		there := statelog.NewState(p.Instance.State())
		p.AfterStep = func() {
			for _, w := range p.Instance.TakeUnreportedWrites() {
				var travelled statelog.Write
				data, err := json.Marshal(w)
				if err == nil {
					err = json.Unmarshal(data, &travelled)
				}
				if err != nil {
					rt.Fatal(err)
				}
				travelled.Value = w.Value // numbers are the codec's concern
				there.Apply(travelled)
			}
			if !jsonval.Equal(there.Snapshot(), p.Instance.State()) {
				rt.Fatalf("here %s, there %s", jsonval.Encode(p.Instance.State()), jsonval.Encode(there.Snapshot()))
			}
		}
		p.RunAll(rt, drawnOrder(rt, "order"))
		if len(p.Instance.TakeUnreportedWrites()) > 0 {
			rt.Fatal("a write is reported twice")
		}
	})
}
