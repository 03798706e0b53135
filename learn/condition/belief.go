package condition

import (
	"math"

	"processidea/model/jsonval"
)

// maxChanceProbability bounds the probability that a meaningless condition is believed.
const maxChanceProbability = 1.0 / 20

// isBelievable reports whether a condition of this size that separates classCount of sampleCount samples is too
// unlikely to do so by chance.
func isBelievable(fields []*sampleField, conditionSize, classCount, sampleCount int) bool {
	return math.Log2(countSeparableSets(fields, conditionSize, classCount,
		sampleCount))-math.Log2(maxChanceProbability) <= log2Choose(sampleCount, classCount)
}

// testFamily counts the possible tests of one field, and the chains that they form. The tests of a chain, such as the
// thresholds of a number, hold in fewer and fewer samples, so at most one of them holds in exactly k.
type testFamily struct{ testCount, chainCount float64 }

// countSeparableSets bounds the number of ways to choose classCount of the samples that conditions of this size can
// separate from the rest.
func countSeparableSets(fields []*sampleField, conditionSize, classCount, sampleCount int) float64 {
	singleTestCount, valueListCount := 0.0, 0.0
	var families []testFamily
	for _, f := range fields {
		var fam testFamily
		countByValue := f.countByValueOrPresence()
		if f.isNumeric {
			fam = f.thresholdTestFamily()
			singleTestCount += fam.chainCount
		}
		singleTestCount += countExactSets(countByValue, classCount, sampleCount)
		fam.testCount, fam.chainCount = fam.testCount+2*float64(len(countByValue)),
			fam.chainCount+2*float64(len(countByValue))
		if f.comparesByValue() && conditionSize > 1 {
			valueListCount += 2 * binomial(len(countByValue), conditionSize)
		}
		families = append(families, fam)
	}
	if conditionSize == 1 {
		return max(1, singleTestCount)
	}
	return max(1, countCombinedSets(families, conditionSize)+valueListCount)
}

// countCombinedSets bounds in how many ways two or three tests together can separate k of the samples, as a conjunction
// or a disjunction. For one of the families it counts only the chains: given the other tests, at most one test of a
// chain separates exactly k.
func countCombinedSets(families []testFamily, conditionSize int) float64 {
	setCount := 0.0
	for n, a := range families {
		for m, b := range families[n:] {
			if conditionSize == 2 {
				setCount += 2 * min(a.testCount*b.chainCount, b.testCount*a.chainCount)
				continue
			}
			for _, c := range families[n+m:] {
				setCount += 2 * min(a.testCount*b.testCount*c.chainCount, a.testCount*b.chainCount*c.testCount,
					a.chainCount*b.testCount*c.testCount)
			}
		}
	}
	return setCount
}

// countByValueOrPresence counts the samples by the values of the field if these are compared one by one, or else by
// whether the field is there. It is nil for lengths, and for a field that is always there.
func (f *sampleField) countByValueOrPresence() map[string]int {
	if f.comparesByValue() {
		return f.countByValue()
	}
	countByValue := map[string]int{}
	for _, exists := range f.existsInSample {
		if exists {
			countByValue["there"]++
		} else {
			countByValue[""]++
		}
	}
	if f.isLength || len(countByValue) == 1 {
		return nil
	}
	return countByValue
}

// countExactSets counts the values that k samples have, or that all but k have.
func countExactSets(countByValue map[string]int, k, n int) (setCount float64) {
	for _, count := range jsonval.Sorted(countByValue) {
		if count == k {
			setCount++
		}
		if count == n-k && len(countByValue) > 2 {
			setCount++
		}
	}
	return setCount
}

// thresholdTestFamily is the family of tests of a number: bounds from above and from below, with and without the
// samples that have no number.
func (f *sampleField) thresholdTestFamily() testFamily {
	distinctNumbers, nonNumberTexts := map[float64]bool{}, map[string]bool{}
	for n, x := range f.numberBySample {
		if f.isNumberInSample[n] {
			distinctNumbers[x] = true
		} else {
			nonNumberTexts[f.absentOrNull(n)] = true
		}
	}
	chainCount := 2 * math.Pow(2, float64(len(nonNumberTexts)))
	return testFamily{testCount: chainCount * float64(len(distinctNumbers)), chainCount: chainCount}
}

func binomial(n, k int) float64 { return math.Exp2(log2Choose(n, k)) }

// log2Choose is the binary logarithm of the number of ways to choose k of n.
func log2Choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	logFactorial := func(m int) float64 {
		v, _ := math.Lgamma(float64(m + 1))
		return v
	}
	return (logFactorial(n) - logFactorial(k) - logFactorial(n-k)) / math.Ln2
}
