package condition

import (
	"fmt"
	"slices"

	"processidea/model/jsonval"
)

// hull is the region that the samples of one side span in all fields together. Every condition whose tests all hold on
// this side also holds within the hull.
type hull struct {
	spans                         []*span
	insideIndexes, outsideIndexes []int
}

// newHull spans the samples of one side. It returns nil if no condition of up to maxConditionSize tests holds in all of
// them and in none of the others, since nothing follows then from what they have in common.
func newHull(fields []*sampleField, hypotheses []hypothesis, insideIndexes, outsideIndexes []int) *hull {
	h := &hull{insideIndexes: insideIndexes, outsideIndexes: outsideIndexes}
	for _, f := range fields {
		tests := testsOf(hypotheses, f)
		if kind, ok := f.chooseSpanKind(slices.ContainsFunc(tests,
			func(t *fieldTest) bool { return t.kind == testOneOf })); ok {
			s := newSpan(f, kind, insideIndexes)
			s.conditionTests = tests
			h.spans = append(h.spans, s)
		}
	}
	tests := slices.DeleteFunc(testsFor(fields, insideIndexes, outsideIndexes), func(t *fieldTest) bool {
		return !slices.ContainsFunc(h.spans,
			func(s *span) bool { return s.field == t.field && (t.kind != testOneOf || s.kind == spanValues) })
	})
	for conditionSize := 1; conditionSize <= maxConditionSize; conditionSize++ {
		testSets := excludingTestSets(tests, outsideIndexes, conditionSize)
		if len(testSets) == 0 {
			continue
		}
		if conditionSize == maxConditionSize && len(testSets) <= maxHypotheses {
			h.keepSpansTestedBy(testSets) // a condition has no room for one more test
		}
		h.openEnds()
		return h
	}
	return nil
}

