package main

import (
	"context"
	"fmt"
	"time"

	"processidea/bench/internal/script"
	"processidea/model/jsonval"
)

// maxGrowth is how much slower the last steps of a chain may be than the twentieth.
const maxGrowth = 1.3

// chainWork runs a chain of Requests, each one instant Call whose result, a kilobyte, stays in State. The LLM answers at
// once: a step's overhead is the time from the last byte of one reply to the next Request, whatever the LLM's pace.
func chainWork(full int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		n := s.of(full, 6)
		return b.measureChain(ctx, r, n)
	}
}

func (b *bed) measureChain(ctx context.Context, r *record, n int) error {
	plain, err := b.plainChain(ctx, n)
	if err != nil {
		return err
	}
	processor := processorTime()
	gaps, err := b.chain(ctx, "chain", "grow", n)
	if err != nil {
		return err
	}
	r.of("processor time a step", "ms").on("requests", n).add((processorTime() - processor) * 1000 / float64(n))
	r.of("overhead a step", "ms").on("requests", n).add(inMS(gaps)...).beside(inMS(plain)...).atMost(limit(25, n))
	r.of("time", "s").on("requests", n).add(sum(gaps)).beside(sum(plain))
	r.of("last steps against the 20th", "×").on("requests", n).add(slowdown(gaps)).atMost(limit(maxGrowth, n))
	if err := b.countBytes(ctx, r, "requests", n, kept{all: limit(3, n), history: limit(2, n)}); err != nil || n != 200 {
		return err
	}
	if gaps, err = b.chain(ctx, "chain-pure", "growPure", n); err == nil {
		r.of("overhead a step, pure", "ms").on("requests", n).add(inMS(gaps)...)
	}
	return err
}

// smallChainWork is the chain with results of a few bytes: what a Request costs where State, which the LLM is told whole each
// time, does not grow.
func smallChainWork(full int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		n := s.of(full, 6)
		gaps, err := b.chain(ctx, "chain", "instant", n)
		if err != nil {
			return err
		}
		r.of("overhead a step", "ms").on("requests", n).add(inMS(gaps)...)
		r.of("time", "s").on("requests", n).add(sum(gaps))
		return b.countBytes(ctx, r, "requests", n, kept{})
	}
}

// limit is what the design promises of a chain of 200.
func limit(promised float64, n int) float64 { return limitOf(n == 200, promised) }

// limitOf is a limit where the design promises it; of other sizes it says nothing.
func limitOf(promises bool, promised float64) float64 {
	if !promises {
		return 0
	}
	return promised
}

// chain gives the overhead of each step.
func (b *bed) chain(ctx context.Context, id, tool string, n int) ([]time.Duration, error) {
	llm, err := b.say(script.ChainLines(tool, n))
	if err != nil {
		return nil, err
	}
	result, err := b.run(ctx, process{id: id, tools: map[string]any{tool: goTool(tool)}, messages: []any{text("Go on.")}})
	if err != nil {
		return nil, err
	}
	if result.Calls.Done != n || llm.Requests() != n+1 {
		return nil, fmt.Errorf("%d Calls were done in %d Requests, not %d in %d", result.Calls.Done, llm.Requests(), n, n+1)
	}
	return llm.Gaps(), nil
}

func (b *bed) plainChain(ctx context.Context, n int) ([]time.Duration, error) {
	llm, err := b.say(script.ChainLines("grow", n))
	if err != nil {
		return nil, err
	}
	state := map[string]any{}
	for {
		solution, err := b.askPlain(ctx, "Go on.\n"+string(jsonval.Encode(state)))
		if err != nil {
			return nil, err
		}
		if len(solution.Calls) == 0 {
			return llm.Gaps(), nil
		}
		for _, c := range solution.Calls {
			path, _ := c["_outputPath"].(string)
			state[path], _ = grow(ctx, in{N: len(state) + 1})
		}
	}
}

// slowdown compares the median of the last twenty steps with that of twenty around the twentieth. Short chains have none.
func slowdown(gaps []time.Duration) float64 {
	if len(gaps) < 60 {
		return 1
	}
	early, late := spreadOf(inMS(gaps[10:30])), spreadOf(inMS(gaps[len(gaps)-20:]))
	return late.Median / early.Median
}

func sum(all []time.Duration) float64 {
	var s time.Duration
	for _, d := range all {
		s += d
	}
	return seconds(s)
}

func inMS(all []time.Duration) (values []float64) {
	for _, d := range all {
		values = append(values, ms(d))
	}
	return values
}
