package model

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// drawnReply draws a solution that an LLM might give, good or bad, for a Request.
func drawnReply(t *rapid.T, b *Brief) string {
	calls, output := []any{}, any(nil)
	if len(b.Asking) > 0 {
		for _, a := range b.Asking {
			if rapid.IntRange(0, 4).Draw(t, "answered") > 0 {
				calls = append(calls, map[string]any{"_call": a.ID, "_output": rapid.SampledFrom([]any{"good", "", nil}).Draw(t, "result")})
			}
		}
		return string(Encode(map[string]any{"calls": calls, "output": nil}))
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "calls") {
		call := map[string]any{"_tool": rapid.SampledFrom([]string{"work", "work", "fail", "think", "log", "odd"}).Draw(t, "tool")}
		if token := rapid.SampledFrom([]string{"*", "①", "②", "③", ""}).Draw(t, "token"); token != "" {
			call["_instance"] = token
		}
		if path := rapid.SampledFrom([]string{"", "b", "c", "b.d", "†state"}).Draw(t, "path"); path != "" && call["_tool"] != "log" {
			call["_outputPath"] = path
		}
		if read := rapid.SampledFrom([]string{"", "†state.a", "†state.b", "†state.never", "†"}).Draw(t, "read"); read != "" {
			call["x"] = read
		}
		calls = append(calls, call)
	}
	output = rapid.SampledFrom([]any{nil, nil, map[string]any{"summary": "text"}, map[string]any{"summary": "†state.b"}, map[string]any{"summary": true}}).Draw(t, "output")
	return string(Encode(map[string]any{"calls": calls, "output": output}))
}

// drawnProcess plays a process of two instances with random replies until it is over, or paused, or has had enough.
func drawnProcess(t *rapid.T, after func(*stage, *Conclusion)) *stage {
	s := onStage(t, rapid.SampledFrom([]string{"", `{"type": "object"}`}).Draw(t, "form"), rapid.SampledFrom([]string{twoInstances,
		`"context": [{"type": "state", "_instance": "①", "state": {"a": 1}, "schema": {"type": "object", "required": ["b"]}}, {"type": "state", "_instance": "②", "state": {}}]`,
		`"context": [{"type": "state", "_instance": "①", "state": {"a": 1}}, {"type": "state", "_instance": "②", "state": {"a": null}},
			{"type": "plan", "stage": "optimal", "plan": [{"_tool": "think", "x": "†state.a", "_outputPath": "b"}, {"_tool": "work", "n": "†state.a", "_outputPath": "c"}, {"_tool": "log"}],
				"output": {"all": "†state.c"}},
			{"type": "plan", "_instance": "②", "stage": "optimal", "when": {"properties": {"state": {"required": ["odd"]}}}, "plan": []}]`,
	}).Draw(t, "context"))
	s.runsPlans()
	for range 12 {
		step, b := s.mind.Next(s.now)
		if step != StepAsk {
			return s
		}
		var c *Conclusion
		switch rapid.IntRange(0, 9).Draw(t, "fate") {
		case 0:
			c = s.breaksOff(Reply{End: fault(CodeTruncated, "cut")})
		case 1:
			c = s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")})
		case 2:
			if len(b.Asking) > 0 || b.Closing {
				continue
			}
			c = s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")}, `{"_tool":"work","_instance":"*","_outputPath":"e"}`)
		default:
			c = s.says(drawnReply(t, b))
		}
		after(s, c)
	}
	return s
}

// settledByPlan reports whether an instance was run by a Plan that needs no Request.
func settledByPlan(m *Mind, token string) bool {
	for _, c := range m.Carry().Members {
		if c.Token == token {
			return c.Direct > 0 && !c.Handed
		}
	}
	return false
}

func TestAnyProcessKeepsTheRules(t *testing.T) {
	ended, failed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		gone := map[string]bool{}
		number := 0
		s := drawnProcess(rt, func(s *stage, c *Conclusion) {
			if number++; c.Brief.Number != number {
				rt.Fatalf("Request %d has the number %d", number, c.Brief.Number)
			}
			for _, covered := range c.Brief.Covered {
				if gone[covered.Token] && !c.Brief.Closing {
					rt.Fatalf("%s has ended and is sent again", covered.Token)
				}
			}
			for _, m := range s.ended {
				if !settledByPlan(s.mind, m.Token) && !c.Reply.Whole {
					rt.Fatalf("%s ended by a Request that broke off", m.Token)
				}
				if gone[m.Token] {
					rt.Fatalf("%s ends twice", m.Token)
				}
				gone[m.Token] = true
			}
		})
		counts := Counts{}
		for _, m := range s.mind.Members() {
			run := s.runs[m.Token]
			if got, want := stateOf(s.mind, m.Token), string(Encode(run.State())); got != want {
				rt.Fatalf("the process knows %s of %s, which has %s", got, m.Token, want)
			}
			if m.Status == InstanceSettled && len(run.Missing()) > 0 {
				rt.Fatalf("%s has settled and lacks %v", m.Token, run.Missing())
			}
			for _, rec := range run.Records() {
				counts.Count(rec.Status)
			}
		}
		counts.Failed += s.mind.Carry().Unnamed
		if got := s.mind.Counts(); got != counts {
			rt.Fatalf("counted %+v, and there are %+v", got, counts)
		}
		switch step, _ := s.mind.Next(s.now); step {
		case StepOver:
			if ended++; s.mind.Outcome() == StatusFailed {
				failed++
			}
			if s.idea.Output != nil && s.mind.Outcome() == StatusCompleted && s.mind.Output() == nil {
				rt.Fatalf("it is complete and has no output")
			}
		case StepPaused:
			if f := s.mind.Paused(); f == nil || f.Message == "" {
				rt.Fatalf("it is paused and does not say why")
			}
		}
	})
	if !few() && (ended == 0 || failed == 0) {
		t.Errorf("%d processes ended, %d failed: the test tests too little", ended, failed)
	}
}

// Whatever happened in a process, each of its Ideas is a file from which another begins at the same States.
func TestAnyIdeaOfAProcessBeginsAnother(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		drawnProcess(rt, func(s *stage, c *Conclusion) {
			again := sealed(rt, s.idea, c.Seen, c.Calls, c.Reply.Output)
			if got, want := fmt.Sprint(again.Tokens()), fmt.Sprint(s.idea.Tokens()); got != want {
				rt.Fatalf("%s instead of %s", got, want)
			}
			mind := NewMind(again, "q", s.bindings, began)
			for n, m := range mind.Members() {
				if got, want := stateOf(mind, m.Token), string(Encode(c.Seen.Covered[n].State)); got != want {
					rt.Fatalf("%s begins at %s instead of %s", m.Token, got, want)
				}
			}
		})
	})
}

// A Request is rendered and its form composed whatever has happened, and both say the same for the same Brief.
func TestAnyRequestHasAPromptAndAForm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		drawnProcess(rt, func(s *stage, c *Conclusion) {
			first, second := Prompt(s.idea, s.bindings, c.Brief, nil), Prompt(s.idea, s.bindings, c.Brief, nil)
			if fmt.Sprint(first) != fmt.Sprint(second) || len(first) != 3 || first[2].Content == "" {
				rt.Fatalf("%v\n%v", first, second)
			}
			checkForm(rt, ComposeFor(s.idea, s.bindings, c.Brief))
		})
	})
}

// few says whether so little is drawn that what is rare may not be among it.
func few() bool { return testing.Short() }
