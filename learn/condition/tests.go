package condition

import (
	"bytes"
	"cmp"
	"slices"

	"processidea/model/jsonval"
)

// kind is what a test asks of a field. The order is the order of preference.
type kind int

const (
	present kind = iota
	absent
	member
	atLeast
	atMost
)

// Bounds of a search.
const (
	maxSize        = 3  // tests in a condition
	maxTests       = 80 // that are combined
	maxHypotheses  = 24 // conditions of one length that separate the samples
	maxNumberEnums = 12 // distinct numbers that are told apart as values
)

// test is one test of one field: the narrowest that holds in all samples of one side.
type test struct {
	f        *field
	kind     kind
	size     int // as how many tests it counts
	excludes []bool
	count    int // of what it excludes
}

// testsFor lists the tests that hold in all samples of one side and exclude some of the other.
func testsFor(fields []*field, side []bool) []*test {
	var list []*test
	for _, f := range fields {
		own := f.presenceTests(side)
		numeric := f.numericTests(side)
		own = append(own, numeric...)
		if t := f.memberTest(side); t != nil && !slices.ContainsFunc(own, t.excludesSame) {
			own = append(own, t)
		}
		list = append(list, own...)
	}
	if len(list) > maxTests {
		slices.SortStableFunc(list, func(a, b *test) int { return cmp.Compare(b.count, a.count) })
		list = list[:maxTests]
	}
	slices.SortStableFunc(list, func(a, b *test) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.kind.rank(a.f), b.kind.rank(b.f)),
			cmp.Compare(len(a.f.path), len(b.f.path)),
			cmp.Compare(a.f.path.String(), b.f.path.String()))
	})
	return list
}

// rank orders tests by what people would rather read: presence, flags, values, thresholds.
func (k kind) rank(f *field) int {
	switch {
	case k <= absent:
		return 0
	case k == member && !f.numeric:
		return 1
	case k == member:
		return 2
	}
	return 3
}

func (t *test) excludesSame(o *test) bool { return slices.Equal(t.excludes, o.excludes) }

// newTest returns a test that excludes the samples of the other side for which holds is false; nil if it excludes none.
func (f *field) newTest(k kind, size int, side []bool, holds func(n int) bool) *test {
	t := &test{f: f, kind: k, size: size, excludes: make([]bool, len(side))}
	for n := range side {
		if !side[n] && !holds(n) {
			t.excludes[n] = true
			t.count++
		}
	}
	if t.count == 0 {
		return nil
	}
	return t
}

func (f *field) presenceTests(side []bool) (list []*test) {
	if f.isLength {
		return nil
	}
	with, without := false, false
	for n := range side {
		with, without = with || side[n] && f.has[n], without || side[n] && !f.has[n]
	}
	t := f.newTest(present, 1, side, func(n int) bool { return f.has[n] })
	if with && !without && t != nil {
		list = append(list, t)
	}
	t = f.newTest(absent, 1, side, func(n int) bool { return !f.has[n] })
	if without && !with && t != nil {
		list = append(list, t)
	}
	return list
}

// category is what a sample has in a field whose values are told apart.
func (f *field) category(n int) string {
	if !f.has[n] {
		return ""
	}
	return f.keys[n]
}

// categories counts the samples by what they have.
func (f *field) categories() map[string]int {
	count := map[string]int{}
	for n := range f.values {
		count[f.category(n)]++
	}
	return count
}

// listsValues reports whether the field's values are told apart one by one.
func (f *field) listsValues() bool {
	return f.scalar && (!f.numeric || len(f.categories()) <= maxNumberEnums)
}

func (f *field) memberTest(side []bool) *test {
	if !f.listsValues() {
		return nil
	}
	own := map[string]bool{}
	for n := range side {
		if side[n] {
			own[f.category(n)] = true
		}
	}
	size := min(len(own), len(f.categories())-len(own))
	if size < 1 || size > maxSize {
		return nil
	}
	return f.newTest(member, size, side, func(n int) bool { return own[f.category(n)] })
}

func (f *field) numericTests(side []bool) (list []*test) {
	if !f.numeric {
		return nil
	}
	specials := map[string]bool{}
	var own []float64
	for n := range side {
		if side[n] && f.isNumber[n] {
			own = append(own, f.numbers[n])
		} else if side[n] {
			specials[f.special(n)] = true
		}
	}
	if len(own) == 0 {
		return nil
	}
	low, high := slices.Min(own), slices.Max(own)
	for _, k := range []kind{atLeast, atMost} {
		excludesNumber := false
		t := f.newTest(k, 1, side, func(n int) bool {
			if !f.isNumber[n] {
				return specials[f.special(n)]
			}
			holds := k == atLeast && f.numbers[n] >= low || k == atMost && f.numbers[n] <= high
			excludesNumber = excludesNumber || !side[n] && !holds
			return holds
		})
		if t != nil && excludesNumber {
			list = append(list, t)
		}
	}
	return list
}