// testsOf lists the tests of a field in found conditions.
func testsOf(hypotheses []hypothesis, f *sampleField) (tests []*fieldTest) {
	for _, h := range hypotheses {
		for _, t := range h.tests {
			if t.field == f {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

func (h *hull) keepSpansTestedBy(testSets [][]*fieldTest) {
	h.spans = slices.DeleteFunc(h.spans, func(s *span) bool {
		return !slices.ContainsFunc(testSets, func(set []*fieldTest) bool {
			return slices.ContainsFunc(set, func(t *fieldTest) bool { return s.field.path.IsAtOrBelow(t.field.path) })
		})
	})
}

// openEnds leaves numbers unbounded where that is sound, as long as all samples of the other side stay outside.
func (h *hull) openEnds() {
	for _, s := range h.spans {
		for _, end := range []testKind{testAtLeast, testAtMost} {
			if s.mayOpenEnd(h.outsideIndexes, len(h.insideIndexes)+len(h.outsideIndexes), end) {
				s.isEndOpen[end] = true
				s.isEndOpen[end] = !slices.ContainsFunc(h.outsideIndexes,
					func(n int) bool { return len(h.outerBounds(n)) == 0 })
			}
		}
	}
}

// insideSchema returns a JSON Schema that holds within the hull.
func (h *hull) insideSchema() jsonval.Object {
	var all []fieldConstraint
	for _, s := range h.spans {
		if z, ok := s.constraint(h.insideIndexes); ok {
			all = append(all, z)
		}
	}
	return allOf(viewSchemas(all))
}

// outsideBound says that a field has a value that samples outside of the hull have, or lies even farther out.
type outsideBound struct {
	span          *span
	kind          testKind // testAtLeast, testAtMost or member
	sampleIndexes []int
}

// outerBounds lists the fields by which a sample is outside of the hull. A view with the same values there, or values
// farther out, cannot be told from the sample by any condition that holds within the hull.
func (h *hull) outerBounds(n int) (list []outsideBound) {
	for _, s := range h.spans {
		if k, isOutside := s.outsideDirection(n); isOutside {
			list = append(list, outsideBound{s, k, []int{n}})
		}
	}
	return list
}

// outsideSchema returns a JSON Schema for what is excluded by every condition that holds within the hull.
func (h *hull) outsideSchema() jsonval.Object {
	var boundSets [][]outsideBound
	for _, n := range h.outsideIndexes {
		boundSets = addBoundSet(boundSets, h.outerBounds(n))
	}
	var boundSchemas []jsonval.Object
	for _, bounds := range boundSets {
		var all []fieldConstraint
		for _, b := range bounds {
			if z, ok := b.constraint(); ok {
				all = append(all, z)
			}
		}
		boundSchemas = append(boundSchemas, allOf(viewSchemas(all)))
	}
	return anyOf(boundSchemas)
}

// addBoundSet adds a reach to a list in which no reach is within another. Reaches that differ only in the values of one
// field become one.
func addBoundSet(boundSets [][]outsideBound, bounds []outsideBound) [][]outsideBound {
	for n, boundSet := range boundSets {
		if isWithin(bounds, boundSet) {
			return boundSets
		}
		if index, ok := differingValueIndex(boundSet, bounds); ok {
			joinedSet := slices.Clone(boundSet)
			joinedSet[index].sampleIndexes = append(slices.Clone(boundSet[index].sampleIndexes),
				bounds[index].sampleIndexes...)
			return addBoundSet(slices.Delete(slices.Clone(boundSets), n, n+1), joinedSet)
		}
	}
	boundSets = jsonval.Filter(boundSets, func(boundSet []outsideBound) bool { return !isWithin(boundSet, bounds) })
	return append(boundSets, bounds)
}

// isWithin reports whether everything in reach a is also in reach b.
func isWithin(a, b []outsideBound) bool {
	return !slices.ContainsFunc(b, func(outer outsideBound) bool {
		return !slices.ContainsFunc(a, func(inner outsideBound) bool { return inner.isWithin(outer) })
	})
}

func (b outsideBound) isWithin(o outsideBound) bool {
	if b.span != o.span || b.kind != o.kind {
		return false
	}
	switch x, y := b.span.field.numberBySample[b.sampleIndexes[0]],
		o.span.field.numberBySample[o.sampleIndexes[0]]; b.kind {
	case testAtLeast:
		return x >= y
	case testAtMost:
		return x <= y
	}
	return !slices.ContainsFunc(b.sampleIndexes, func(n int) bool {
		return !slices.ContainsFunc(o.sampleIndexes,
			func(k int) bool { return b.span.valueText(n) == b.span.valueText(k) })
	})
}

// differingValueIndex returns the index of the only bound in which two reaches differ, by other values of the same
// field.
func differingValueIndex(a, b []outsideBound) (index int, ok bool) {
	if len(a) != len(b) {
		return 0, false
	}
	index = -1
	for n := range a {
		switch {
		case a[n].isWithin(b[n]) && b[n].isWithin(a[n]):
		case index < 0 && a[n].span == b[n].span && a[n].kind == testOneOf && b[n].kind == testOneOf:
			index = n
		default:
			return 0, false
		}
	}
	return index, index >= 0
}

func (b outsideBound) constraint() (z fieldConstraint, ok bool) {
	if b.kind == testOneOf {
		return b.span.constraintOf(b.sampleIndexes)
	}
	return b.span.field.valueConstraint(b.kind, b.sampleIndexes, nil, false), true
}

// describeUnseen lists what only the other side's samples have, apart from what the found conditions test.
func (h *hull) describeUnseen(describe func(fieldConstraint) string) (list []string) {
	for _, s := range h.spans {
		for _, k := range []testKind{testOneOf, testAtLeast, testAtMost} {
			beyondIndexes := slices.DeleteFunc(slices.Clone(h.outsideIndexes), func(n int) bool {
				direction, isOutside := s.outsideDirection(n)
				return !isOutside || direction != k
			})
			if len(beyondIndexes) == 0 || slices.ContainsFunc(s.conditionTests,
				func(t *fieldTest) bool { return t.decidesOn(beyondIndexes, h.insideIndexes, k) }) {
				continue
			}
			z, ok := s.constraintOf(beyondIndexes)
			if k != testOneOf {
				z, ok = s.field.valueConstraint(k, beyondIndexes, h.insideIndexes, true), true
			}
			if ok {
				list = append(list, describe(z))
			}
		}
	}
	return list
}

// decidesOn reports whether a test decides that some samples, which lie beyond this side in the direction k, are on the
// other side.
func (t *fieldTest) decidesOn(beyondIndexes, insideIndexes []int, k testKind) bool {
	holdsBeyond := slices.ContainsFunc(insideIndexes, func(n int) bool { return t.excludesSample[n] })
	return t.excludesSample[beyondIndexes[0]] || holdsBeyond && (k == testOneOf || t.kind == k)
}

// setWhenAndUnless sets When and Unless of a Condition. Each schema holds only where all conditions of up to
// maxConditionSize tests that separate the samples agree, whether they are conjunctions or disjunctions.
func (c *Condition) setWhenAndUnless(search Search, fields []*sampleField, hypotheses []hypothesis, classIndexes,
	otherIndexes []int) {
	var when, unless []jsonval.Object
	addHull := func(h *hull, inClass bool) {
		if h == nil {
			return
		}
		insideSchema, outsideSchema, situationFormat := h.insideSchema(), h.outsideSchema(), "%s and %s"
		if !inClass {
			insideSchema, outsideSchema, situationFormat = outsideSchema, insideSchema, "not (%s) and %s"
		}
		when, unless = append(when, insideSchema), append(unless, outsideSchema)
		for _, s := range h.spans {
			c.addReadPath(s.field.path)
		}
		for _, text := range h.describeUnseen(search.describeConstraint) {
			c.UndecidedSituationTexts = append(c.UndecidedSituationTexts, fmt.Sprintf(situationFormat, c.Text, text))
		}
	}
	addHull(newHull(fields, hypotheses, classIndexes, otherIndexes), true)
	addHull(newHull(fields, hypotheses, otherIndexes, classIndexes), false)
	c.When, c.Unless = allOf(when), allOf(unless)
}
