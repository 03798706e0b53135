package condition

import (
	"math"

	"processidea/model/jsonval"
)

// Cover returns the test that all samples of the class pass, and as few others as possible. excludedIndexes lists the
// others that fail it; Unless holds for them. The test is believed only if its success is unlikely to be chance. If m
// of n samples fail it, chance puts all k samples of the class among the n-m that pass in C(n-m, k) of C(n, k) ways,
// and each test that could be written is one more attempt.
func (s Search) Cover() (c *Condition, excludedIndexes []int, doubt *Doubt) {
	classIndexes, otherIndexes := s.splitSamples()
	fields := readFields(s.Samples)
	var bestTest *fieldTest
	for _, t := range testsFor(fields, classIndexes, otherIndexes) {
		if bestTest == nil || t.excludedCount > bestTest.excludedCount {
			bestTest = t
		}
	}
	if bestTest == nil {
		return nil, nil, &Doubt{Reason: "nothing that was there tells them from the others"}
	}
	excludedIndexes = jsonval.Filter(otherIndexes, func(n int) bool { return bestTest.excludesSample[n] })
	hypo := hypothesis{[]*fieldTest{bestTest}, true}
	c = s.newCondition([]hypothesis{hypo}, 1, classIndexes, excludedIndexes)
	if len(classIndexes) < MinSamplesPerSide || len(excludedIndexes) < MinSamplesPerSide ||
		!isCoverBelievable(fields, len(classIndexes), len(excludedIndexes),
			len(s.Samples)) {
		return nil, nil, &Doubt{CandidateText: c.Text, Reason: "too few, it may be chance"}
	}
	c.When, c.Unless = hypo.schemas(classIndexes, excludedIndexes, false)
	return c, excludedIndexes, nil
}

func isCoverBelievable(fields []*sampleField, classCount, excludedCount, sampleCount int) bool {
	testCount := 0.0
	for _, f := range fields {
		testCount += 2 * float64(len(f.countByValueOrPresence()))
		if f.isNumeric {
			testCount += f.thresholdTestFamily().testCount
		}
	}
	return math.Log2(max(1, testCount))-math.Log2(maxChanceProbability) <= log2Choose(sampleCount,
		classCount)-log2Choose(sampleCount-excludedCount, classCount)
}
