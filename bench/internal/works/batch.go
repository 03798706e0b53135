package works

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/script"
)

// batchWork runs a hundred instances with one instant Call each. The LLM writes one Call for all instances and wires
// the output by References, so that one Request is enough. Plain Go does it the usual way: one Request with a Call for
// each instance.
func batchWork(ctx context.Context, r Round) error {
	n := r.pickSize(100, 5)
	r = r.withAxis("instances", n)
	var calls []string
	for i := range n {
		calls = append(calls, fmt.Sprintf(`{"_instance":"i%05d","_tool":"instant","n":%d,"_outputPath":"done"}`, i+1,
			i+1))
	}
	plainDuration, err := r.runBatchWithoutEngine(ctx, script.ReplyLine(calls, "null", r.pace()))
	if err != nil {
		return err
	}
	took, requestCount, err := r.runBatch(ctx, n, r.pace())
	if err != nil {
		return err
	}
	r.FindOrAddFigure("time", "s").Add(took.Seconds()).AddPlainGo(plainDuration.Seconds())
	r.FindOrAddFigure("requests", "").Add(float64(requestCount)).WithLimit(1)
	r.FindOrAddFigure("characters of Calls",
		"").Add(float64(callsLength(oneCallForAll))).AddPlainGo(float64(callsLength(calls)))
	return nil
}

// oneCallForAll is one Call for all instances.
var oneCallForAll = []string{`{"_instance":"*","_tool":"instant","n":"†state.n","_outputPath":"done"}`}

// callsLength counts the characters of Calls and of the separators between them.
func callsLength(calls []string) (n int) {
	for _, c := range calls {
		n += len([]rune(c)) + 1
	}
	return n
}

func (r Round) runBatch(ctx context.Context, instanceCount int, pace string) (time.Duration, int, error) {
	llm, err := r.UseScript([]string{script.ReplyLine(oneCallForAll, `{"all":"†state.done"}`, pace)})
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	result, err := r.Run(ctx, bed.ProcessSpec{ID: "batch", ToolJSON: bed.GoToolJSON("instant"),
		MessagesJSON:     bed.TextMessage("Go."),
		OutputSchemaJSON: `{"type": "object"}`, StateMessages: bed.NewStateMessages(instanceCount, 1)})
	if err == nil && result.Calls.Done != instanceCount {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, instanceCount)
	}
	return time.Since(begin), len(llm.Requests()), err
}

func (r Round) runBatchWithoutEngine(ctx context.Context, replyLine string) (time.Duration, error) {
	if _, err := r.UseScript([]string{replyLine}); err != nil {
		return 0, err
	}
	begin := time.Now()
	calls, err := askLLMWithoutEngine(ctx, r.TestBed, "Go.")
	if err != nil {
		return 0, err
	}
	var group sync.WaitGroup
	for _, c := range calls {
		group.Go(func() { _, _ = bed.Instant(ctx, c.ToolInput) })
	}
	group.Wait()
	return time.Since(begin), nil
}
