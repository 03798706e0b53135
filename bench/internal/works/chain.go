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

// requestChainWork runs a chain of Requests with one instant Call each, whose result, a kilobyte, stays in State. The
// LLM answers at once. The overhead of a step is the time from the last byte of one reply to the next Request.
func requestChainWork(fullRequestCount int) func(context.Context, Round) error {
	return func(ctx context.Context, r Round) error {
		return r.measureRequestChain(ctx, r.pickSize(fullRequestCount, 6))
	}
}

func (r Round) measureRequestChain(ctx context.Context, requestCount int) error {
	r = r.withAxis("requests", requestCount)
	plainGaps, err := r.runChainWithoutEngine(ctx, requestCount)
	if err != nil {
		return err
	}
	processorSecondsBefore := usage.ProcessorSeconds()
	gaps, err := r.runRequestChain(ctx, "chain", "grow", requestCount)
	if err != nil {
		return err
	}
	r.FindOrAddFigure("processor time a step",
		"ms").Add((usage.ProcessorSeconds() - processorSecondsBefore) * 1000 / float64(requestCount))
	r.FindOrAddFigure("overhead a step",
		"ms").Add(toMilliseconds(gaps)...).AddPlainGo(toMilliseconds(plainGaps)...)
	r.FindOrAddFigure("time", "s").Add(sumSeconds(gaps)).AddPlainGo(sumSeconds(plainGaps))
	r.FindOrAddFigure("last steps against the 20th",
		"×").Add(chainSlowdown(gaps)).WithLimit(limitForChainOf200(maxChainSlowdown, requestCount))
	limits := storageLimits{totalMB: limitForChainOf200(3, requestCount),
		historyMB: limitForChainOf200(2, requestCount)}
	if err := r.recordStorage(ctx, limits); err != nil || requestCount != 200 {
		return err
	}
	gaps, err = r.runRequestChain(ctx, "chain-pure", "growPure", requestCount)
	if err == nil {
		r.FindOrAddFigure("overhead a step, pure", "ms").Add(toMilliseconds(gaps)...)
	}
	return err
}

// limitForChainOf200 returns a limit that applies only to a chain of 200.
func limitForChainOf200(limit float64, requestCount int) float64 {
	return limitIf(requestCount == 200, limit)
}

// limitIf returns the limit if promised is set, otherwise 0.
func limitIf(isLimited bool, limit float64) float64 {
	if !isLimited {
		return 0
	}
	return limit
}

// runRequestChain returns the overhead of each step.
func (r Round) runRequestChain(ctx context.Context, processID, tool string, callCount int) ([]time.Duration, error) {
	llm, err := r.UseScript(script.ChainReplyLines(tool, callCount))
	if err != nil {
		return nil, err
	}
	p := bed.ProcessSpec{ID: processID, ToolJSON: bed.GoToolJSON(tool), MessagesJSON: bed.TextMessage("Go on.")}
	if callCount >= ideafile.DefaultRequestLimit { // the Request after the last Call exceeds the limit
		p.LimitsJSON = `{"requests": null, "tokens": null}`
	}
	result, err := r.Run(ctx, p)
	if err != nil {
		return nil, err
	}
	if requestCount := len(llm.Requests()); result.Calls.Done != callCount || requestCount != callCount+1 {
		return nil, fmt.Errorf("%d Calls were done in %d Requests, not %d in %d", result.Calls.Done, requestCount,
			callCount, callCount+1)
	}
	return llm.RequestGaps(), nil
}

func (r Round) runChainWithoutEngine(ctx context.Context, callCount int) ([]time.Duration, error) {
	llm, err := r.UseScript(script.ChainReplyLines("grow", callCount))
	if err != nil {
		return nil, err
	}
	state := jsonval.Object{}
	for {
		calls, err := askLLMWithoutEngine(ctx, r.TestBed, "Go on.\n"+jsonval.EncodeToString(state))
		if err != nil {
			return nil, err
		}
		if len(calls) == 0 {
			return llm.RequestGaps(), nil
		}
		for _, c := range calls {
			state[c.OutputPath], _ = bed.ReturnKilobyte(ctx, c.ToolInput)
		}
	}
}

// chainSlowdown returns how many times slower the last twenty steps are than the twenty around the twentieth step, by
// their medians. For a chain that is too short it returns 1.
func chainSlowdown(gaps []time.Duration) float64 {
	if len(gaps) < 60 {
		return 1
	}
	early, late := report.SpreadOf(toMilliseconds(gaps[10:30])), report.SpreadOf(toMilliseconds(gaps[len(gaps)-20:]))
	return late.Median / early.Median
}
