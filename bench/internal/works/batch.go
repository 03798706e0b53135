package works

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
)

// batchWork runs a hundred instances with one instant Call each. The LLM gives one Call for all and wires the output by
// References, so that one Request does. Plain Go does what is done without that: one Request with a Call for each.
func batchWork(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
	n, speed := s.of(100, 5), script.Pace
	if s.Quick {
		speed = ""
	}
	one := []string{`{"_instance":"*","_tool":"instant","n":"†state.n","_outputPath":"done"}`}
	var each []string
	for i := range n {
		each = append(each, fmt.Sprintf(`{"_instance":"i%05d","_tool":"instant","n":%d,"_outputPath":"done"}`, i+1,
			i+1))
	}
	plain, err := plainBatch(ctx, b, script.Reply(each, "null", speed))
	if err != nil {
		return err
	}
	took, requests, err := runBatch(ctx, b, n, []string{script.Reply(one, `{"all":"†state.done"}`, speed)})
	if err != nil {
		return err
	}
	r.Figure("time", "s").On("instances", n).Add(seconds(took)).AddPlain(seconds(plain)).AtMost(2.5)
	r.Figure("requests", "").On("instances", n).Add(float64(requests)).AtMost(1)
	r.Figure("characters of Calls", "").On("instances", n).Add(float64(length(one))).AddPlain(float64(length(each)))
	return nil
}

// length counts the characters of Calls and of what separates them.
func length(calls []string) (n int) {
	for _, c := range calls {
		n += len([]rune(c)) + 1
	}
	return n
}

func runBatch(ctx context.Context, b *bed.Bed, n int, lines []string) (time.Duration, int, error) {
	llm, err := b.Script(lines)
	if err != nil {
		return 0, 0, err
	}
	p := bed.Process{ID: "batch", Tools: map[string]any{"instant": bed.GoTool("instant")},
		Messages: []any{bed.TextMessage("Go.")},
		Output:   map[string]any{"type": "object"}}
	if err := addInstances(ctx, b, &p, n); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	result, err := b.Run(ctx, p)
	if err == nil && result.Calls.Done != n {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, n)
	}
	return time.Since(begin), llm.Requests(), err
}

func plainBatch(ctx context.Context, b *bed.Bed, line string) (time.Duration, error) {
	if _, err := b.Script([]string{line}); err != nil {
		return 0, err
	}
	begin := time.Now()
	solution, err := askPlain(ctx, b, "Go.")
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	for i := range solution.Calls {
		all.Go(func() { _, _ = bed.Instant(ctx, bed.ToolInput{N: i}) })
	}
	all.Wait()
	return time.Since(begin), nil
}
