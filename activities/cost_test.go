package activities

import (
	"testing"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/turn"
)

func TestARequestCostsWhatTheIdeaElseTheWorkerSays(t *testing.T) {
	t.Parallel()
	of := func(name string, dollars price.Money) price.List {
		return price.List{{LLMName: name, InputPrice: dollars * price.Dollar,
			CachedInputPrice: dollars * price.Dollar / 10,
			OutputPrice:      2 * dollars * price.Dollar}}
	}
	for name, c := range map[string]struct {
		idea, worker price.List
		limit        price.Money
		aDay         float64
		want         turn.TokenUsage
	}{
		"nobody wants to know":                         {nil, nil, 0, 0, turn.TokenUsage{}},
		"a limit wants to know, and nobody does":       {nil, nil, 5, 0, turn.TokenUsage{UnpricedTokens: 1_100}},
		"that of a day wants to know, and nobody does": {nil, nil, 0, 5, turn.TokenUsage{UnpricedTokens: 1_100}},
		"there are prices of other LLMs": {of("other", 1), of("another", 1), 0, 0,
			turn.TokenUsage{UnpricedTokens: 1_100}},
		"the worker knows what was asked for": {of("other", 1), of("m", 1), 0, 0,
			turn.TokenUsage{Cost: 500_000 + 50_000 + 200_000}},
		"the Idea knows what was served": {of("m-2026*", 2), of("m", 1), 0, 0,
			turn.TokenUsage{Cost: 1_500_000}},
		"the Idea knows what was asked for, and counts": {of("m", 3), of("m-2026-01", 1), 0, 0,
			turn.TokenUsage{Cost: 2_250_000}},
	} {
		answer := &llm.Reply{RequestedModel: "m", ServedModel: "m-2026-01",
			Usage: turn.TokenUsage{PromptTokens: 1000, CachedTokens: 500, CompletionTokens: 100}}
		a := &Activities{DefaultPrices: c.worker, DailyBudgetDollars: c.aDay}
		a.setAndChargeReplyCost(answer, ideafile.Config{Prices: c.idea, Limits: ideafile.Limits{Money: c.limit}}, false)
		if got := (turn.TokenUsage{Cost: answer.Usage.Cost,
			UnpricedTokens: answer.Usage.UnpricedTokens}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
