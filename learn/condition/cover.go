package condition

import (
	"math"

	"processidea/model/jsonval"
)

// Cover returns the test that all samples of the class pass, and as few others as possible. outside lists the others
// that fail it; Unless holds for them. The test is believed only if its success is unlikely to be chance. If m of n
// samples fail it, chance puts all k samples of the class among the n-m that pass in C(n-m, k) of C(n, k) ways, and
// each test that could be written is one more attempt.
func (s Search) Cover() (c *Condition, excludedIndexes []int, doubt *Doubt) {
	class, others := s.splitSamples()
	fields := readFields(s.Samples)
	var bestTest *test
	for _, t := range testsFor(fields, class, others) {
		if bestTest == nil || t.excludedCount > bestTest.excludedCount {
			bestTest = t
		}
	}
	if bestTest == nil {
		return nil, nil, &Doubt{Reason: "nothing that was there tells them from the others"}
	}
	excludedIndexes = jsonval.Filter(others, func(n int) bool { return bestTest.excludes[n] })
	hypo := hypothesis{[]*test{bestTest}, true}
	c = s.newCondition([]hypothesis{hypo}, 1, class, excludedIndexes)
	if len(class) < MinSide || len(excludedIndexes) < MinSide || !isCoverBelievable(fields, len(class), len(excludedIndexes),
		len(s.Samples)) {
		return nil, nil, &Doubt{Candidate: c.Text, Reason: "too few, it may be chance"}
	}
	c.When, c.Unless = hypo.schemas(class, excludedIndexes, false)
	return c, excludedIndexes, nil
}

func isCoverBelievable(fields []*field, classCount, outsideCount, sampleCount int) bool {
	tests := 0.0
	for _, f := range fields {
		tests += 2 * float64(len(f.valueCounts()))
		if f.isNumeric {
			tests += f.thresholdTests().testCount
		}
	}
	return math.Log2(max(1, tests))-math.Log2(maxChance) <= log2Choose(sampleCount, classCount)-log2Choose(sampleCount-outsideCount, classCount)
}
