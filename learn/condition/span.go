package condition

import (
	"math"
	"slices"
)

// maxListed bounds the distinct values of a field that are compared one by one if no test of a condition does so.
const maxListed = 12

// How the samples span a field.
const (
	ofPresence = iota // it is there, or is not
	ofValues          // the values, one by one
	ofNumbers         // from the smallest to the greatest
)

// span is what the samples of one side have in one field.
type span struct {
	field     *field
	how       int
	tokens    map[string]bool // what is not in a range of numbers: values, absence
	low, high int             // the samples with the smallest and the greatest number; -1: there is none
	isOpen    map[kind]bool   // no bound there: atLeast is the upper end, atMost the lower
	tests     []*test         // the tests of the field in found conditions
}

// spanKind chooses how to span a field; ok is false if no condition would test it, for example texts that never repeat.
func (f *field) spanKind(asValues bool) (how int, ok bool) {
	switch {
	case f.isLength:
		return ofNumbers, true
	case asValues && f.listsValues():
		return ofValues, true
	case f.numeric:
		return ofNumbers, true
	case f.scalar && f.repeats():
		return ofValues, true
	}
	return ofPresence, slices.Contains(f.has, true) && slices.Contains(f.has, false)
}

// repeats reports whether the distinct values of a field are few, and occur at least twice on average.
func (f *field) repeats() bool {
	distinct, count := map[string]bool{}, 0
	for n, has := range f.has {
		if has {
			distinct[f.comparisonTexts[n]] = true
			count++
		}
	}
	return len(distinct) <= maxListed && 2*len(distinct) <= count
}

func newSpan(f *field, how int, own []int) *span {
	s := &span{field: f, how: how, tokens: map[string]bool{}, low: -1, high: -1, isOpen: map[kind]bool{}}
	if how == ofNumbers {
		s.low, s.high = f.extremes(own)
	}
	for _, n := range own {
		s.tokens[s.tokenOf(n)] = true
	}
	return s
}

// tokenOf is what a sample has in the field, unless that is a number in a range.
func (s *span) tokenOf(n int) string {
	switch {
	case s.how == ofPresence && s.field.has[n]:
		return "there"
	case s.how == ofNumbers && s.field.isNumber[n] && s.low < 0:
		return s.field.comparisonTexts[n]
	case s.how == ofNumbers:
		return s.field.absentOrNull(n)
	}
	return s.field.comparisonTexts[n]
}

// outside reports whether a sample has a value in the field that no sample of this side has, or a number beyond theirs.
func (s *span) outside(n int) (kind, bool) {
	if s.how == ofNumbers && s.field.isNumber[n] && s.low >= 0 {
		x := s.field.numbers[n]
		switch {
		case x > s.field.numbers[s.high] && !s.isOpen[atLeast]:
			return atLeast, true
		case x < s.field.numbers[s.low] && !s.isOpen[atMost]:
			return atMost, true
		}
		return member, false
	}
	return member, !s.tokens[s.tokenOf(n)]
}

// mayOpen reports whether an end of the numbers may be left unbounded. In a field that a found condition tests, no
// sample of the other side may lie beyond the end. In another field, so few may that no part of a condition is likely
// to be about them.
func (s *span) mayOpen(others []int, total int, end kind) bool {
	beyond := 0
	for _, n := range others {
		if k, out := s.outside(n); out && k == end {
			beyond++
		}
	}
	return s.low >= 0 && (len(s.tests) > 0 && beyond == 0 || len(s.tests) == 0 && isRare(beyond, total))
}

// A part of a condition that fewer than rareShare of the samples fail is ignored. That they are fewer must be
// significant at the level rareSignificance.
const (
	rareShare        = 0.1
	rareSignificance = 1e-4
)

// isRare reports whether m of n samples are too few for a share of rareShare: the probability of m or fewer is then at
// most rareSignificance.
func isRare(m, n int) bool {
	sum := 0.0
	for k := range m + 1 {
		sum += math.Exp2(log2Choose(n, k) + float64(k)*math.Log2(rareShare) + float64(n-k)*math.Log2(1-rareShare))
	}
	return sum <= rareSignificance
}

// constraint covers all that is spanned; ok is false if that is everything.
func (s *span) constraint(own []int) (z constraint, ok bool) {
	if z, ok = s.constraintOf(own); s.isOpen[atMost] {
		delete(z.valueSchema, s.field.boundKeyword(atLeast))
	}
	if s.isOpen[atLeast] {
		delete(z.valueSchema, s.field.boundKeyword(atMost))
	}
	return z, ok
}

// constraintOf covers what some samples have: for numbers, everything between the smallest and the greatest.
func (s *span) constraintOf(samples []int) (z constraint, ok bool) {
	switch own := newSpan(s.field, s.how, samples); {
	case s.how == ofPresence:
		return constraint{path: s.field.path, isAbsent: own.tokens[""]}, len(own.tokens) == 1
	case s.how == ofNumbers && own.low >= 0:
		z = s.field.valueConstraint(atLeast, samples, nil, false)
		z.valueSchema[s.field.boundKeyword(atMost)] = s.field.values[own.high]
		return z, true
	}
	return s.field.valueConstraint(member, samples, nil, false), true
}
