package price

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Model has the prices of a million tokens of an LLM.
type Model struct {
	// Name is the server's name of the LLM, or the beginning of several names followed by a *.
	Name string
	// Input is the price of the tokens that the LLM reads, CachedInput the price of those that its server had cached.
	// Output is the price of the tokens that the LLM writes and thinks.
	Input, CachedInput, Output Money
	// Batch is the fraction of the price that a Request by batch costs: a Dollar is all of it.
	Batch Money
}

// List holds prices. The zero List has none.
type List []Model

// Read reads {"gpt-5-mini": {"input": 0.25, "cachedInput": 0.025, "output": 2}}: US dollars for a million tokens.
// Without cachedInput, cached tokens cost as much as others. "batch" is the fraction of the price that a Request by
// batch costs, such as 0.5; without it, all.
func Read(m jsonval.Object, path string, ps *diag.Problems) (list List) {
	for name, v := range jsonval.Sorted(m) {
		at := jsonval.JSONPathWithKey(path, name)
		given, ok := v.(jsonval.Object)
		if !ok {
			ps.WrongType(at,
				`want {"input": …, "cachedInput": …, "output": …}, in US dollars for a million tokens`, v)
			continue
		}
		one := Model{Name: name, Batch: Dollar}
		prices := map[string]*Money{"input": &one.Input, "cachedInput": &one.CachedInput, "output": &one.Output}
		if _, there := given["cachedInput"]; !there {
			prices = map[string]*Money{"input": &one.Input, "output": &one.Output}
		}
		for key, to := range jsonval.Sorted(prices) {
			var err error
			if *to, err = readUpTo(maxMoney, given[key], wantPrice); err != nil {
				ps.AddAt(at, key, "%s", err)
			}
		}
		for key, value := range jsonval.Sorted(given) {
			var err error
			switch {
			case key == "batch":
				one.Batch, err = readUpTo(Dollar, value, wantPart)
			case prices[key] == nil:
				err = fmt.Errorf("unknown key %q; a price has batch, cachedInput, input and output", key)
			}
			if err != nil {
				ps.AddAt(at, key, "%s", err)
			}
		}
		if prices["cachedInput"] == nil {
			one.CachedInput = one.Input
		}
		list = append(list, one)
	}
	return list
}

// Requirements on a price, which may be 0, and on the fraction of it for batches.
const (
	wantPrice = "want a price in US dollars for a million tokens: 0 or more, such as 0.25, up to 9000000000, with at " +
		"most nine digits after the point"
	wantPart = "want a number from 0 to 1, such as 0.5, with at most nine digits after the point: the part of the " +
		"price that a Request by batch costs"
)

// readUpTo reads an amount from 0 to limit.
func readUpTo(limit Money, v any, wanted string) (Money, error) {
	m, err := readNumber(v)
	if err != nil || m < 0 || m > limit {
		return 0, errors.New(wanted)
	}
	return m, nil
}

// Find returns the price of the first of these names that has one: an entry with the whole name, or else the entry with
// the longest matching beginning.
func (l List) Find(names ...string) (found Model, ok bool) {
	for _, name := range names {
		longest := -1
		for _, m := range l {
			start, isPrefix := strings.CutSuffix(m.Name, "*")
			switch {
			case name == "":
			case m.Name == name:
				return m, true
			case isPrefix && strings.HasPrefix(name, start) && len(start) > longest:
				found, longest = m, len(start)
			}
		}
		if longest >= 0 {
			return found, true
		}
	}
	return Model{}, false
}

// tokensPerPrice is how many tokens a price is for.
const tokensPerPrice = 1_000_000

// Cost is the cost of so many tokens, at most maxMoney. cached counts the input tokens that the server had cached.
func (m Model) Cost(input, cached, output int) Money {
	cached = max(0, min(cached, input))
	sum := big.NewInt(tokensPerPrice / 2)
	add := func(tokens int, price Money) {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(tokens)), big.NewInt(int64(price))))
	}
	add(input-cached, m.Input)
	add(cached, m.CachedInput)
	add(output, m.Output)
	if sum.Quo(sum, big.NewInt(tokensPerPrice)).Cmp(big.NewInt(int64(maxMoney))) > 0 {
		return maxMoney
	}
	return Money(sum.Int64())
}
