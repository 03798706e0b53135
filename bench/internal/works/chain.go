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

// maxChainSlowdown bounds how many times slower the last steps of a chain may be than those around the twentieth.
const maxChainSlowdown = 1.3

// requestChainWork runs a chain of Requests with one instant Call each, whose result, a kilobyte, stays in State. The LLM
// answers at once. The overhead of a step is the time from the last byte of one reply to the next Request.
func requestChainWork(fullRequestCount int) func(context.Context, Round) error {
	return func(ctx context.Context, r Round) error { return r.measureRequestChain(ctx, r.size(fullRequestCount, 6)) }
}

func (r Round) measureRequestChain(ctx context.Context, n int) error {
	r = r.withAxis("requests", n)
	plainGaps, err := r.runPlainChain(ctx, n)
	if err != nil {
		return err
	}
	secondsBefore := usage.ProcessorSeconds()
	gaps, err := r.runRequestChain(ctx, "chain", "grow", n)
	if err != nil {
		return err
	}
	r.Figure("processor time a step", "ms").Add((usage.ProcessorSeconds() - secondsBefore) * 1000 / float64(n))
	r.Figure("overhead a step", "ms").Add(toMilliseconds(gaps)...).AddPlain(toMilliseconds(plainGaps)...).WithLimit(chainLimit(25, n))
	r.Figure("time", "s").Add(sumSeconds(gaps)).AddPlain(sumSeconds(plainGaps))
	r.Figure("last steps against the 20th", "×").Add(slowdown(gaps)).WithLimit(chainLimit(maxChainSlowdown, n))
	maxStored := storageLimits{totalMB: chainLimit(3, n), historyMB: chainLimit(2, n)}
	if err := r.recordStorage(ctx, maxStored); err != nil || n != 200 {
		return err
	}
	gaps, err = r.runRequestChain(ctx, "chain-pure", "growPure", n)
	if err == nil {
		r.Figure("overhead a step, pure", "ms").Add(toMilliseconds(gaps)...)
	}
	return err
}

// chainLimit returns a limit that applies only to a chain of 200.
func chainLimit(limit float64, n int) float64 { return limitIf(n == 200, limit) }

// limitIf returns the limit if promised is set, otherwise 0.
func limitIf(applies bool, limit float64) float64 {
	if !applies {
		return 0
	}
	return limit
}

// runRequestChain returns the overhead of each step.
func (r Round) runRequestChain(ctx context.Context, id, tool string, n int) ([]time.Duration, error) {
	llm, err := r.UseScript(script.ChainLines(tool, n))
	if err != nil {
		return nil, err
	}
	p := bed.ProcessSpec{ID: id, Tool: bed.GoToolJSON(tool), MessagesJSON: bed.TextMessage("Go on.")}
	if n >= ideafile.DefaultRequestLimit { // the Request after the last Call exceeds the limit
		p.LimitsJSON = `{"requests": null, "tokens": null}`
	}
	result, err := r.Run(ctx, p)
	if err != nil {
		return nil, err
	}
	if requests := len(llm.Requests()); result.Calls.Done != n || requests != n+1 {
		return nil, fmt.Errorf("%d Calls were done in %d Requests, not %d in %d", result.Calls.Done, requests, n, n+1)
	}
	return llm.RequestGaps(), nil
}

func (r Round) runPlainChain(ctx context.Context, n int) ([]time.Duration, error) {
	llm, err := r.UseScript(script.ChainLines("grow", n))
	if err != nil {
		return nil, err
	}
	state := jsonval.Object{}
	for {
		calls, err := askPlain(ctx, r.TestBed, "Go on.\n"+jsonval.EncodeToString(state))
		if err != nil {
			return nil, err
		}
		if len(calls) == 0 {
			return llm.RequestGaps(), nil
		}
		for _, c := range calls {
			state[c.Path], _ = bed.Grow(ctx, c.ToolInput)
		}
	}
}

// slowdown returns how many times slower the last twenty steps are than the twenty around the twentieth step, by their
// medians. For a chain that is too short it returns 1.
func slowdown(gaps []time.Duration) float64 {
	if len(gaps) < 60 {
		return 1
	}
	early, late := report.SpreadOf(toMilliseconds(gaps[10:30])), report.SpreadOf(toMilliseconds(gaps[len(gaps)-20:]))
	return late.Median / early.Median
}
