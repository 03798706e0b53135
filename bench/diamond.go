package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/script"
	"processidea/model/jsonval"
)

// diamondWork runs the diamond. With the output in the same Request it is wired by References; else a second Request gives it.
func diamondWork(oneRequest bool) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		speed, factor := script.Pace, 1.02
		if s.quick {
			speed = ""
		}
		lines := script.DiamondLines(oneRequest, speed)
		if oneRequest {
			factor = 1.03
		}
		plain, err := b.plainDiamond(ctx, lines)
		if err != nil {
			return err
		}
		took, err := b.diamond(ctx, lines)
		if err == nil {
			r.of("time", "s").on("calls", len(script.Diamond)).add(seconds(took)).beside(seconds(plain)).times(factor)
		}
		return err
	}
}

func (b *bed) diamond(ctx context.Context, lines []string) (time.Duration, error) {
	if _, err := b.say(lines); err != nil {
		return 0, err
	}
	tool := goTool("wait")
	tool["properties"].(map[string]any)["after"] = map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}
	begin := time.Now()
	result, err := b.run(ctx, process{id: "diamond", tools: map[string]any{"wait": tool}, messages: []any{text("Go.")}, output: map[string]any{
		"type": "object", "properties": map[string]any{"text": map[string]any{"type": []any{"string", "integer"}}}, "required": []any{"text"},
	}})
	took := time.Since(begin)
	if err == nil && (result.Calls.Done != len(script.Diamond) || result.Output == nil || result.Requests != len(lines)) {
		err = fmt.Errorf("it came to %s", jsonval.Encode(jsonval.Normal(result)))
	}
	return took, err
}

// plainDiamond starts each Call as it closes in the stream, once what it reads is there, and asks for the output where the
// reply did not wire it.
func (b *bed) plainDiamond(ctx context.Context, lines []string) (time.Duration, error) {
	if _, err := b.say(lines); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := b.plainCalls(ctx); err != nil {
		return 0, err
	}
	if len(lines) > 1 {
		if _, err := b.askPlain(ctx, "The output?"); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

func (b *bed) plainCalls(ctx context.Context) error {
	done := make([]chan bool, len(script.Diamond)+1)
	for i := range done {
		done[i] = make(chan bool)
	}
	var all sync.WaitGroup
	defer all.Wait()
	return b.askPlainEach(ctx, "Go.", func(n int) {
		all.Go(func() {
			for _, from := range script.Diamond[n-1] {
				<-done[from]
			}
			_, _ = wait(ctx, in{N: n})
			close(done[n])
		})
	})
}
