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

// moneyLimit is the limit of what all Requests cost in a day. No Tool has this name.
const moneyLimit = "_money"

// awaitMoney returns why a Request must wait, if all processes together have spent what they may on this day.
func (a *Activities) awaitMoney(ctx context.Context) error {
	if a.DailyBudget == 0 {
		return nil
	}
	info := activity.GetInfo(ctx)
	key := turnKey(info.WorkflowExecution.ID + "\n" + info.WorkflowExecution.RunID + "\n" + info.ActivityID)
	t, err := a.awaitGrant(ctx, moneyLimit, limit.Rule{PerDay: a.DailyBudget}, key, 0, time.Until(info.Deadline)/2)
	if err != nil {
		return err
	}
	if t.IsGranted {
		a.updateTurnRequests(moneyLimit, false, func(s *turnRequests) { s.endTurn(key) })
		return nil
	}
	why := "today's Requests have cost all that a day may cost"
	if t.fault != nil {
		why = "what today's Requests have cost cannot be asked: " + t.fault.Error() + "; the limit of a day"
	}
	return &llm.Error{Code: turn.CodeRateLimited, Retry: true, RetryAfter: t.Wait, HeldBack: true,
		Message: fmt.Sprintf("%s: %g dollars (--money-a-day)", why, a.DailyBudget),
		Remedy:  t.mend("it goes on by itself after midnight UTC; a higher --money-a-day allows more")}
}

// countCost counts what a Request has cost. It returns once the limit that all workers share has the cost, so that the
// next Request is judged by it, and no cost is lost with a killed worker. If the limit does not answer in time, the
// cost is sent later.
func (a *Activities) countCost(cost price.Money) {
	if a.DailyBudget == 0 || cost == 0 {
		return
	}
	sent := make(chan struct{})
	a.updateTurnRequests(moneyLimit, true, func(s *turnRequests) {
		s.Rule.PerDay, s.Spent = a.DailyBudget, s.Spent+float64(cost)/float64(price.Dollar)
		s.delivered = append(s.delivered, sent)
	})
	select {
	case <-sent:
	case <-time.After(askTimeout):
	}
}

// addCost adds the cost of an answer to its usage: by the prices of the Idea or else the worker's, for the served name
// of the LLM or else the requested one. It does nothing without prices or a limit on money.
func (a *Activities) addCost(answer *llm.Reply, config ideafile.Config, byBatch bool) {
	u := &answer.Usage
	defer func() { a.countCost(u.Cost) }()
	for _, prices := range []price.List{config.Prices, a.Prices} {
		if found, ok := prices.Find(answer.Served, answer.Model); ok {
			u.Cost = found.Cost(u.PromptTokens, u.CachedTokens, u.CompletionTokens)
			if byBatch {
				u.Cost = u.Cost.Fraction(found.Batch)
			}
			return
		}
	}
	if len(config.Prices)+len(a.Prices) > 0 || config.Limits.Money > 0 || a.DailyBudget > 0 {
		u.UnpricedTokens = u.Total()
	}
}
