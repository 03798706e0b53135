package works

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/model/jsonval"
)

// diamondWork runs the diamond of script.Diamond. With oneRequest the reply wires the output by References; else a
// second Request gives it.
func diamondWork(oneRequest bool) func(context.Context, *bed.Bed, *report.Record, Size) error {
	return func(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
		speed, factor := script.Pace, 1.02
		if s.Quick {
			speed = ""
		}
		lines := script.DiamondLines(oneRequest, speed)
		if oneRequest {
			factor = 1.03
		}
		plain, err := plainDiamond(ctx, b, lines)
		if err != nil {
			return err
		}
		took, err := runDiamond(ctx, b, "diamond", lines)
		if err == nil {
			r.Figure("time", "s").On("calls",
				len(script.Diamond)).Add(seconds(took)).AddPlain(seconds(plain)).AtMostTimesPlain(factor)
		}
		return err
	}
}

func runDiamond(ctx context.Context, b *bed.Bed, id string, lines []string) (time.Duration, error) {
	if _, err := b.Script(lines); err != nil {
		return 0, err
	}
	tool := bed.GoTool("wait")
	tool["properties"].(map[string]any)["after"] = map[string]any{"type": "array",
		"items": map[string]any{"type": "integer"}}
	begin := time.Now()
	result, err := b.Run(ctx,
		bed.Process{ID: id, Tools: map[string]any{"wait": tool}, Messages: []any{bed.TextMessage("Go.")},
			Output: map[string]any{
				"type": "object", "properties": map[string]any{
					"text": map[string]any{"type": []any{"string", "integer"}}},
				"required": []any{"text"},
			}})
	took := time.Since(begin)
	if err == nil && (result.Calls.Done != len(script.Diamond) || result.Output == nil ||
		result.Requests != len(lines)) {
		err = fmt.Errorf("it came to %s", jsonval.Encode(jsonval.ToJSONValue(result)))
	}
	return took, err
}

// plainDiamond starts each Call as it closes in the stream, once what it reads is there, and asks for the output if the
// reply did not wire it.
func plainDiamond(ctx context.Context, b *bed.Bed, lines []string) (time.Duration, error) {
	if _, err := b.Script(lines); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := plainCalls(ctx, b); err != nil {
		return 0, err
	}
	if len(lines) > 1 {
		if _, err := askPlain(ctx, b, "The output?"); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// plainCalls runs the Calls of the diamond as the stream gives them.
func plainCalls(ctx context.Context, b *bed.Bed) error {
	done := make([]chan bool, len(script.Diamond)+1)
	for i := range done {
		done[i] = make(chan bool)
	}
	var all sync.WaitGroup
	defer all.Wait()
	return askPlainEach(ctx, b, "Go.", func(n int) {
		all.Go(func() {
			for _, from := range script.Diamond[n-1] {
				<-done[from]
			}
			_, _ = bed.Wait(ctx, bed.ToolInput{N: n})
			close(done[n])
		})
	})
}
