package condition

import (
	"bytes"
	"cmp"
	"slices"

	"processidea/model/jsonval"
)

// testKind is what a test asks of a field. The order is the order of preference.
type testKind int

const (
	testPresent testKind = iota
	testAbsent
	testOneOf
	testAtLeast
	testAtMost
)

// Bounds of a search.
const (
	maxConditionSize = 3  // tests in a condition
	maxCombinedTests = 80 // tests that are combined
	maxHypotheses    = 24 // conditions of one length that separate the samples
	maxListedNumbers = 12 // distinct numbers that are compared one by one
)

// fieldTest is one test of one field: the narrowest that holds in all samples of one side.
type fieldTest struct {
	field           *sampleField
	kind            testKind
	sizeInCondition int // as how many tests it counts
	excludesSample  []bool
	excludedCount   int // of the samples that it excludes
}

// testsFor lists the tests that hold in all samples of one side and exclude some of the other.
func testsFor(fields []*sampleField, insideIndexes, outsideIndexes []int) []*fieldTest {
	var list []*fieldTest
	for _, f := range fields {
		tests := append(f.presenceTests(insideIndexes, outsideIndexes),
			f.numericTests(insideIndexes, outsideIndexes)...)
		if t := f.oneOfTest(insideIndexes, outsideIndexes); t != nil &&
			!slices.ContainsFunc(tests, t.excludesSameSamples) {
			tests = append(tests, t)
		}
		list = append(list, tests...)
	}
	if len(list) > maxCombinedTests {
		slices.SortStableFunc(list, func(a, b *fieldTest) int { return cmp.Compare(b.excludedCount, a.excludedCount) })
		list = list[:maxCombinedTests]
	}
	slices.SortStableFunc(list, func(a, b *fieldTest) int {
		return cmp.Or(cmp.Compare(a.sizeInCondition, b.sizeInCondition),
			cmp.Compare(a.kind.readingRank(a.field), b.kind.readingRank(b.field)),
			cmp.Compare(len(a.field.path), len(b.field.path)),
			cmp.Compare(a.field.path.String(), b.field.path.String()))
	})
	return list
}

// readingRank orders tests by what people would rather read: presence, flags, values, thresholds.
func (k testKind) readingRank(f *sampleField) int {
	switch {
	case k <= testAbsent:
		return 0
	case k == testOneOf && !f.isNumeric:
		return 1
	case k == testOneOf:
		return 2
	}
	return 3
}

func (t *fieldTest) excludesSameSamples(o *fieldTest) bool {
	return slices.Equal(t.excludesSample, o.excludesSample)
}

// newTest returns a test that excludes the samples of the other side for which holds is false; nil if it excludes none.
func (f *sampleField) newTest(k testKind, sizeInCondition int, outsideIndexes []int,
	holds func(n int) bool) *fieldTest {
	t := &fieldTest{field: f, kind: k, sizeInCondition: sizeInCondition,
		excludesSample: make([]bool, len(f.valueBySample))}
	for _, n := range outsideIndexes {
		if !holds(n) {
			t.excludesSample[n] = true
			t.excludedCount++
		}
	}
	if t.excludedCount == 0 {
		return nil
	}
	return t
}

func (f *sampleField) presenceTests(insideIndexes, outsideIndexes []int) []*fieldTest {
	k, isPresent := testAbsent, len(insideIndexes) > 0 && f.existsInSample[insideIndexes[0]]
	if isPresent {
		k = testPresent
	}
	if f.isLength || slices.ContainsFunc(insideIndexes, func(n int) bool { return f.existsInSample[n] != isPresent }) {
		return nil
	}
	if t := f.newTest(k, 1, outsideIndexes, func(n int) bool { return f.existsInSample[n] == isPresent }); t != nil {
		return []*fieldTest{t}
	}
	return nil
}

