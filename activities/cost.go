package activities

import (
	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
)

// addCost adds to the usage of an answer what it cost: by the prices of the Idea, else by the worker's, of the LLM as
// its server names it, else as it was asked for. Where nobody has named prices or a limit on money, nobody wants to
// know.
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
