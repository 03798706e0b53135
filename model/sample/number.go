package sample

import (
	"encoding/json"
	"math/big"
	"strings"
)

// This file makes numbers up, exactly.

// ratOf reads a number exactly; nil where it is none.
func ratOf(v any) *big.Rat {
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

// span is what a schema says of a number.
type span struct {
	low, high *big.Rat // nil: none
	openLow   bool     // low itself is not in it
	openHigh  bool
	step      *big.Rat // values are multiples of it; nil: any
}

func spanOf(m map[string]any, whole bool) span {
	s := span{low: ratOf(m["minimum"]), high: ratOf(m["maximum"]), step: ratOf(m["multipleOf"])}
	s.openLow, s.openHigh = m["exclusiveMinimum"] == true, m["exclusiveMaximum"] == true // as early drafts have it
	if x := ratOf(m["exclusiveMinimum"]); x != nil && (s.low == nil || x.Cmp(s.low) >= 0) {
		s.low, s.openLow = x, true
	}
	if x := ratOf(m["exclusiveMaximum"]); x != nil && (s.high == nil || x.Cmp(s.high) <= 0) {
		s.high, s.openHigh = x, true
	}
	if whole {
		one := big.NewRat(1, 1)
		if s.step == nil {
			s.step = one
		} else if !s.step.IsInt() { // the least multiple that is whole
			s.step = new(big.Rat).SetInt(s.step.Num())
		}
	}
	return s
}

// numbers makes up to n numbers, from the smallest up.
func numbers(m map[string]any, whole bool, n int) []any {
	s := spanOf(m, whole)
	step := s.step
	if step == nil {
		step = s.share(n)
	}
	from := s.first(step)
	down := s.low == nil && s.high != nil && s.high.Sign() <= 0
	var out []any
	for k := range n + 2 {
		move := new(big.Rat).Mul(step, big.NewRat(int64(k), 1))
		if down {
			move.Neg(move)
		}
		if v := new(big.Rat).Add(from, move); s.holds(v) {
			out = append(out, numberOf(v))
		}
	}
	return out
}

// share is a step by which n numbers lie within the span.
func (s span) share(n int) *big.Rat {
	if s.low == nil || s.high == nil || s.low.Cmp(s.high) >= 0 {
		return big.NewRat(1, 1)
	}
	width := new(big.Rat).Sub(s.high, s.low)
	if width.Cmp(big.NewRat(int64(n+2), 1)) >= 0 {
		return big.NewRat(1, 1)
	}
	parts := int64(1)
	for parts < int64(n+2) {
		parts *= 2 // halves have a decimal form
	}
	return width.Quo(width, big.NewRat(parts, 1))
}

// first is the smallest number of the span, nought where there is no least, or the largest where nought is above it.
func (s span) first(step *big.Rat) *big.Rat {
	from := new(big.Rat)
	switch {
	case s.low != nil:
		from.Set(s.low)
	case s.high != nil && s.high.Sign() <= 0:
		from.Set(s.high)
	}
	if s.step == nil {
		return from
	}
	quotient := new(big.Rat).Quo(from, step)
	floor := new(big.Int).Div(quotient.Num(), quotient.Denom())
	if s.low != nil && !quotient.IsInt() {
		floor.Add(floor, big.NewInt(1))
	}
	return quotient.Mul(step, new(big.Rat).SetInt(floor))
}

func (s span) holds(v *big.Rat) bool {
	if s.low != nil && (v.Cmp(s.low) < 0 || s.openLow && v.Cmp(s.low) == 0) {
		return false
	}
	return s.high == nil || v.Cmp(s.high) < 0 || !s.openHigh && v.Cmp(s.high) == 0
}

// numberOf writes a number in decimal digits.
func numberOf(v *big.Rat) json.Number {
	if v.IsInt() {
		return json.Number(v.Num().String())
	}
	return json.Number(strings.TrimRight(v.FloatString(20), "0"))
}
