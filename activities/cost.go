package activities

import (
	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
)

// addCost adds the cost of an answer to its usage: by the prices of the Idea or else the worker's, for the served name
// of the LLM or else the requested one. It does nothing without prices or a limit on money.
func (a *Activities) addCost(answer *llm.Reply, config ideafile.Config, byBatch bool) {
	u := &answer.Usage
	for _, prices := range []price.List{config.Prices, a.Prices} {
		if found, ok := prices.Find(answer.Served, answer.Model); ok {
			u.Cost = found.Cost(u.PromptTokens, u.CachedTokens, u.CompletionTokens)
			if byBatch {
				u.Cost = u.Cost.Part(found.Batch)
			}
			return
		}
	}
	if len(config.Prices)+len(a.Prices) > 0 || config.Limits.Money > 0 {
		u.UnpricedTokens = u.Total()
	}
}
