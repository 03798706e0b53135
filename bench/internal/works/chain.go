package works

import (
	"context"
	"fmt"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/bench/internal/usage"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// maxGrowth is how many times slower the last steps of a chain may be than the twentieth.
const maxGrowth = 1.3

// chainWork runs a chain of Requests with one instant Call each, whose result, a kilobyte, stays in State. The LLM
// answers at once. The overhead of a step is the time from the last byte of one reply to the next Request.
func chainWork(full int) func(context.Context, *bed.Bed, *report.Record, Size) error {
	return func(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
		return measureChain(ctx, b, r, s.of(full, 6))
	}
}

func measureChain(ctx context.Context, b *bed.Bed, r *report.Record, n int) error {
	plain, err := plainChain(ctx, b, n)
	if err != nil {
		return err
	}
	processor := usage.ProcessorTime()
	gaps, err := runChain(ctx, b, "chain", "grow", n)
	if err != nil {
		return err
	}
	r.Figure("processor time a step", "ms").On("requests",
		n).Add((usage.ProcessorTime() - processor) * 1000 / float64(n))
	r.Figure("overhead a step", "ms").On("requests", n).Add(inMS(gaps)...).AddPlain(inMS(plain)...).AtMost(limit(25, n))
	r.Figure("time", "s").On("requests", n).Add(sumSeconds(gaps)).AddPlain(sumSeconds(plain))
	r.Figure("last steps against the 20th", "×").On("requests", n).Add(slowdown(gaps)).AtMost(limit(maxGrowth, n))
	if err := countBytes(ctx, b, r, "requests", n, limits{all: limit(3, n), history: limit(2, n)}); err != nil ||
		n != 200 {
		return err
	}
	gaps, err = runChain(ctx, b, "chain-pure", "growPure", n)
	if err == nil {
		r.Figure("overhead a step, pure", "ms").On("requests", n).Add(inMS(gaps)...)
	}
	return err
}

// limit gives a limit that holds for a chain of 200 alone.
func limit(promised float64, n int) float64 { return limitIf(n == 200, promised) }

// limitIf gives a limit if there is one, and else 0.
func limitIf(promised bool, limit float64) float64 {
	if !promised {
		return 0
	}
	return limit
}

// runChain gives the overhead of each step.
func runChain(ctx context.Context, b *bed.Bed, id, tool string, n int) ([]time.Duration, error) {
	llm, err := b.Script(script.ChainLines(tool, n))
	if err != nil {
		return nil, err
	}
	p := bed.Process{ID: id, Tools: map[string]any{tool: bed.GoTool(tool)}, Messages: []any{bed.TextMessage("Go on.")}}
	if n >= ideafile.DefaultRequestLimit { // with the Request after the last Call it makes more
		p.Limits = map[string]any{"requests": nil, "tokens": nil}
	}
	result, err := b.Run(ctx, p)
	if err != nil {
		return nil, err
	}
	if result.Calls.Done != n || llm.Requests() != n+1 {
		return nil, fmt.Errorf("%d Calls were done in %d Requests, not %d in %d", result.Calls.Done,
			llm.Requests(), n, n+1)
	}
	return llm.Gaps(), nil
}

func plainChain(ctx context.Context, b *bed.Bed, n int) ([]time.Duration, error) {
	llm, err := b.Script(script.ChainLines("grow", n))
	if err != nil {
		return nil, err
	}
	state := map[string]any{}
	for {
		solution, err := askPlain(ctx, b, "Go on.\n"+string(jsonval.Encode(state)))
		if err != nil {
			return nil, err
		}
		if len(solution.Calls) == 0 {
			return llm.Gaps(), nil
		}
		for _, c := range solution.Calls {
			path, _ := c["_outputPath"].(string)
			state[path], _ = bed.Grow(ctx, bed.ToolInput{N: len(state) + 1})
		}
	}
}

// slowdown gives how many times slower the last twenty steps are than the twenty around the twentieth, by their
// medians. For a short chain it is 1.
func slowdown(gaps []time.Duration) float64 {
	if len(gaps) < 60 {
		return 1
	}
	early, late := report.SpreadOf(inMS(gaps[10:30])), report.SpreadOf(inMS(gaps[len(gaps)-20:]))
	return late.Median / early.Median
}
