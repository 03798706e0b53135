// Package rechecks measures how well a process can judge its own answers. A simulated LLM errs by a known function of
// the number of instances in a prompt and of an instance's position, so that the results of rechecks can be compared
// with the truth. It simulates only model/quality, since a server would add nothing but time.
package rechecks

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/model/turn"
)

// ErrorProfile says how an LLM errs. ErrorProbability is the probability at a place (from 1) in a prompt with this
// number of instances.
type ErrorProfile struct {
	Name             string
	ErrorProbability func(place, instances int) float64
}

// ErrorProfiles are the shapes that Main tries.
var ErrorProfiles = []ErrorProfile{
	{"flat", func(int, int) float64 { return 0.01 }},
	{"cliff at 60", func(_, instances int) float64 {
		if instances > 60 {
			return 0.2
		}
		return 0.01
	}},
	{"grows with the place", func(place, _ int) float64 { return 0.002 + 0.003*float64(place) }},
}

const (
	// SeedCount is how many processes of each shape are tried.
	SeedCount         = 500
	instanceCount     = 20_000
	recheckShare      = 0.05
	disagreementLimit = 0.05
	// tokens of a prompt's rules and Tools, and of each instance in prompt and reply; similar to the examples
	fixedPromptTokens, tokensPerInstance = 3000, 100
)

// ProfileOutcome sums up the processes of one shape.
type ProfileOutcome struct {
	// the true disagreement at the first size, and the share of intervals that contain it
	TrueDisagreement, IntervalCoverageShare float64
	RecheckTokenRatio                       float64 // of rechecks, as a share of those of first answers
	MeanFinalRequestSize                    float64 // found at the end, on average
	// the share of processes that end at a size that keeps the limit, with a tolerance of a tenth
	WithinLimitShare float64
}

// simulateProcess plays one process. Each part is a Request and a recheck of some of its instances.
func (s ErrorProfile) simulateProcess(seed string, random *rand.Rand,
	adaptsSize bool) (tallies map[int]*quality.Tally, requestSize int, firstAnswerTokens, recheckTokens int) {
	tallies, requestSize = map[int]*quality.Tally{}, quality.RequestSizeForSharedCalls
	for part, remaining := 1, instanceCount; remaining > 0; part++ {
		n := min(requestSize, remaining)
		remaining -= n
		if tallies[requestSize] == nil {
			tallies[requestSize] = &quality.Tally{}
		}
		tally, partSeed := tallies[requestSize], fmt.Sprintf("%s/%d", seed, part)
		sampledIndexes := (&quality.Tally{}).DrawRecheckSample(partSeed, 1, n, recheckShare, true)
		shuffledIndexes := quality.ShuffledOrder(partSeed, 1, quality.ShufflePurposeRequest, n)
		positions := jsonval.Map(sampledIndexes, func(sampleIndex int) int {
			return slices.Index(shuffledIndexes,
				sampleIndex) + 1
		})
		for index, sampleIndex := range quality.RecheckOrder(partSeed, 1, positions) {
			hasErred := random.Float64() < s.ErrorProbability(positions[sampleIndex], n)
			tally.AddComparison(turn.AnswerComparison{InstancePositionInPrompt: positions[sampleIndex],
				HasDiffered: hasErred != (random.Float64() < s.ErrorProbability(index+1, len(sampledIndexes)))})
		}
		firstAnswerTokens += requestTokenCount(n)
		recheckTokens += requestTokenCount(len(sampledIndexes))
		if adaptsSize {
			requestSize, _ = quality.NextRequestSize(requestSize, quality.RequestSizeForSharedCalls, tally.RecheckCount,
				disagreementLimit)
		}
	}
	return tallies, requestSize, firstAnswerTokens, recheckTokens
}

// requestTokenCount returns the tokens of a Request's prompt and reply.
func requestTokenCount(instances int) int {
	if instances == 0 {
		return 0
	}
	return fixedPromptTokens + instances*tokensPerInstance
}

// trueDisagreement is the expected disagreement in Requests of this size.
func (s ErrorProfile) trueDisagreement(requestSize int) (share float64) {
	for place := range requestSize {
		for secondPlace := range requestSize {
			a, b := s.ErrorProbability(place+1, requestSize), s.ErrorProbability(secondPlace+1, requestSize)
			share += (a*(1-b) + b*(1-a)) / float64(requestSize*requestSize)
		}
	}
	return share
}

// Simulate simulates a shape with all seeds.
func (s ErrorProfile) Simulate() (o ProfileOutcome) {
	o.TrueDisagreement = s.trueDisagreement(quality.RequestSizeForSharedCalls)
	var firstAnswerTokens, recheckTokens int
	for seed := range SeedCount {
		seedText := fmt.Sprint(seed)
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		tallies, _, seedFirstAnswerTokens, seedRecheckTokens := s.simulateProcess(seedText, random, false)
		firstAnswerTokens, recheckTokens = firstAnswerTokens+seedFirstAnswerTokens, recheckTokens+seedRecheckTokens
		if low, high := tallies[quality.RequestSizeForSharedCalls].ConfidenceInterval(); low <= o.TrueDisagreement &&
			o.TrueDisagreement <= high {
			o.IntervalCoverageShare += 1. / SeedCount
		}
		_, finalRequestSize, _, _ := s.simulateProcess(seedText, random, true)
		o.MeanFinalRequestSize += float64(finalRequestSize) / SeedCount
		if s.trueDisagreement(finalRequestSize) <= 1.1*disagreementLimit {
			o.WithinLimitShare += 1. / SeedCount
		}
	}
	o.RecheckTokenRatio = float64(recheckTokens) / float64(firstAnswerTokens)
	return o
}

// Main tries all shapes and prints their outcomes.
func Main(out io.Writer) error {
	fmt.Fprintf(out, "%d seeds, %d instances, %g %% asked twice, limit %g %%, at first %d a Request\n\n", SeedCount,
		instanceCount, 100*recheckShare, 100*disagreementLimit, quality.RequestSizeForSharedCalls)
	fmt.Fprintln(out, "| the LLM errs | true disagreement | intervals hold it | tokens of rechecks | "+
		"size found | limit kept |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- |")
	for _, s := range ErrorProfiles {
		o := s.Simulate()
		_, err := fmt.Fprintf(out, "| %s | %.1f %% | %.1f %% | %.2f %% | %.0f | %.1f %% |\n", s.Name,
			100*o.TrueDisagreement, 100*o.IntervalCoverageShare, 100*o.RecheckTokenRatio, o.MeanFinalRequestSize,
			100*o.WithinLimitShare)
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "\nIn a process of one Request rechecks take %.1f %%: rules and Tools again.\n",
		100*float64(requestTokenCount(int(recheckShare*quality.RequestSizeForSharedCalls)))/
			float64(requestTokenCount(quality.RequestSizeForSharedCalls)))
	return err
}
