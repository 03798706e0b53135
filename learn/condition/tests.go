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
	present testKind = iota
	absent
	member
	atLeast
	atMost
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
	field         *field
	kind          testKind
	size          int // as how many tests it counts
	excludes      []bool
	excludedCount int // of the samples that it excludes
}

// testsFor lists the tests that hold in all samples of one side and exclude some of the other.
func testsFor(fields []*field, inside, outside []int) []*test {
	var list []*test
	for _, f := range fields {
		tests := append(f.presenceTests(inside, outside), f.numericTests(inside, outside)...)
		if t := f.memberTest(inside, outside); t != nil && !slices.ContainsFunc(tests, t.excludesSame) {
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
	case k <= absent:
		return 0
	case k == member && !f.isNumeric:
		return 1
	case k == member:
		return 2
	}
	return 3
}

func (t *test) excludesSame(o *test) bool { return slices.Equal(t.excludes, o.excludes) }

// newTest returns a test that excludes the samples of the other side for which holds is false; nil if it excludes none.
func (f *field) newTest(k testKind, size int, outside []int, holds func(n int) bool) *test {
	t := &test{field: f, kind: k, size: size, excludes: make([]bool, len(f.values))}
	for _, n := range outside {
		if !holds(n) {
			t.excludes[n] = true
			t.excludedCount++
		}
	}
	if t.excludedCount == 0 {
		return nil
	}
	return t
}

func (f *field) presenceTests(inside, outside []int) []*test {
	k, isPresent := absent, len(inside) > 0 && f.exists[inside[0]]
	if isPresent {
		k = present
	}
	if f.isLength || slices.ContainsFunc(inside, func(n int) bool { return f.exists[n] != isPresent }) {
		return nil
	}
	if t := f.newTest(k, 1, outside, func(n int) bool { return f.exists[n] == isPresent }); t != nil {
		return []*test{t}
	}
	return nil
}

// countByValue counts the samples by their values of the field.
func (f *field) countByValue() map[string]int {
	countByKey := map[string]int{}
	for _, key := range f.comparisonTexts {
		countByKey[key]++
	}
	return countByKey
}

// listsValues reports whether the field's values are compared one by one.
func (f *field) listsValues() bool {
	return f.isScalar && (!f.isNumeric || len(f.countByValue()) <= maxNumberEnums)
}

func (f *field) memberTest(inside, outside []int) *test {
	if !f.listsValues() {
		return nil
	}
	keys := map[string]bool{}
	for _, n := range inside {
		keys[f.comparisonTexts[n]] = true
	}
	size := min(len(keys), len(f.countByValue())-len(keys))
	if size < 1 || size > maxConditionSize {
		return nil
	}
	return f.newTest(member, size, outside, func(n int) bool { return keys[f.comparisonTexts[n]] })
}

// extremes are the samples with the smallest and the greatest number, or -1 if none has a number.
func (f *field) extremes(samples []int) (low, high int) {
	low, high = -1, -1
	for _, n := range samples {
		if !f.isNumber[n] {
			continue
		}
		if low < 0 || f.numbers[n] < f.numbers[low] {
			low = n
		}
		if high < 0 || f.numbers[n] > f.numbers[high] {
			high = n
		}
	}
	return low, high
}

func (f *field) numericTests(inside, outside []int) (list []*test) {
	low, high := f.extremes(inside)
	if !f.isNumeric || low < 0 {
		return nil
	}
	specials := map[string]bool{}
	for _, n := range inside {
		specials[f.absentOrNull(n)] = true
	}
	for _, k := range []testKind{atLeast, atMost} {
		excludesNumber := false
		t := f.newTest(k, 1, outside, func(n int) bool {
			if !f.isNumber[n] {
				return specials[f.absentOrNull(n)]
			}
			holds := k == atLeast && f.numbers[n] >= f.numbers[low] ||
				k == atMost && f.numbers[n] <= f.numbers[high]
			excludesNumber = excludesNumber || !holds
			return holds
		})
		if t != nil && excludesNumber {
			list = append(list, t)
		}
	}
	return list
}

// constraint is what the test requires of the given samples: of its own side, or of the excluded side. With rounded, a
// threshold is a round number between the two sides, otherwise it is the nearest sample.
func (t *test) constraint(samples, others []int, isOwnSide, rounded bool) constraint {
	k := t.kind
	if !isOwnSide {
		k = map[testKind]testKind{present: absent, absent: present, member: member, atLeast: atMost, atMost: atLeast}[k]
	}
	z := constraint{path: t.field.path}
	switch k {
	case present:
		return z
	case absent:
		z.isAbsent = true
		return z
	}
	return t.field.valueConstraint(k, samples, others, rounded)
}

// valueConstraint is the constraint to the values of some samples.
func (f *field) valueConstraint(k testKind, samples, others []int, rounded bool) constraint {
	z := constraint{path: f.path, valueSchema: jsonval.Object{}}
	values, nulls := []any{}, false
	for _, n := range samples {
		if !f.exists[n] {
			z.allowAbsent = true
			continue
		}
		nulls = nulls || f.comparisonTexts[n] == "null"
		if !jsonval.ContainsValue(values, f.values[n]) {
			values = append(values, f.values[n])
		}
	}
	edge, high := f.extremes(samples)
	low, nearest := f.extremes(others)
	if k == atMost {
		edge, nearest = high, low
	}
	if k == member || edge < 0 {
		slices.SortFunc(values, func(a, b any) int { return bytes.Compare(jsonval.Encode(a), jsonval.Encode(b)) })
		z.valueSchema["enum"] = values
		if len(values) == 0 {
			return constraint{path: f.path, isAbsent: true}
		}
		return z
	}
	z.valueSchema = f.boundSchema(k, f.values[edge])
	if rounded && nearest >= 0 {
		z.valueSchema = f.roundedSchema(k, edge, nearest)
	}
	if nulls {
		z.valueSchema["type"] = []any{z.valueSchema["type"], "null"}
	}
	return z
}

// boundKeyword is the JSON Schema keyword for a bound of the field's numbers, or of the lengths of its lists.
func (f *field) boundKeyword(k testKind) string {
	if f.isLength {
		return map[testKind]string{atLeast: "minItems", atMost: "maxItems"}[k]
	}
	return map[testKind]string{atLeast: "minimum", atMost: "maximum"}[k]
}

func (f *field) boundSchema(k testKind, bound any) jsonval.Object {
	name := "number"
	if f.isLength {
		name = "array"
	}
	return jsonval.Object{"type": name, f.boundKeyword(k): bound}
}

// excludingTests lists the sets of tests, each of the given size in total, that together exclude the whole other side.
func excludingTests(tests []*test, outside []int, size int) [][]*test {
	var found [][]*test
	var extend func(from int, chosen []*test, remaining int)
	extend = func(from int, chosen []*test, remaining int) {
		if remaining == 0 {
			if excludeAll(chosen, outside) && len(found) <= maxHypotheses {
				found = append(found, slices.Clone(chosen))
			}
			return
		}
		for n := from; n < len(tests) && len(found) <= maxHypotheses; n++ {
			t := tests[n]
			if t.size <= remaining && !slices.ContainsFunc(chosen, t.overlaps) {
				extend(n+1, append(slices.Clip(chosen), t), remaining-t.size)
			}
		}
	}
	extend(0, nil, size)
	return found
}

// overlaps reports whether two tests are of one field, and are not the two ends of a range.
func (t *test) overlaps(o *test) bool {
	return t.field.path.String() == o.field.path.String() &&
		!(t.field == o.field && min(t.kind, o.kind) == atLeast && max(t.kind, o.kind) == atMost)
}

func excludeAll(tests []*test, outside []int) bool {
	total := 0
	for _, t := range tests {
		total += t.excludedCount
	}
	if total < len(outside) {
		return false
	}
	return !slices.ContainsFunc(outside, func(n int) bool {
		return !slices.ContainsFunc(tests, func(t *test) bool { return t.excludes[n] })
	})
}