// countByValue counts the samples by their values of the field.
func (f *sampleField) countByValue() map[string]int {
	countByText := map[string]int{}
	for _, key := range f.comparisonTextBySample {
		countByText[key]++
	}
	return countByText
}

// comparesByValue reports whether the field's values are compared one by one.
func (f *sampleField) comparesByValue() bool {
	return f.isScalar && (!f.isNumeric || len(f.countByValue()) <= maxListedNumbers)
}

func (f *sampleField) oneOfTest(insideIndexes, outsideIndexes []int) *fieldTest {
	if !f.comparesByValue() {
		return nil
	}
	insideValueTexts := map[string]bool{}
	for _, n := range insideIndexes {
		insideValueTexts[f.comparisonTextBySample[n]] = true
	}
	sizeInCondition := min(len(insideValueTexts), len(f.countByValue())-len(insideValueTexts))
	if sizeInCondition < 1 || sizeInCondition > maxConditionSize {
		return nil
	}
	return f.newTest(testOneOf, sizeInCondition, outsideIndexes,
		func(n int) bool { return insideValueTexts[f.comparisonTextBySample[n]] })
}

// extremeSampleIndexes are the samples with the smallest and the greatest number, or -1 if none has a number.
func (f *sampleField) extremeSampleIndexes(sampleIndexes []int) (lowIndex, highIndex int) {
	lowIndex, highIndex = -1, -1
	for _, n := range sampleIndexes {
		if !f.isNumberInSample[n] {
			continue
		}
		if lowIndex < 0 || f.numberBySample[n] < f.numberBySample[lowIndex] {
			lowIndex = n
		}
		if highIndex < 0 || f.numberBySample[n] > f.numberBySample[highIndex] {
			highIndex = n
		}
	}
	return lowIndex, highIndex
}

func (f *sampleField) numericTests(insideIndexes, outsideIndexes []int) (list []*fieldTest) {
	lowIndex, highIndex := f.extremeSampleIndexes(insideIndexes)
	if !f.isNumeric || lowIndex < 0 {
		return nil
	}
	nonNumberTexts := map[string]bool{}
	for _, n := range insideIndexes {
		nonNumberTexts[f.absentOrNull(n)] = true
	}
	for _, k := range []testKind{testAtLeast, testAtMost} {
		excludesNumber := false
		t := f.newTest(k, 1, outsideIndexes, func(n int) bool {
			if !f.isNumberInSample[n] {
				return nonNumberTexts[f.absentOrNull(n)]
			}
			holds := k == testAtLeast && f.numberBySample[n] >= f.numberBySample[lowIndex] ||
				k == testAtMost && f.numberBySample[n] <= f.numberBySample[highIndex]
			excludesNumber = excludesNumber || !holds
			return holds
		})
		if t != nil && excludesNumber {
			list = append(list, t)
		}
	}
	return list
}

// constraint is what the test requires of the given samples: of its own side, or of the excluded side. With isRounded,
// a threshold is a round number between the two sides, otherwise it is the nearest sample.
func (t *fieldTest) constraint(sampleIndexes, otherIndexes []int, isOwnSide, isRounded bool) fieldConstraint {
	k := t.kind
	if !isOwnSide {
		k = map[testKind]testKind{testPresent: testAbsent, testAbsent: testPresent, testOneOf: testOneOf,
			testAtLeast: testAtMost, testAtMost: testAtLeast}[k]
	}
	z := fieldConstraint{path: t.field.path}
	switch k {
	case testPresent:
		return z
	case testAbsent:
		z.mustBeAbsent = true
		return z
	}
	return t.field.valueConstraint(k, sampleIndexes, otherIndexes, isRounded)
}

