package model

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// The rules one by one are in the transcripts under testdata/run. Here is what must hold for any Plan.

var anyPlan = planKnobs{calls: 8, requests: 2}

func drawnOrder(t *rapid.T, name string) func(n int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
}

func TestEveryCallReachesAnEndAndStartsOnceAtMost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(drawPlan(rt, anyPlan))
		p.through(rt, drawnOrder(rt, "order"))
		for _, rec := range p.run.Records() {
			if !rec.Status.Ended() {
				rt.Fatalf("%s is still %s in\n%s", rec.ID, rec.Status, p.plan)
			}
		}
		if !p.run.Quiet() || p.run.Listening() || len(p.run.Next()) > 0 {
			rt.Fatalf("it is not over in\n%s", p.plan)
		}
	})
}

func TestTheOutcomeDoesNotDependOnTheOrderOfThings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt, anyPlan)
		first, second := newPlay(plan), newPlay(plan)
		first.through(rt, inOrder)
		second.through(rt, drawnOrder(rt, "order"))
		if a, b := first.fates(), second.fates(); a != b {
			rt.Fatalf("%s\none order:\n%s\nanother:\n%s", plan, a, b)
		}
	})
}

func TestWhatAWriteOnceCallWroteIsNeverOverwritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(drawPlan(rt, planKnobs{calls: 8, requests: 2, onlyWriteOnce: true}))
		start := leavesOf(p.run.State())
		before := map[string]string{}
		p.after = func() {
			now := leavesOf(p.run.State())
			for path, value := range before {
				if start[path] != value && now[path] != value {
					rt.Fatalf("%s was %s and is now %q in\n%s", path, value, now[path], p.plan)
				}
			}
			before = now
		}
		p.through(rt, drawnOrder(rt, "order"))
		for _, rec := range p.run.Records() {
			if rec.Status != Done || rec.OutputPath == nil || rec.update() {
				continue
			}
			for _, path := range rec.OutputPath[max(rec.Taken, 1)-1] {
				_, before := Lookup(newPlay(p.plan).run.State(), path) // it may be replaced, and is not written
				if _, ok := Lookup(p.run.State(), path); !ok && !before {
					rt.Fatalf("%s is done and nothing is at %s in\n%s", rec.ID, path, p.plan)
				}
			}
		}
	})
}

// leavesOf lists what stands in a value, by path. Empty objects may still grow and are none.
func leavesOf(v any) map[string]string {
	out := map[string]string{}
	var walk func(v any, at Path)
	walk = func(v any, at Path) {
		m, ok := v.(map[string]any)
		if !ok {
			out[at.String()] = string(Encode(v))
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
		plan := drawPlan(rt, planKnobs{calls: 1, requests: 1})
		plan.context[0] = map[string]any{"type": "state", "state": map[string]any{}}
		path := rapid.SampledFrom(playPaths).Draw(rt, "path")
		var calls []drawnCall
		winner := ""
		for i := range rapid.IntRange(1, 6).Draw(rt, "alternatives") {
			c := drawnCall{request: 1, index: i + 1, raw: map[string]any{"_tool": "work", "_outputPath": path}, fails: rapid.Bool().Draw(rt, "fails")}
			c.result = func(_, _ map[string]any) any { return c.id() }
			if rapid.Bool().Draw(rt, "latent") {
				c.raw["_tool"] = "think"
			}
			if rapid.IntRange(0, 4).Draw(rt, "dead") == 0 {
				c.raw["p"] = "†state.never"
			} else if !c.fails && winner == "" {
				winner = c.id()
			}
			calls = append(calls, c)
		}
		plan.requests = [][]drawnCall{calls}
		p := newPlay(plan)
		p.after = func() {
			if n := len(p.running) + len(p.run.Asking()); n > 1 {
				rt.Fatalf("%d alternatives run at once", n)
			}
		}
		p.through(rt, drawnOrder(rt, "order"))
		past := false
		for _, rec := range p.run.Records() {
			_, dead := p.calls[rec.ID].raw["p"]
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
				rt.Fatalf("%s is %s, not %s, in\n%s", rec.ID, got, want, p.plan)
			}
		}
	})
}

func TestAnInstanceRunsAsIfTheOthersWereNotThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt, anyPlan)
		alone, among := plan, plan
		alone.context, among.context = nil, nil
		for _, raw := range plan.context {
			own := Merge(raw, map[string]any{"_instance": "①"})
			other := Merge(raw, map[string]any{"_instance": "②", "schema": map[string]any{"additionalProperties": false}})
			alone.context = append(alone.context, own)
			among.context = append(among.context, other, own, map[string]any{"type": "input", "_instance": "②", "secret": "②"})
		}
		a, b := newPlayOf(alone, "①"), newPlayOf(among, "①")
		a.through(rt, inOrder)
		b.through(rt, drawnOrder(rt, "order"))
		if a.fates() != b.fates() {
			rt.Fatalf("%s\nalone:\n%s\namong others:\n%s", plan, a.fates(), b.fates())
		}
	})
}

func TestWhateverStateHoldsArrivesAsItIs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := anyJSON(4).Draw(rt, "data")
		plan := drawnPlan{context: []any{map[string]any{"type": "state", "state": map[string]any{"x": Escape(data)}}}}
		reads := func(index int, ref string) drawnCall {
			return drawnCall{request: 1, index: index, raw: map[string]any{"_tool": "work", "p": []any{ref}, "_outputPath": fmt.Sprintf("r%d", index)},
				result: func(params, _ map[string]any) any { return params["p"].([]any)[0] }}
		}
		plan.requests = [][]drawnCall{{reads(1, "†state.x"), reads(2, "†state.r1"), reads(3, "†state.r2")}} // and as a result that is read again
		p := newPlay(plan)
		p.through(rt, inOrder)
		for _, k := range []string{"r1", "r2", "r3"} {
			got := p.run.State().(map[string]any)[k]
			if !Equal(Unescape(got), data) || HasHandle(got) {
				rt.Fatalf("%s arrives at %s as %s", Encode(data), k, Encode(got))
			}
		}
	})
}

// The process rebuilds an instance's State from the writes it reports.
func TestTheWritesThatAreReportedMakeTheSameState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(drawPlan(rt, anyPlan))
		there := NewState(p.run.State())
		p.after = func() {
			for _, w := range p.run.NewWrites() {
				var travelled Write
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
			if !Equal(there.Value(), p.run.State()) {
				rt.Fatalf("here %s, there %s", Encode(p.run.State()), Encode(there.Value()))
			}
		}
		p.through(rt, drawnOrder(rt, "order"))
		if len(p.run.NewWrites()) > 0 {
			rt.Fatal("a write is reported twice")
		}
	})
}
