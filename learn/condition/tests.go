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
	testMember
	testAtLeast
	testAtMost
)

// Bounds of a search.
const (
	maxConditionSize = 3  // tests in a condition
	maxTests         = 80 // tests that are combined
	maxHypotheses    = 24 // conditions of one length that separate the samples
	maxNumberEnums   = 12 // distinct numbers that are compared one by one
)

// test is one test of one field: the narrowest that holds in all samples of one side.
type test struct {
	field          *field
	kind           testKind
	size           int // as how many tests it counts
	excludesSample []bool
	excludedCount  int // of the samples that it excludes
}

// testsFor lists the tests that hold in all samples of one side and exclude some of the other.
func testsFor(fields []*field, insideSamples, outsideSamples []int) []*test {
	var list []*test
	for _, f := range fields {
		tests := append(f.presenceTests(insideSamples, outsideSamples),
			f.numericTests(insideSamples, outsideSamples)...)
		if t := f.memberTest(insideSamples, outsideSamples); t != nil &&
			!slices.ContainsFunc(tests, t.excludesSameSamples) {
			tests = append(tests, t)
		}
		list = append(list, tests...)
	}
	if len(list) > maxTests {
		slices.SortStableFunc(list, func(a, b *test) int { return cmp.Compare(b.excludedCount, a.excludedCount) })
		list = list[:maxTests]
	}
	slices.SortStableFunc(list, func(a, b *test) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.kind.rank(a.field), b.kind.rank(b.field)),
			cmp.Compare(len(a.field.path), len(b.field.path)),
			cmp.Compare(a.field.path.String(), b.field.path.String()))
	})
	return list
}

// rank orders tests by what people would rather read: presence, flags, values, thresholds.
func (k testKind) rank(f *field) int {
	switch {
	case k <= testAbsent:
		return 0
	case k == testMember && !f.isNumeric:
		return 1
	case k == testMember:
		return 2
	}
	return 3
}

func (t *test) excludesSameSamples(o *test) bool {
	return slices.Equal(t.excludesSample, o.excludesSample)
}

