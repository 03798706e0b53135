package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/ideafile/limit"
	"processidea/model/ideafile/price"
	"processidea/model/turn"
)

// dailyBudgetLimitName is the limit of what all Requests cost in a day. No Tool has this name.
const dailyBudgetLimitName = "_money"

// awaitDailyBudget returns why a Request must wait, if all processes together have spent what they may on this day.
func (a *Activities) awaitDailyBudget(ctx context.Context) error {
	if a.DailyBudgetDollars == 0 {
		return nil
	}
	key := activityKey(ctx)
	t, err := a.awaitLimitTurn(ctx, dailyBudgetLimitName, limit.Rule{MaxCostPerDay: a.DailyBudgetDollars}, key, 0,
		time.Until(activity.GetInfo(ctx).Deadline)/2)
	if err != nil {
		return err
	}
	if t.IsGranted {
		a.updateLimitTurnRequests(dailyBudgetLimitName, false, func(s *limitTurnRequests) { s.endTurn(key) })
		return nil
	}
	reason := "today's Requests have cost all that a day may cost"
	if t.err != nil {
		reason = "what today's Requests have cost cannot be asked: " + t.err.Error() + "; the limit of a day"
	}
	return &llm.Error{Code: turn.CodeRateLimited, IsRetryable: true, RetryAfter: t.Wait, IsHeldBack: true,
		Message: fmt.Sprintf("%s: %g dollars (--money-a-day)", reason, a.DailyBudgetDollars),
		Remedy:  t.remedy("it goes on by itself after midnight UTC; a higher --money-a-day allows more")}
}

// chargeDailyBudget counts what a Request has cost. It returns once the limit that all workers share has the cost, so
// that the next Request is judged by it, and no cost is lost with a killed worker. If the limit does not answer in
// time, the cost is sent later.
func (a *Activities) chargeDailyBudget(cost price.Money) {
	if a.DailyBudgetDollars == 0 || cost == 0 {
		return
	}
	costReceived := make(chan struct{})
	a.updateLimitTurnRequests(dailyBudgetLimitName, true, func(s *limitTurnRequests) {
		s.Rule.MaxCostPerDay, s.ExtraSpentCost = a.DailyBudgetDollars,
			s.ExtraSpentCost+float64(cost)/float64(price.Dollar)
		s.requestReceivedChannels = append(s.requestReceivedChannels, costReceived)
	})
	select {
	case <-costReceived:
	case <-time.After(askLimitTimeout):
	}
}

// setAndChargeReplyCost adds the cost of an answer to its usage: by the prices of the Idea or else the worker's, for
// the served name of the LLM or else the requested one. It does nothing without prices or a limit on money.
func (a *Activities) setAndChargeReplyCost(reply *llm.Reply, config ideafile.Config, isBatch bool) {
	u := &reply.Usage
	defer func() { a.chargeDailyBudget(u.Cost) }()
	for _, prices := range []price.List{config.Prices, a.DefaultPrices} {
		if match, ok := prices.Find(reply.ServedModel, reply.RequestedModel); ok {
			u.Cost = match.Cost(u.PromptTokens, u.CachedTokens, u.CompletionTokens)
			if isBatch {
				u.Cost = u.Cost.Times(match.BatchFactor)
			}
			return
		}
	}
	if len(config.Prices)+len(a.DefaultPrices) > 0 || config.Limits.Money > 0 || a.DailyBudgetDollars > 0 {
		u.UnpricedTokens = u.Total()
	}
}
