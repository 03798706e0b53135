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

var anyPlan = modeltest.PlanKnobs{Calls: 8, Requests: 2}

func drawnOrder(t *rapid.T, name string) func(n int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
}

func TestEveryCallReachesAnEndAndStartsOnceAtMost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.NewPlay(modeltest.DrawPlan(rt, anyPlan))
		p.Through(rt, drawnOrder(rt, "order"))
		for _, rec := range p.Run.Records() {
			if !rec.Status.Ended() {
				rt.Fatalf("%s is still %s in\n%s", rec.ID, rec.Status, p.Plan)
			}
		}
		if !p.Run.Idle() || p.Run.Listening() || len(p.Run.Next()) > 0 {
			rt.Fatalf("it is not over in\n%s", p.Plan)
		}
	})
}

func TestTheOutcomeDoesNotDependOnTheOrderOfThings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.DrawPlan(rt, anyPlan)
		first, second := modeltest.NewPlay(plan), modeltest.NewPlay(plan)
		first.Through(rt, modeltest.InOrder)
		second.Through(rt, drawnOrder(rt, "order"))
		if a, b := first.Fates(), second.Fates(); a != b {
			rt.Fatalf("%s\none order:\n%s\nanother:\n%s", plan, a, b)
		}
	})
}

func TestWhatAWriteOnceCallWroteIsNeverOverwritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.NewPlay(modeltest.DrawPlan(rt, modeltest.PlanKnobs{Calls: 8, Requests: 2, OnlyWriteOnce: true}))
		start := leavesOf(p.Run.State())
		before := map[string]string{}
		p.After = func() {
			now := leavesOf(p.Run.State())
			for path, value := range before {
				if start[path] != value && now[path] != value {
					rt.Fatalf("%s was %s and is now %q in\n%s", path, value, now[path], p.Plan)
				}
			}
			before = now
		}
		p.Through(rt, drawnOrder(rt, "order"))
		for _, rec := range p.Run.Records() {
			if rec.Status != ideafile.Done || rec.OutputPath == nil || rec.Update() {
				continue
			}
			for _, path := range rec.OutputPath[max(rec.Branch, 1)-1] {
				_, before := jsonval.Lookup(modeltest.NewPlay(p.Plan).Run.State(), path) // it may be replaced, and is not written
				if _, ok := jsonval.Lookup(p.Run.State(), path); !ok && !before {
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
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.DrawPlan(rt, modeltest.PlanKnobs{Calls: 1, Requests: 1})
		plan.Context[0] = map[string]any{"type": "state", "state": map[string]any{}}
		path := rapid.SampledFrom(modeltest.PlayPaths).Draw(rt, "path")
		var calls []modeltest.DrawnCall
		winner := ""
		for i := range rapid.IntRange(1, 6).Draw(rt, "alternatives") {
			c := modeltest.DrawnCall{Request: 1, Index: i + 1, Raw: map[string]any{"_tool": "work", "_outputPath": path}, Fails: rapid.Bool().Draw(rt, "fails")}
			c.Result = func(_, _ map[string]any) any { return c.Id() }
			if rapid.Bool().Draw(rt, "latent") {
				c.Raw["_tool"] = "think"
			}
			if rapid.IntRange(0, 4).Draw(rt, "dead") == 0 {
				c.Raw["p"] = "†state.never"
			} else if !c.Fails && winner == "" {
				winner = c.Id()
			}
			calls = append(calls, c)
		}
		plan.Requests = [][]modeltest.DrawnCall{calls}
		p := modeltest.NewPlay(plan)
		p.After = func() {
			if n := len(p.Running) + len(p.Run.AwaitingLLM()); n > 1 {
				rt.Fatalf("%d alternatives run at once", n)
			}
		}
		p.Through(rt, drawnOrder(rt, "order"))
		past := false
		for _, rec := range p.Run.Records() {
			_, dead := p.Calls[rec.ID].Raw["p"]
			want := fmt.Sprintf("%s by %q", rec.Status, rec.By)
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
			if got := fmt.Sprintf("%s by %q", rec.Status, rec.By); got != want {
				rt.Fatalf("%s is %s, not %s, in\n%s", rec.ID, got, want, p.Plan)
			}
		}
	})
}

func TestAnInstanceRunsAsIfTheOthersWereNotThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.DrawPlan(rt, anyPlan)
		alone, among := plan, plan
		alone.Context, among.Context = nil, nil
		for _, raw := range plan.Context {
			own := jsonval.Merge(raw, map[string]any{"_instance": "①"})
			other := jsonval.Merge(raw, map[string]any{"_instance": "②", "schema": map[string]any{"additionalProperties": false}})
			alone.Context = append(alone.Context, own)
			among.Context = append(among.Context, other, own, map[string]any{"type": "input", "_instance": "②", "secret": "②"})
		}
		a, b := modeltest.NewPlayOf(alone, "①"), modeltest.NewPlayOf(among, "①")
		a.Through(rt, modeltest.InOrder)
		b.Through(rt, drawnOrder(rt, "order"))
		if a.Fates() != b.Fates() {
			rt.Fatalf("%s\nalone:\n%s\namong others:\n%s", plan, a.Fates(), b.Fates())
		}
	})
}

func TestWhateverStateHoldsArrivesAsItIs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := modeltest.AnyJSON(4).Draw(rt, "data")
		plan := modeltest.DrawnPlan{Context: []any{map[string]any{"type": "state", "state": map[string]any{"x": jsonval.Escape(data)}}}}
		reads := func(index int, ref string) modeltest.DrawnCall {
			return modeltest.DrawnCall{Request: 1, Index: index, Raw: map[string]any{"_tool": "work", "p": []any{ref}, "_outputPath": fmt.Sprintf("r%d", index)},
				Result: func(params, _ map[string]any) any { return params["p"].([]any)[0] }}
		}
		plan.Requests = [][]modeltest.DrawnCall{{reads(1, "†state.x"), reads(2, "†state.r1"), reads(3, "†state.r2")}} // and as a result that is read again
		p := modeltest.NewPlay(plan)
		p.Through(rt, modeltest.InOrder)
		for _, k := range []string{"r1", "r2", "r3"} {
			got := p.Run.State().(map[string]any)[k]
			if !jsonval.Equal(jsonval.Unescape(got), data) || jsonval.HasHandle(got) {
				rt.Fatalf("%s arrives at %s as %s", jsonval.Encode(data), k, jsonval.Encode(got))
			}
		}
	})
}

// The process rebuilds an instance's State from the writes it reports.
func TestTheWritesThatAreReportedMakeTheSameState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.NewPlay(modeltest.DrawPlan(rt, anyPlan))
		there := statelog.New(p.Run.State())
		p.After = func() {
			for _, w := range p.Run.NewWrites() {
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
			if !jsonval.Equal(there.Value(), p.Run.State()) {
				rt.Fatalf("here %s, there %s", jsonval.Encode(p.Run.State()), jsonval.Encode(there.Value()))
			}
		}
		p.Through(rt, drawnOrder(rt, "order"))
		if len(p.Run.NewWrites()) > 0 {
			rt.Fatal("a write is reported twice")
		}
	})
}
