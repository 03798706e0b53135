package condition

import (
	"fmt"
	"slices"

	"processidea/model/jsonval"
)

// MinSamplesPerSide is the minimum number of samples on each side.
const MinSamplesPerSide = 3

// Sample is a JSON value that was observed at one time, and whether it belongs to the class.
type Sample struct {
	Name      string
	View      any
	IsInClass bool
}

// Search looks for a condition over samples.
type Search struct {
	Samples []Sample
	// NameOfPlace names a place in the samples for people. If it is nil, they see the place's path.
	NameOfPlace func(jsonval.Path) string
}

// Condition separates the samples of the class from the others.
type Condition struct {
	// When holds in every sample of the class, and Unless in every other. Both are JSON Schemas. Neither holds where
	// the outcome is unknown.
	When, Unless jsonval.Object
	// UnlessRounded is Unless with thresholds at round numbers between the two sides.
	UnlessRounded jsonval.Object
	// Text is the condition in words, with round thresholds. Alternatives are other conditions that separate the
	// samples as well.
	Text         string
	Alternatives []string
	// UndecidedSituationTexts describes situations that no sample showed and that a longer condition might decide
	// otherwise. Neither When nor Unless holds there.
	UndecidedSituationTexts []string
	// SizeInTests is the number of tests, where a test of n values counts n times.
	SizeInTests int
	// ReadPaths lists the places that the condition reads.
	ReadPaths []jsonval.Path
	// InClassCount of SampleCount samples are in the class.
	InClassCount, SampleCount int
}

// Doubt says why there is no Condition.
type Doubt struct {
	Reason string
	// CandidateText is a condition that separates the samples but may do so by chance; empty if there is none.
	CandidateText string
}

// String returns the reason.
func (d *Doubt) String() string { return d.Reason }

// hypothesis is a set of tests. All of them hold in the samples of one side. In each sample of the other side at least
// one of them fails.
type hypothesis struct {
	tests            []*fieldTest
	testsHoldInClass bool // all tests hold in the class, not in the others
}

// Find returns the simplest condition that separates the samples, or why there is none.
func (s Search) Find() (*Condition, *Doubt) {
	classIndexes, otherIndexes := s.splitSamples()
	if len(classIndexes) == 0 || len(otherIndexes) == 0 {
		return nil, &Doubt{Reason: "there is nothing to tell apart"}
	}
	fields := readFields(s.Samples)
	tests, reverseTests := testsFor(fields, classIndexes, otherIndexes), testsFor(fields, otherIndexes, classIndexes)
	for conditionSize := 1; conditionSize <= maxConditionSize; conditionSize++ {
		var hypotheses []hypothesis
		for _, testSet := range excludingTestSets(tests, otherIndexes, conditionSize) {
			hypotheses = append(hypotheses, hypothesis{testSet, true})
		}
		for _, testSet := range excludingTestSets(reverseTests, classIndexes, conditionSize) {
			if len(testSet) > 1 { // a single test is the reverse of one in tests
				hypotheses = append(hypotheses, hypothesis{testSet, false})
			}
		}
		if len(hypotheses) > 0 {
			return s.judgeHypotheses(hypotheses, fields, conditionSize, classIndexes, otherIndexes)
		}
	}
	return nil, s.whyNotSeparable()
}

// splitSamples lists the samples of the class, and the others.
func (s Search) splitSamples() (classIndexes, otherIndexes []int) {
	for n, sample := range s.Samples {
		if sample.IsInClass {
			classIndexes = append(classIndexes, n)
		} else {
			otherIndexes = append(otherIndexes, n)
		}
	}
	return classIndexes, otherIndexes
}

// whyNotSeparable says why nothing separates the samples.
func (s Search) whyNotSeparable() *Doubt {
	indexByView := map[string]int{}
	for n, sample := range s.Samples {
		key := jsonval.EncodeToString(sample.View)
		if firstIndex, isKnown := indexByView[key]; isKnown && s.Samples[firstIndex].IsInClass != sample.IsInClass {
			return &Doubt{Reason: fmt.Sprintf("%s and %s had the same data but differ in this",
				s.Samples[firstIndex].Name,
				sample.Name)}
		} else if !isKnown {
			indexByView[key] = n
		}
	}
	return &Doubt{Reason: fmt.Sprintf("no condition of at most %d tests tells them apart", maxConditionSize)}
}