// zone is what the test says of the samples given: of its own side, or of what it must exclude. With rounded, a
// threshold stands at a round number between the two sides, else at the nearest sample.
func (t *test) zone(samples, others []int, own, rounded bool) zone {
	k := t.kind
	if !own {
		k = map[kind]kind{present: absent, absent: present, member: member, atLeast: atMost, atMost: atLeast}[k]
	}
	z := zone{path: t.f.path}
	switch k {
	case present:
		return z
	case absent:
		z.isAbsent = true
		return z
	}
	return t.f.valueZone(k, samples, others, rounded)
}

// valueZone is the zone of the values that some samples have.
func (f *field) valueZone(k kind, samples, others []int, rounded bool) zone {
	z := zone{path: f.path, leaf: map[string]any{}}
	values, nulls := []any{}, false
	var edge int
	numbers := 0
	for _, n := range samples {
		switch {
		case !f.has[n]:
			z.allowAbsent = true
			continue
		case k != member && f.isNumber[n]:
			if numbers == 0 || k == atLeast && f.numbers[n] < f.numbers[edge] || k == atMost &&
				f.numbers[n] > f.numbers[edge] {
				edge = n
			}
			numbers++
		case f.keys[n] == "null":
			nulls = true
		}
		if !jsonval.ContainsValue(values, f.values[n]) {
			values = append(values, f.values[n])
		}
	}
	if k == member || numbers == 0 {
		slices.SortFunc(values, func(a, b any) int { return bytes.Compare(jsonval.Encode(a), jsonval.Encode(b)) })
		z.leaf["enum"] = values
		if len(values) == 0 {
			return zone{path: f.path, isAbsent: true}
		}
		return z
	}
	z.leaf = f.boundSchema(k, f.values[edge])
	if near, ok := f.nearestOther(k, others); rounded && ok {
		z.leaf = f.roundedSchema(k, edge, near)
	}
	if nulls {
		z.leaf["type"] = []any{z.leaf["type"], "null"}
	}
	return z
}

// nearestOther returns the sample of the other side whose number lies nearest.
func (f *field) nearestOther(k kind, others []int) (near int, ok bool) {
	for _, n := range others {
		if f.isNumber[n] && (!ok || k == atLeast && f.numbers[n] > f.numbers[near] || k == atMost &&
			f.numbers[n] < f.numbers[near]) {
			near, ok = n, true
		}
	}
	return near, ok
}

func (f *field) boundSchema(k kind, bound any) map[string]any {
	keyword, name := map[kind]string{atLeast: "minimum", atMost: "maximum"}[k], "number"
	if f.isLength {
		keyword, name = map[kind]string{atLeast: "minItems", atMost: "maxItems"}[k], "array"
	}
	return map[string]any{"type": name, keyword: bound}
}

// combinations lists the sets of tests, as many in each as the size says, that together exclude the whole other side.
func combinations(tests []*test, others []int, size int) [][]*test {
	var found [][]*test
	var extend func(from int, chosen []*test, left int)
	extend = func(from int, chosen []*test, left int) {
		if left == 0 {
			if excludeAll(chosen, others) && len(found) <= maxHypotheses {
				found = append(found, slices.Clone(chosen))
			}
			return
		}
		for n := from; n < len(tests) && len(found) <= maxHypotheses; n++ {
			t := tests[n]
			if t.size <= left && !slices.ContainsFunc(chosen, t.overlaps) {
				extend(n+1, append(chosen[:len(chosen):len(chosen)], t), left-t.size)
			}
		}
	}
	extend(0, nil, size)
	return found
}

// overlaps reports whether two tests are of one field, and are not the two ends of a range.
func (t *test) overlaps(o *test) bool {
	return t.f.path.String() == o.f.path.String() &&
		!(t.f == o.f && min(t.kind, o.kind) == atLeast && max(t.kind, o.kind) == atMost)
}

func excludeAll(tests []*test, others []int) bool {
	total := 0
	for _, t := range tests {
		total += t.count
	}
	if total < len(others) {
		return false
	}
	return !slices.ContainsFunc(others, func(n int) bool {
		return !slices.ContainsFunc(tests, func(t *test) bool { return t.excludes[n] })
	})
}