// newTest returns a test that excludes the samples of the other side for which holds is false; nil if it excludes none.
func (f *field) newTest(k testKind, size int, outsideSamples []int, holds func(n int) bool) *test {
	t := &test{field: f, kind: k, size: size, excludesSample: make([]bool, len(f.values))}
	for _, n := range outsideSamples {
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

func (f *field) presenceTests(insideSamples, outsideSamples []int) []*test {
	k, isPresent := testAbsent, len(insideSamples) > 0 && f.existsInSample[insideSamples[0]]
	if isPresent {
		k = testPresent
	}
	if f.isLength || slices.ContainsFunc(insideSamples, func(n int) bool { return f.existsInSample[n] != isPresent }) {
		return nil
	}
	if t := f.newTest(k, 1, outsideSamples, func(n int) bool { return f.existsInSample[n] == isPresent }); t != nil {
		return []*test{t}
	}
	return nil
}

// countByValue counts the samples by their values of the field.
func (f *field) countByValue() map[string]int {
	countByText := map[string]int{}
	for _, key := range f.comparisonTexts {
		countByText[key]++
	}
	return countByText
}

// comparesByValue reports whether the field's values are compared one by one.
func (f *field) comparesByValue() bool {
	return f.isScalar && (!f.isNumeric || len(f.countByValue()) <= maxNumberEnums)
}

func (f *field) memberTest(insideSamples, outsideSamples []int) *test {
	if !f.comparesByValue() {
		return nil
	}
	insideValueTexts := map[string]bool{}
	for _, n := range insideSamples {
		insideValueTexts[f.comparisonTexts[n]] = true
	}
	size := min(len(insideValueTexts), len(f.countByValue())-len(insideValueTexts))
	if size < 1 || size > maxConditionSize {
		return nil
	}
	return f.newTest(testMember, size, outsideSamples,
		func(n int) bool { return insideValueTexts[f.comparisonTexts[n]] })
}

// extremes are the samples with the smallest and the greatest number, or -1 if none has a number.
func (f *field) extremes(samples []int) (lowIndex, highIndex int) {
	lowIndex, highIndex = -1, -1
	for _, n := range samples {
		if !f.isNumber[n] {
			continue
		}
		if lowIndex < 0 || f.numbers[n] < f.numbers[lowIndex] {
			lowIndex = n
		}
		if highIndex < 0 || f.numbers[n] > f.numbers[highIndex] {
			highIndex = n
		}
	}
	return lowIndex, highIndex
}

func (f *field) numericTests(insideSamples, outsideSamples []int) (list []*test) {
	lowIndex, highIndex := f.extremes(insideSamples)
	if !f.isNumeric || lowIndex < 0 {
		return nil
	}
	nonNumberTexts := map[string]bool{}
	for _, n := range insideSamples {
		nonNumberTexts[f.absentOrNull(n)] = true
	}
	for _, k := range []testKind{testAtLeast, testAtMost} {
		excludesNumber := false
		t := f.newTest(k, 1, outsideSamples, func(n int) bool {
			if !f.isNumber[n] {
				return nonNumberTexts[f.absentOrNull(n)]
			}
			holds := k == testAtLeast && f.numbers[n] >= f.numbers[lowIndex] ||
				k == testAtMost && f.numbers[n] <= f.numbers[highIndex]
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
func (t *test) constraint(samples, others []int, isOwnSide, isRounded bool) constraint {
	k := t.kind
	if !isOwnSide {
		k = map[testKind]testKind{testPresent: testAbsent, testAbsent: testPresent, testMember: testMember,
			testAtLeast: testAtMost, testAtMost: testAtLeast}[k]
	}
	z := constraint{path: t.field.path}
	switch k {
	case testPresent:
		return z
	case testAbsent:
		z.mustBeAbsent = true
		return z
	}
	return t.field.valueConstraint(k, samples, others, isRounded)
}

// valueConstraint is the constraint to the values of some samples.
func (f *field) valueConstraint(k testKind, samples, others []int, isRounded bool) constraint {
	z := constraint{path: f.path, valueSchema: jsonval.Object{}}
	values, hasNull := []any{}, false
	for _, n := range samples {
		if !f.existsInSample[n] {
			z.allowsAbsent = true
			continue
		}
		hasNull = hasNull || f.comparisonTexts[n] == "null"
		if !jsonval.ContainsValue(values, f.values[n]) {
			values = append(values, f.values[n])
		}
	}
	edgeIndex, highIndex := f.extremes(samples)
	lowIndex, nearestIndex := f.extremes(others)
	if k == testAtMost {
		edgeIndex, nearestIndex = highIndex, lowIndex
	}
	if k == testMember || edgeIndex < 0 {
		slices.SortFunc(values, func(a, b any) int { return bytes.Compare(jsonval.Encode(a), jsonval.Encode(b)) })
		z.valueSchema["enum"] = values
		if len(values) == 0 {
			return constraint{path: f.path, mustBeAbsent: true}
		}
		return z
	}
	z.valueSchema = f.boundSchema(k, f.values[edgeIndex])
	if isRounded && nearestIndex >= 0 {
		z.valueSchema = f.roundedSchema(k, edgeIndex, nearestIndex)
	}
	if hasNull {
		z.valueSchema["type"] = []any{z.valueSchema["type"], "null"}
	}
	return z
}

// boundKeyword is the JSON Schema keyword for a bound of the field's numbers, or of the lengths of its lists.
func (f *field) boundKeyword(k testKind) string {
	if f.isLength {
		return map[testKind]string{testAtLeast: "minItems", testAtMost: "maxItems"}[k]
	}
	return map[testKind]string{testAtLeast: "minimum", testAtMost: "maximum"}[k]
}

func (f *field) boundSchema(k testKind, bound any) jsonval.Object {
	typeName := "number"
	if f.isLength {
		typeName = "array"
	}
	return jsonval.Object{"type": typeName, f.boundKeyword(k): bound}
}

// excludingTestSets lists the sets of tests, each of the given size in total, that together exclude the whole other
// side.
func excludingTestSets(tests []*test, outsideSamples []int, size int) [][]*test {
	var testSets [][]*test
	var extend func(from int, testSet []*test, remaining int)
	extend = func(from int, testSet []*test, remaining int) {
		if remaining == 0 {
			if doTestsExcludeAll(testSet, outsideSamples) && len(testSets) <= maxHypotheses {
				testSets = append(testSets, slices.Clone(testSet))
			}
			return
		}
		for n := from; n < len(tests) && len(testSets) <= maxHypotheses; n++ {
			t := tests[n]
			if t.size <= remaining && !slices.ContainsFunc(testSet, t.overlaps) {
				extend(n+1, append(slices.Clip(testSet), t), remaining-t.size)
			}
		}
	}
	extend(0, nil, size)
	return testSets
}

// overlaps reports whether two tests are of one field, and are not the two ends of a range.
func (t *test) overlaps(o *test) bool {
	return t.field.path.String() == o.field.path.String() &&
		!(t.field == o.field && min(t.kind, o.kind) == testAtLeast && max(t.kind, o.kind) == testAtMost)
}

func doTestsExcludeAll(tests []*test, outsideSamples []int) bool {
	excludedCount := 0
	for _, t := range tests {
		excludedCount += t.excludedCount
	}
	if excludedCount < len(outsideSamples) {
		return false
	}
	return !slices.ContainsFunc(outsideSamples, func(n int) bool {
		return !slices.ContainsFunc(tests, func(t *test) bool { return t.excludesSample[n] })
	})
}
