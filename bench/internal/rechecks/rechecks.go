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

// Shape says how an LLM errs. Errs is the probability at a place (from 1) in a prompt with this number of instances.
type Shape struct {
	Name string
	Errs func(place, instances int) float64
}

// Shapes are the shapes that Main tries.
var Shapes = []Shape{
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
	promptTokens, tokensPerInstance = 3000, 100
)

// Outcome sums up the processes of one shape.
type Outcome struct {
	Truth, Held float64 // the true disagreement at the first size, and the share of intervals that contain it
	Tokens      float64 // of rechecks, as a share of those of first answers
	Size        float64 // found at the end, on average
	KeepsLimit  float64 // the share of processes that end at a size that keeps the limit, with a tolerance of a tenth
}

// simulateProcess plays one process. Each part is a Request and a recheck of some of its instances.
func (s Shape) simulateProcess(seed string, random *rand.Rand, follows bool) (tallies map[int]*quality.Tally, size int,
	first, again int) {
	tallies, size = map[int]*quality.Tally{}, quality.SizeShared
	for part, left := 1, instanceCount; left > 0; part++ {
		n := min(size, left)
		left -= n
		if tallies[size] == nil {
			tallies[size] = &quality.Tally{}
		}
		tally, own := tallies[size], fmt.Sprintf("%s/%d", seed, part)
		drawn := (&quality.Tally{}).Draw(own, 1, n, recheckShare, true)
		places := quality.Order(own, 1, quality.AskedFirst, n)
		positions := jsonval.Map(drawn, func(of int) int { return slices.Index(places, of) + 1 })
		for again, of := range quality.OrderAgain(own, 1, positions) {
			erred := random.Float64() < s.Errs(positions[of], n)
			tally.Add(turn.Comparison{Position: positions[of],
				Differed: erred != (random.Float64() < s.Errs(again+1, len(drawn)))})
		}
		first, again = first+requestTokens(n), again+requestTokens(len(drawn))
		if follows {
			size, _ = quality.NextSize(size, quality.SizeShared, tally.Count, disagreementLimit)
		}
	}
	return tallies, size, first, again
}

// requestTokens returns the tokens of a Request's prompt and reply.
func requestTokens(instances int) int {
	if instances == 0 {
		return 0
	}
	return promptTokens + instances*tokensPerInstance
}

// trueDisagreement is the expected disagreement in Requests of this size.
func (s Shape) trueDisagreement(size int) (truth float64) {
	for place := range size {
		for second := range size {
			a, b := s.Errs(place+1, size), s.Errs(second+1, size)
			truth += (a*(1-b) + b*(1-a)) / float64(size*size)
		}
	}
	return truth
}

// Try simulates a shape with all seeds.
func (s Shape) Try() (o Outcome) {
	o.Truth = s.trueDisagreement(quality.SizeShared)
	var first, again int
	for seed := range SeedCount {
		name := fmt.Sprint(seed)
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		tallies, _, f, a := s.simulateProcess(name, random, false)
		first, again = first+f, again+a
		if low, high := tallies[quality.SizeShared].Interval(); low <= o.Truth && o.Truth <= high {
			o.Held += 1. / SeedCount
		}
		_, size, _, _ := s.simulateProcess(name, random, true)
		o.Size += float64(size) / SeedCount
		if s.trueDisagreement(size) <= 1.1*disagreementLimit {
			o.KeepsLimit += 1. / SeedCount
		}
	}
	o.Tokens = float64(again) / float64(first)
	return o
}

// Main tries all shapes and prints their outcomes.
func Main(out io.Writer) error {
	fmt.Fprintf(out, "%d seeds, %d instances, %g %% asked twice, limit %g %%, at first %d a Request\n\n", SeedCount,
		instanceCount, 100*recheckShare, 100*disagreementLimit, quality.SizeShared)
	fmt.Fprintln(out, "| the LLM errs | true disagreement | intervals hold it | tokens of rechecks | "+
		"size found | limit kept |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- |")
	for _, s := range Shapes {
		o := s.Try()
		_, err := fmt.Fprintf(out, "| %s | %.1f %% | %.1f %% | %.2f %% | %.0f | %.1f %% |\n", s.Name,
			100*o.Truth, 100*o.Held, 100*o.Tokens, o.Size, 100*o.KeepsLimit)
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "\nIn a process of one Request rechecks take %.1f %%: rules and Tools again.\n",
		100*float64(requestTokens(int(recheckShare*quality.SizeShared)))/float64(requestTokens(quality.SizeShared)))
	return err
}
