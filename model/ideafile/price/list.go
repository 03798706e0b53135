package price

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// LLMPrice has the prices of a million tokens of an LLM.
type LLMPrice struct {
	// LLMName is the server's name of the LLM, or the beginning of several names followed by a *.
	LLMName string
	// InputPrice is the price of the tokens that the LLM reads, CachedInputPrice the price of those that its server had
	// cached. Output is the price of the tokens that the LLM writes and thinks.
	InputPrice, CachedInputPrice, OutputPrice Money
	// BatchFactor is the fraction of the price that a Request by batch costs: a Dollar is all of it.
	BatchFactor Money
}

// List holds prices. The zero List has none.
type List []LLMPrice

// Read reads {"gpt-5-mini": {"input": 0.25, "cachedInput": 0.025, "output": 2}}: US dollars for a million tokens.
// Without cachedInput, cached tokens cost as much as others. "batch" is the fraction of the price that a Request by
// batch costs, such as 0.5; without it, all.
func Read(m jsonval.Object, path string, ps *diag.Problems) (list List) {
	for name, v := range jsonval.Sorted(m) {
		entryPath := jsonval.JSONPathWithKey(path, name)
		source, ok := v.(jsonval.Object)
		if !ok {
			ps.AddWrongType(entryPath,
				`want {"input": …, "cachedInput": …, "output": …}, in US dollars for a million tokens`, v)
			continue
		}
		llmPrice := LLMPrice{LLMName: name, BatchFactor: Dollar}
		priceByKey := map[string]*Money{"input": &llmPrice.InputPrice, "cachedInput": &llmPrice.CachedInputPrice,
			"output": &llmPrice.OutputPrice}
		if _, exists := source["cachedInput"]; !exists {
			priceByKey = map[string]*Money{"input": &llmPrice.InputPrice, "output": &llmPrice.OutputPrice}
		}
		for key, amount := range jsonval.Sorted(priceByKey) {
			var err error
			if *amount, err = readBounded(maxMoney, source[key], wantPriceText); err != nil {
				ps.AddAtKey(entryPath, key, "%s", err)
			}
		}
		for key, value := range jsonval.Sorted(source) {
			var err error
			switch {
			case key == "batch":
				llmPrice.BatchFactor, err = readBounded(Dollar, value, wantFractionText)
			case priceByKey[key] == nil:
				err = fmt.Errorf("unknown key %q; a price has batch, cachedInput, input and output", key)
			}
			if err != nil {
				ps.AddAtKey(entryPath, key, "%s", err)
			}
		}
		if priceByKey["cachedInput"] == nil {
			llmPrice.CachedInputPrice = llmPrice.InputPrice
		}
		list = append(list, llmPrice)
	}
	return list
}

// Requirements on a price, which may be 0, and on the fraction of it for batches.
const (
	wantPriceText = "want a price in US dollars for a million tokens: 0 or more, such as 0.25, up to 9000000000, " +
		"with at most nine digits after the point"
	wantFractionText = "want a number from 0 to 1, such as 0.5, with at most nine digits after the point: the part " +
		"of the price that a Request by batch costs"
)

// readBounded reads an amount from 0 to limit.
func readBounded(limit Money, v any, errorText string) (Money, error) {
	m, err := readAmount(v)
	if err != nil || m < 0 || m > limit {
		return 0, errors.New(errorText)
	}
	return m, nil
}

// Find returns the price of the first of these names that has one: an entry with the whole name, or else the entry with
// the longest matching beginning.
func (l List) Find(names ...string) (price LLMPrice, ok bool) {
	for _, name := range names {
		maxPrefixLength := -1
		for _, m := range l {
			namePrefix, isPrefix := strings.CutSuffix(m.LLMName, "*")
			switch {
			case name == "":
			case m.LLMName == name:
				return m, true
			case isPrefix && strings.HasPrefix(name, namePrefix) && len(namePrefix) > maxPrefixLength:
				price, maxPrefixLength = m, len(namePrefix)
			}
		}
		if maxPrefixLength >= 0 {
			return price, true
		}
	}
	return LLMPrice{}, false
}

// tokensPerPrice is how many tokens a price is for.
const tokensPerPrice = 1_000_000

// Cost is the cost of so many tokens, at most maxMoney. cachedInputTokens counts the input tokens that the server had
// cached.
func (m LLMPrice) Cost(inputTokens, cachedInputTokens, outputTokens int) Money {
	cachedInputTokens = max(0, min(cachedInputTokens, inputTokens))
	sum := big.NewInt(tokensPerPrice / 2)
	add := func(tokens int, price Money) {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(tokens)), big.NewInt(int64(price))))
	}
	add(inputTokens-cachedInputTokens, m.InputPrice)
	add(cachedInputTokens, m.CachedInputPrice)
	add(outputTokens, m.OutputPrice)
	if sum.Quo(sum, big.NewInt(tokensPerPrice)).Cmp(big.NewInt(int64(maxMoney))) > 0 {
		return maxMoney
	}
	return Money(sum.Int64())
}
