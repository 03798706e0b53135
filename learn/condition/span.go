package condition

import (
	"math"
	"slices"
)

// maxDistinctValues bounds the distinct values of a field that are compared one by one if no test of a condition does
// so.
const maxDistinctValues = 12

// How the samples span a field.
const (
	spanPresence = iota // it is there, or is not
	spanValues          // the values, one by one
	spanNumbers         // from the smallest to the greatest
)

// span is what the samples of one side have in one field.
type span struct {
	field               *sampleField
	kind                int
	valueTexts          map[string]bool   // what is not in a range of numbers: values, absence
	lowIndex, highIndex int               // the samples with the smallest and the greatest number; -1: there is none
	isEndOpen           map[testKind]bool // no bound there: testAtLeast is the upper end, testAtMost the lower
	conditionTests      []*fieldTest      // the tests of the field in found conditions
}

// chooseSpanKind chooses how to span a field; ok is false if no condition would test it, for example texts that never
// repeat.
func (f *sampleField) chooseSpanKind(prefersValues bool) (kind int, ok bool) {
	switch {
	case f.isLength:
		return spanNumbers, true
	case prefersValues && f.comparesByValue():
		return spanValues, true
	case f.isNumeric:
		return spanNumbers, true
	case f.isScalar && f.hasRepeatedValues():
		return spanValues, true
	}
	return spanPresence, slices.Contains(f.existsInSample, true) && slices.Contains(f.existsInSample, false)
}

// hasRepeatedValues reports whether the distinct values of a field are few, and occur at least twice on average.
func (f *sampleField) hasRepeatedValues() bool {
	distinctTexts, presentCount := map[string]bool{}, 0
	for n, exists := range f.existsInSample {
		if exists {
			distinctTexts[f.comparisonTextBySample[n]] = true
			presentCount++
		}
	}
	return len(distinctTexts) <= maxDistinctValues && 2*len(distinctTexts) <= presentCount
}

func newSpan(f *sampleField, kind int, insideIndexes []int) *span {
	s := &span{field: f, kind: kind, valueTexts: map[string]bool{}, lowIndex: -1, highIndex: -1,
		isEndOpen: map[testKind]bool{}}
	if kind == spanNumbers {
		s.lowIndex, s.highIndex = f.extremeSampleIndexes(insideIndexes)
	}
	for _, n := range insideIndexes {
		s.valueTexts[s.valueText(n)] = true
	}
	return s
}

// valueText is what a sample has in the field, unless that is a number in a range.
func (s *span) valueText(n int) string {
	switch {
	case s.kind == spanPresence && s.field.existsInSample[n]:
		return "there"
	case s.kind == spanNumbers && s.field.isNumberInSample[n] && s.lowIndex < 0:
		return s.field.comparisonTextBySample[n]
	case s.kind == spanNumbers:
		return s.field.absentOrNull(n)
	}
	return s.field.comparisonTextBySample[n]
}

// outsideDirection reports whether a sample has a value in the field that no sample of this side has, or a number
// beyond theirs.
func (s *span) outsideDirection(n int) (testKind, bool) {
	if s.kind == spanNumbers && s.field.isNumberInSample[n] && s.lowIndex >= 0 {
		x := s.field.numberBySample[n]
		switch {
		case x > s.field.numberBySample[s.highIndex] && !s.isEndOpen[testAtLeast]:
			return testAtLeast, true
		case x < s.field.numberBySample[s.lowIndex] && !s.isEndOpen[testAtMost]:
			return testAtMost, true
		}
		return testOneOf, false
	}
	return testOneOf, !s.valueTexts[s.valueText(n)]
}

// mayOpenEnd reports whether an end of the numbers may be left unbounded. In a field that a found condition tests, no
// sample of the other side may lie beyond the end. In another field, so few may that no part of a condition is likely
// to be about them.
func (s *span) mayOpenEnd(outsideIndexes []int, sampleCount int, end testKind) bool {
	beyondCount := 0
	for _, n := range outsideIndexes {
		if k, isOutside := s.outsideDirection(n); isOutside && k == end {
			beyondCount++
		}
	}
	return s.lowIndex >= 0 && (len(s.conditionTests) > 0 && beyondCount == 0 || len(s.conditionTests) == 0 &&
		isRare(beyondCount, sampleCount))
}

// A part of a condition that fewer than rareShare of the samples fail is ignored. That they are fewer must be
// significant at the level rareSignificance.
const (
	rareShare        = 0.1
	rareSignificance = 1e-4
)

// isRare reports whether failingCount of sampleCount samples are too few for a share of rareShare: the probability of
// failingCount or fewer is then at most rareSignificance.
func isRare(failingCount, sampleCount int) bool {
	probability := 0.0
	for k := range failingCount + 1 {
		probability += math.Exp2(log2Choose(sampleCount, k) + float64(k)*math.Log2(rareShare) +
			float64(sampleCount-k)*math.Log2(1-rareShare))
	}
	return probability <= rareSignificance
}

// constraint covers all that is spanned; ok is false if that is everything.
func (s *span) constraint(insideIndexes []int) (z fieldConstraint, ok bool) {
	if z, ok = s.constraintOf(insideIndexes); s.isEndOpen[testAtMost] {
		delete(z.valueSchema, s.field.boundKeyword(testAtLeast))
	}
	if s.isEndOpen[testAtLeast] {
		delete(z.valueSchema, s.field.boundKeyword(testAtMost))
	}
	return z, ok
}

// constraintOf covers what some samples have: for numbers, everything between the smallest and the greatest.
func (s *span) constraintOf(sampleIndexes []int) (z fieldConstraint, ok bool) {
	switch sampleSpan := newSpan(s.field, s.kind, sampleIndexes); {
	case s.kind == spanPresence:
		return fieldConstraint{path: s.field.path, mustBeAbsent: sampleSpan.valueTexts[""]},
			len(sampleSpan.valueTexts) == 1
	case s.kind == spanNumbers && sampleSpan.lowIndex >= 0:
		z = s.field.valueConstraint(testAtLeast, sampleIndexes, nil, false)
		z.valueSchema[s.field.boundKeyword(testAtMost)] = s.field.valueBySample[sampleSpan.highIndex]
		return z, true
	}
	return s.field.valueConstraint(testOneOf, sampleIndexes, nil, false), true
}