// valueConstraint is the constraint to the values of some samples.
func (f *sampleField) valueConstraint(k testKind, sampleIndexes, otherIndexes []int, isRounded bool) fieldConstraint {
	z := fieldConstraint{path: f.path, valueSchema: jsonval.Object{}}
	values, hasNull := []any{}, false
	for _, n := range sampleIndexes {
		if !f.existsInSample[n] {
			z.allowsAbsent = true
			continue
		}
		hasNull = hasNull || f.comparisonTextBySample[n] == "null"
		if !jsonval.ContainsValue(values, f.valueBySample[n]) {
			values = append(values, f.valueBySample[n])
		}
	}
	edgeIndex, highIndex := f.extremeSampleIndexes(sampleIndexes)
	lowIndex, nearestIndex := f.extremeSampleIndexes(otherIndexes)
	if k == testAtMost {
		edgeIndex, nearestIndex = highIndex, lowIndex
	}
	if k == testOneOf || edgeIndex < 0 {
		slices.SortFunc(values, func(a, b any) int { return bytes.Compare(jsonval.Encode(a), jsonval.Encode(b)) })
		z.valueSchema["enum"] = values
		if len(values) == 0 {
			return fieldConstraint{path: f.path, mustBeAbsent: true}
		}
		return z
	}
	z.valueSchema = f.boundSchema(k, f.valueBySample[edgeIndex])
	if isRounded && nearestIndex >= 0 {
		z.valueSchema = f.roundedBoundSchema(k, edgeIndex, nearestIndex)
	}
	if hasNull {
		z.valueSchema["type"] = []any{z.valueSchema["type"], "null"}
	}
	return z
}

// boundKeyword is the JSON Schema keyword for a bound of the field's numbers, or of the lengths of its lists.
func (f *sampleField) boundKeyword(k testKind) string {
	if f.isLength {
		return map[testKind]string{testAtLeast: "minItems", testAtMost: "maxItems"}[k]
	}
	return map[testKind]string{testAtLeast: "minimum", testAtMost: "maximum"}[k]
}

func (f *sampleField) boundSchema(k testKind, bound any) jsonval.Object {
	typeName := "number"
	if f.isLength {
		typeName = "array"
	}
	return jsonval.Object{"type": typeName, f.boundKeyword(k): bound}
}

// excludingTestSets lists the sets of tests, each of the given size in total, that together exclude the whole other
// side.
func excludingTestSets(tests []*fieldTest, outsideIndexes []int, conditionSize int) [][]*fieldTest {
	var testSets [][]*fieldTest
	var extend func(firstTestIndex int, testSet []*fieldTest, remainingSize int)
	extend = func(firstTestIndex int, testSet []*fieldTest, remainingSize int) {
		if remainingSize == 0 {
			if doTestsExcludeAll(testSet, outsideIndexes) && len(testSets) <= maxHypotheses {
				testSets = append(testSets, slices.Clone(testSet))
			}
			return
		}
		for n := firstTestIndex; n < len(tests) && len(testSets) <= maxHypotheses; n++ {
			t := tests[n]
			if t.sizeInCondition <= remainingSize && !slices.ContainsFunc(testSet, t.overlaps) {
				extend(n+1, append(slices.Clip(testSet), t), remainingSize-t.sizeInCondition)
			}
		}
	}
	extend(0, nil, conditionSize)
	return testSets
}

// overlaps reports whether two tests are of one field, and are not the two ends of a range.
func (t *fieldTest) overlaps(o *fieldTest) bool {
	return t.field.path.String() == o.field.path.String() &&
		!(t.field == o.field && min(t.kind, o.kind) == testAtLeast && max(t.kind, o.kind) == testAtMost)
}

func doTestsExcludeAll(tests []*fieldTest, outsideIndexes []int) bool {
	excludedCount := 0
	for _, t := range tests {
		excludedCount += t.excludedCount
	}
	if excludedCount < len(outsideIndexes) {
		return false
	}
	return !slices.ContainsFunc(outsideIndexes, func(n int) bool {
		return !slices.ContainsFunc(tests, func(t *fieldTest) bool { return t.excludesSample[n] })
	})
}
