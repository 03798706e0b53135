package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/script"
)

// batchWork runs a hundred instances with one instant Call each, which the LLM gives once for all, with the output of
// References: one Request. Plain Go does what it would without: one Request with a Call for each.
func batchWork(ctx context.Context, b *bed, r *record, s size) error {
	n, speed := s.of(100, 5), script.Pace
	if s.quick {
		speed = ""
	}
	one := []string{`{"_instance":"*","_tool":"instant","n":"†state.n","_outputPath":"done"}`}
	var each []string
	for i := range n {
		each = append(each, fmt.Sprintf(`{"_instance":"i%05d","_tool":"instant","n":%d,"_outputPath":"done"}`, i+1, i+1))
	}
	plain, err := b.plainBatch(ctx, script.Reply(each, "null", speed))
	if err != nil {
		return err
	}
	took, requests, err := b.batch(ctx, n, []string{script.Reply(one, `{"all":"†state.done"}`, speed)})
	if err != nil {
		return err
	}
	r.of("time", "s").on("instances", n).add(seconds(took)).beside(seconds(plain)).atMost(2.5)
	r.of("requests", "").on("instances", n).add(float64(requests)).atMost(1)
	r.of("characters of Calls", "").on("instances", n).add(float64(length(one))).beside(float64(length(each)))
	return nil
}

func length(calls []string) (n int) {
	for _, c := range calls {
		n += len([]rune(c)) + 1
	}
	return n
}

func (b *bed) batch(ctx context.Context, n int, lines []string) (time.Duration, int, error) {
	llm, err := b.say(lines)
	if err != nil {
		return 0, 0, err
	}
	p := process{id: "batch", tools: map[string]any{"instant": goTool("instant")}, messages: []any{text("Go.")},
		output: map[string]any{"type": "object"}}
	if err := b.addInstances(ctx, &p, n); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	result, err := b.run(ctx, p)
	if err == nil && result.Calls.Done != n {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, n)
	}
	return time.Since(begin), llm.Requests(), err
}

func (b *bed) plainBatch(ctx context.Context, line string) (time.Duration, error) {
	if _, err := b.say([]string{line}); err != nil {
		return 0, err
	}
	begin := time.Now()
	solution, err := b.askPlain(ctx, "Go.")
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	for i := range solution.Calls {
		all.Go(func() { _, _ = instant(ctx, in{N: i}) })
	}
	all.Wait()
	return time.Since(begin), nil
}
