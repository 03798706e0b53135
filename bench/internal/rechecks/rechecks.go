// Package rechecks measures how well a process can judge its own answers. A simulated LLM errs by a known function of
// the number of instances in a prompt and of an instance's position, so that the results of rechecks can be compared
// with the truth. It simulates only model/quality: a server would add nothing but time.
package rechecks

import (
	"fmt"
	"io"
	"math/rand/v2"

	"processidea/model/quality"
)

// Shape is how an LLM errs: how likely, at a place (from 1) in a prompt of so many instances.
type Shape struct {
	Name string
	Errs func(place, instances int) float64
}

// Shapes are those that are tried.
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
	// Seeds is how many processes of each shape are tried.
	Seeds     = 1000
	instances = 10_000
	share     = 0.05
	limit     = 0.05
	// tokens of a prompt's rules and Tools, and of each instance in prompt and reply
	promptTokens, tokensPerInstance = 600, 100
)

// Outcome is what the processes of one shape came to.
type Outcome struct {
	Truth, Held float64 // the true disagreement at the first size, and the part of intervals that hold it
	Tokens      float64 // of rechecks, relative to first answers, without promptTokens
	WithFront   float64 // the same with it
	Size        float64 // found at the end, on the average
	KeepsLimit  float64 // the part of processes that end at a size at which the limit is kept
}

// process plays one: each part is a Request, and a recheck of some of it.
func (s Shape) process(seed string, random *rand.Rand, follows bool) (tallies map[int]*quality.Tally, size int,
	first, again, requests, rechecks int) {
	tallies, size = map[int]*quality.Tally{}, quality.SizeShared
	for part, left := 1, instances; left > 0; part++ {
		n := min(size, left)
		left -= n
		if tallies[size] == nil {
			tallies[size] = &quality.Tally{}
		}
		tally, own := tallies[size], fmt.Sprintf("%s/%d", seed, part)
		drawn := (&quality.Tally{}).Draw(own, 1, n, share)
		places := quality.Order(own, 1, quality.AskedFirst, n)
		for again, of := range quality.Order(own, 1, quality.AskedAgain, len(drawn)) {
			place := 0
			for place < n && places[place] != drawn[of] {
				place++
			}
			erred := random.Float64() < s.Errs(place+1, n)
			tally.Add(place+1, erred != (random.Float64() < s.Errs(again+1, len(drawn))))
		}
		first, again, requests = first+n, again+len(drawn), requests+1
		if len(drawn) > 0 {
			rechecks++
		}
		if follows {
			size, _ = quality.NextSize(size, quality.SizeShared, tally.Count, limit)
		}
	}
	return tallies, size, first, again, requests, rechecks
}

// disagreement is the true one of a process with Requests of a size.
func (s Shape) disagreement(size int) (truth float64) {
	again := max(1, int(share*float64(size)))
	for place := range size {
		for second := range again {
			a, b := s.Errs(place+1, size), s.Errs(second+1, again)
			truth += (a*(1-b) + b*(1-a)) / float64(size*again)
		}
	}
	return truth
}

// Try plays a shape with all seeds.
func (s Shape) Try() (o Outcome) {
	o.Truth = s.disagreement(quality.SizeShared)
	var first, again, requests, rechecks int
	for seed := range Seeds {
		name := fmt.Sprint(seed)
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		tallies, _, f, a, r, c := s.process(name, random, false)
		first, again, requests, rechecks = first+f, again+a, requests+r, rechecks+c
		if low, high := tallies[quality.SizeShared].Interval(); low <= o.Truth && o.Truth <= high {
			o.Held += 1. / Seeds
		}
		_, size, _, _, _, _ := s.process(name, random, true)
		o.Size += float64(size) / Seeds
		if s.disagreement(size) <= limit {
			o.KeepsLimit += 1. / Seeds
		}
	}
	o.Tokens = float64(again) / float64(first)
	o.WithFront = float64(again*tokensPerInstance+rechecks*promptTokens) /
		float64(first*tokensPerInstance+requests*promptTokens)
	return o
}

// Main tries all shapes and prints what they came to.
func Main(out io.Writer) error {
	fmt.Fprintf(out, "%d seeds, %d instances, %g %% asked twice, limit %g %%, at first %d a Request\n\n", Seeds,
		instances, 100*share, 100*limit, quality.SizeShared)
	fmt.Fprintln(out, "| the LLM errs | true disagreement | intervals hold it | tokens of rechecks | "+
		"with rules and Tools again | size found | limit kept |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- | --- |")
	for _, s := range Shapes {
		o := s.Try()
		_, err := fmt.Fprintf(out, "| %s | %.1f %% | %.1f %% | %.2f %% | %.1f %% | %.0f | %.1f %% |\n", s.Name,
			100*o.Truth, 100*o.Held, 100*o.Tokens, 100*o.WithFront, o.Size, 100*o.KeepsLimit)
		if err != nil {
			return err
		}
	}
	return nil
}
