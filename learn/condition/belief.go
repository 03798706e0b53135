package condition

import (
	"math"

	"processidea/model/jsonval"
)

// maxChance bounds the probability that a meaningless condition is believed.
const maxChance = 1.0 / 20

// isBelievable reports whether a condition of this size that separates k of n samples is too unlikely to do so by
// chance.
func isBelievable(fields []*field, size, k, n int) bool {
	return math.Log2(countSeparableSets(fields, size, k, n))-math.Log2(maxChance) <= log2Choose(n, k)
}

// testFamily counts the possible tests of one field, and the chains that they form. The tests of a chain, such as the
// thresholds of a number, hold in fewer and fewer samples, so at most one of them holds in exactly k.
type testFamily struct{ testCount, chainCount float64 }

// countSeparableSets bounds the number of ways to choose k of the samples that conditions of this size can separate from the
// rest.
func countSeparableSets(fields []*field, size, k, n int) float64 {
	single, lists := 0.0, 0.0
	var families []testFamily
	for _, f := range fields {
		var fam testFamily
		values := f.valueCounts()
		if f.isNumeric {
			fam = f.thresholdTests()
			single += fam.chainCount
		}
		single += countExactSets(values, k, n)
		fam.testCount, fam.chainCount = fam.testCount+2*float64(len(values)), fam.chainCount+2*float64(len(values))
		if f.listsValues() && size > 1 {
			lists += 2 * binomial(len(values), size)
		}
		families = append(families, fam)
	}
	if size == 1 {
		return max(1, single)
	}
	return max(1, countCombinedSets(families, size)+lists)
}

// countCombinedSets bounds in how many ways two or three tests together can separate k of the samples, as a conjunction or a
// disjunction. For one of the families it counts only the chains: given the other tests, at most one test of a chain
// separates exactly k.
func countCombinedSets(families []testFamily, size int) float64 {
	sum := 0.0
	for n, a := range families {
		for m, b := range families[n:] {
			if size == 2 {
				sum += 2 * min(a.testCount*b.chainCount, b.testCount*a.chainCount)
				continue
			}
			for _, c := range families[n+m:] {
				sum += 2 * min(a.testCount*b.testCount*c.chainCount, a.testCount*b.chainCount*c.testCount, a.chainCount*b.testCount*c.testCount)
			}
		}
	}
	return sum
}

// valueCounts counts the samples by the values of the field if these are compared one by one, or else by whether the
// field is there. It is nil for lengths, and for a field that is always there.
func (f *field) valueCounts() map[string]int {
	if f.listsValues() {
		return f.countByValue()
	}
	countByValue := map[string]int{}
	for _, exists := range f.exists {
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
func countExactSets(countByValue map[string]int, k, n int) (sets float64) {
	for _, count := range jsonval.Sorted(countByValue) {
		if count == k {
			sets++
		}
		if count == n-k && len(countByValue) > 2 {
			sets++
		}
	}
	return sets
}

// thresholdTests is the family of tests of a number: bounds from above and from below, with and without the samples that
// have no number.
func (f *field) thresholdTests() testFamily {
	distinct, specials := map[float64]bool{}, map[string]bool{}
	for n, x := range f.numbers {
		if f.isNumber[n] {
			distinct[x] = true
		} else {
			specials[f.absentOrNull(n)] = true
		}
	}
	chains := 2 * math.Pow(2, float64(len(specials)))
	return testFamily{testCount: chains * float64(len(distinct)), chainCount: chains}
}

func binomial(n, k int) float64 { return math.Exp2(log2Choose(n, k)) }

// log2Choose is the binary logarithm of the number of ways to choose k of n.
func log2Choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	log := func(m int) float64 {
		v, _ := math.Lgamma(float64(m + 1))
		return v
	}
	return (log(n) - log(k) - log(n-k)) / math.Ln2
}
