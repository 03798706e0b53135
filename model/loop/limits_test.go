package loop_test

import (
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// A limit on money cannot be kept where nobody knows what tokens cost.
func TestTokensWithoutAPricePauseAProcessThatHasALimitOfMoney(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"config": {"limits": {"money": 5}}`)
	s.UsagePerRequest = turn.TokenUsage{PromptTokens: 7, UnpricedTokens: 7}
	s.ReplyWith(`{"calls":[{"_tool":"work"}],"output":null}`)
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason.Error(), "limit_reached: 7 tokens have no price, so that the limit of "+
		"$5.00 cannot be kept: name the LLM's prices in config.prices, or in the worker's PROCESSIDEA_PRICES")
	s.Loop.Resume(ideafile.Limits{Money: price.NoLimit})
	s.ExpectRequest()
}

func TestALimitPausesAndAHigherOneLetsItGoOn(t *testing.T) {
	t.Parallel()
	again := `{"calls":[{"_tool":"work"}],"output":null}`
	for _, c := range []struct {
		name, limits, why string
		higher            ideafile.Limits
	}{
		{"Requests", `{"requests": 2}`, "limit_reached: 2 Requests were made, the limit", ideafile.Limits{Requests: 3}},
		{"tokens", `{"tokens": 220}`, "limit_reached: 220 tokens were used; the limit is 220",
			ideafile.Limits{Tokens: 221}},
		{"money", `{"money": 0.02}`, "limit_reached: the LLM has cost $0.02; the limit is $0.02",
			ideafile.Limits{Money: price.Dollar / 40}},
		{"Calls", `{"calls": 2}`, "limit_reached: 2 Calls were made; the limit is 2", ideafile.Limits{Calls: 3}},
		{"duration", `{"duration": "2m"}`, "limit_reached: the process has run for 2m0s, the limit",
			ideafile.Limits{Duration: 3 * time.Minute}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewScenario(t, "", `"config": {"limits": `+c.limits+`}`)
			s.UsagePerRequest = turn.TokenUsage{PromptTokens: 100, CompletionTokens: 10, Cost: price.Dollar / 100}
			for range 2 {
				s.ReplyWith(again)
				s.Now = s.Now.Add(time.Minute)
			}
			s.ExpectStep(loop.StepPaused)
			s.WantEqual("why", s.Loop.PauseReason.Error(), c.why)
			s.WantEqual("the result", s.Loop.Result(loop.StatusPaused, false).Error.Error(), c.why)
			s.Loop.Resume(ideafile.Limits{})
			s.ExpectStep(loop.StepPaused)
			s.Loop.Resume(c.higher)
			s.ReplyWith(again)
			s.Now = s.Now.Add(time.Minute)
			s.ExpectStep(loop.StepPaused)
		})
	}
}

func TestALimitDoesNotStopWhatIsOver(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"config": {"limits": {"requests": 1, "tokens": 1}}`)
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestLimitsThatAreNotSaidAreTheDefaultsAndNullIsNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config string
		want   loop.NextStep
	}{{`{}`, loop.StepPaused}, {`{"limits": {"tokens": null}}`, loop.StepRequest}} {
		s := modeltest.NewScenario(t, "", `"config": `+c.config)
		s.Now = s.Now.Add(1000 * time.Hour)
		for range 2 {
			r := s.ExpectRequest()
			s.Loop.ApplyReply(turn.LLMReply{IsComplete: true,
				Usage: turn.TokenUsage{PromptTokens: ideafile.DefaultTokenLimit / 2}})
			s.RunToIdle("", r.RequestNumber)
			s.DeliverReport(s.TakeReport("", r.RequestNumber))
			s.Loop.ConcludeRequest()
		}
		s.ExpectStep(c.want)
	}
}