// judgeHypotheses makes a Condition of all equally simple hypotheses, if they are believable.
func (s Search) judgeHypotheses(hypotheses []hypothesis, fields []*sampleField, conditionSize int, classIndexes,
	otherIndexes []int) (*Condition,
	*Doubt) {
	candidateText := s.describeHypothesis(hypotheses[0], classIndexes, otherIndexes)
	newDoubt := func(reason string) *Doubt {
		return &Doubt{CandidateText: candidateText, Reason: fmt.Sprintf("%s in %d of %d, and not in the other %d: %s",
			candidateText, len(classIndexes), len(classIndexes), len(otherIndexes), reason)}
	}
	switch k := min(len(classIndexes), len(otherIndexes)); {
	case k < MinSamplesPerSide:
		return nil, newDoubt(fmt.Sprintf("too few, %d on each side are needed", MinSamplesPerSide))
	case !isBelievable(fields, conditionSize, len(classIndexes), len(s.Samples)):
		return nil, newDoubt("too few, it may be chance")
	case len(hypotheses) > maxHypotheses:
		return nil, newDoubt("many other conditions do the same, so it is unclear which is meant")
	}
	c := s.newCondition(hypotheses, conditionSize, classIndexes, otherIndexes)
	c.setWhenAndUnless(s, fields, hypotheses, classIndexes, otherIndexes)
	return c, nil
}

// newCondition is the Condition that the hypotheses make together, still without When and Unless.
func (s Search) newCondition(hypotheses []hypothesis, conditionSize int, classIndexes, otherIndexes []int) *Condition {
	c := &Condition{Text: s.describeHypothesis(hypotheses[0], classIndexes, otherIndexes), SizeInTests: conditionSize,
		InClassCount: len(classIndexes),
		SampleCount:  len(s.Samples)}
	var roundedSchemas []jsonval.Object
	for n, h := range hypotheses {
		_, otherSchema := h.schemas(classIndexes, otherIndexes, true)
		roundedSchemas = append(roundedSchemas, otherSchema)
		if n > 0 {
			c.Alternatives = append(c.Alternatives, s.describeHypothesis(h, classIndexes, otherIndexes))
		}
		for _, t := range h.tests {
			c.addReadPath(t.field.path)
		}
	}
	c.UnlessRounded = allOf(roundedSchemas)
	return c
}

func (c *Condition) addReadPath(p jsonval.Path) {
	if !slices.ContainsFunc(c.ReadPaths, func(q jsonval.Path) bool { return slices.Equal(p, q) }) {
		c.ReadPaths = append(c.ReadPaths, p)
	}
}

// splitByTests returns the samples in which all tests hold, and the others.
func (h hypothesis) splitByTests(classIndexes, otherIndexes []int) (allHoldIndexes, someFailIndexes []int) {
	if h.testsHoldInClass {
		return classIndexes, otherIndexes
	}
	return otherIndexes, classIndexes
}

// excludedOnlyBy lists the samples that one test alone excludes: the other tests hold in them.
func (h hypothesis) excludedOnlyBy(t *fieldTest, excludedIndexes []int) []int {
	return jsonval.Filter(excludedIndexes, func(n int) bool {
		return t.excludesSample[n] && !slices.ContainsFunc(h.tests,
			func(o *fieldTest) bool { return o != t && o.excludesSample[n] })
	})
}

// constraints returns, for each test, what holds in the class, and what holds in the others.
func (h hypothesis) constraints(classIndexes, otherIndexes []int,
	isRounded bool) (trueConstraints, falseConstraints []fieldConstraint) {
	matchingIndexes, excludedIndexes := h.splitByTests(classIndexes, otherIndexes)
	for _, t := range h.tests {
		excludedByTest := h.excludedOnlyBy(t, excludedIndexes)
		trueConstraints = append(trueConstraints, t.constraint(matchingIndexes, excludedByTest, true, isRounded))
		falseConstraints = append(falseConstraints, t.constraint(excludedByTest, matchingIndexes, false, isRounded))
	}
	if h.testsHoldInClass {
		return trueConstraints, falseConstraints
	}
	return falseConstraints, trueConstraints
}

// schemas returns a JSON Schema that holds in the class, and one that holds in the others.
func (h hypothesis) schemas(classIndexes, otherIndexes []int,
	isRounded bool) (classSchema, otherSchema jsonval.Object) {
	classConstraints, otherConstraints := h.constraints(classIndexes, otherIndexes, isRounded)
	if h.testsHoldInClass {
		return allOf(viewSchemas(classConstraints)), anyOf(viewSchemas(otherConstraints))
	}
	return anyOf(viewSchemas(classConstraints)), allOf(viewSchemas(otherConstraints))
}
