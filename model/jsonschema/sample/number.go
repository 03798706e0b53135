package sample

import (
	"encoding/json"
	"math/big"
	"strings"
)

// exactNumber reads a number exactly. It gives nil if v is none.
func exactNumber(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil
	}
	return r
}

// numberRange is what a schema says of a number.
type numberRange struct {
	low, high    *big.Rat // nil if there is no bound
	excludesLow  bool     // low itself is excluded
	excludesHigh bool     // high itself is excluded
	multipleOf   *big.Rat // values are multiples of it; nil if any value will do
}

// numberRangeOf reads a schema; whole allows integers alone.
func numberRangeOf(m map[string]any, whole bool) numberRange {
	s := numberRange{low: exactNumber(m["minimum"]), high: exactNumber(m["maximum"]), multipleOf: exactNumber(m["multipleOf"])}
	s.excludesLow, s.excludesHigh = m["exclusiveMinimum"] == true, m["exclusiveMaximum"] == true // a boolean in draft 4
	if x := exactNumber(m["exclusiveMinimum"]); x != nil && (s.low == nil || x.Cmp(s.low) >= 0) {
		s.low, s.excludesLow = x, true
	}
	if x := exactNumber(m["exclusiveMaximum"]); x != nil && (s.high == nil || x.Cmp(s.high) <= 0) {
		s.high, s.excludesHigh = x, true
	}
	if whole {
		one := big.NewRat(1, 1)
		if s.multipleOf == nil {
			s.multipleOf = one
		} else if !s.multipleOf.IsInt() { // its least multiple that is an integer
			s.multipleOf = new(big.Rat).SetInt(s.multipleOf.Num())
		}
	}
	return s
}

// makeNumbers makes up to n numbers, from the smallest up. If there is a high bound alone, and not above zero, it goes down.
func makeNumbers(m map[string]any, whole bool, n int) []any {
	s := numberRangeOf(m, whole)
	step := s.multipleOf
	if step == nil {
		step = s.stepForCount(n)
	}
	from := s.firstNumber(step)
	down := s.low == nil && s.high != nil && s.high.Sign() <= 0
	var out []any
	for k := range n + 2 {
		move := new(big.Rat).Mul(step, big.NewRat(int64(k), 1))
		if down {
			move.Neg(move)
		}
		if v := new(big.Rat).Add(from, move); s.contains(v) {
			out = append(out, formatDecimal(v))
		}
	}
	return out
}

// stepForCount gives a step by which n numbers lie in the interval.
func (s numberRange) stepForCount(n int) *big.Rat {
	if s.low == nil || s.high == nil || s.low.Cmp(s.high) >= 0 {
		return big.NewRat(1, 1)
	}
	width := new(big.Rat).Sub(s.high, s.low)
	if width.Cmp(big.NewRat(int64(n+2), 1)) >= 0 {
		return big.NewRat(1, 1)
	}
	parts := int64(1)
	for parts < int64(n+2) {
		parts *= 2 // a power of two, so that the step has a finite decimal form
	}
	return width.Quo(width, big.NewRat(parts, 1))
}

// firstNumber gives the number to begin with: the low bound, the high bound if zero lies above it, and else zero, rounded to a
// multiple of step.
func (s numberRange) firstNumber(step *big.Rat) *big.Rat {
	from := new(big.Rat)
	switch {
	case s.low != nil:
		from.Set(s.low)
	case s.high != nil && s.high.Sign() <= 0:
		from.Set(s.high)
	}
	if s.multipleOf == nil {
		return from
	}
	quotient := new(big.Rat).Quo(from, step)
	floor := new(big.Int).Div(quotient.Num(), quotient.Denom())
	if s.low != nil && !quotient.IsInt() {
		floor.Add(floor, big.NewInt(1))
	}
	return quotient.Mul(step, new(big.Rat).SetInt(floor))
}

func (s numberRange) contains(v *big.Rat) bool {
	if s.low != nil && (v.Cmp(s.low) < 0 || (s.excludesLow && v.Cmp(s.low) == 0)) {
		return false
	}
	return s.high == nil || v.Cmp(s.high) < 0 || (!s.excludesHigh && v.Cmp(s.high) == 0)
}

// formatDecimal writes a number in decimal digits.
func formatDecimal(v *big.Rat) json.Number {
	if v.IsInt() {
		return json.Number(v.Num().String())
	}
	return json.Number(strings.TrimRight(v.FloatString(20), "0"))
}
