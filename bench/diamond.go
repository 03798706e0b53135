package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"processidea/model"
)

// planTokens and outputTokens are how long the LLM speaks of the Plan and of the output.
const (
	planTokens   = 600
	outputTokens = 50
	tokenChars   = 4
)

// diamond is eight Calls of 200 ms in four layers: what each reads.
var diamond = [][]int{{}, {1}, {1}, {2}, {2, 3}, {3}, {4, 5}, {5, 6}}

// diamondWork runs the diamond. With the output in the same Request it is wired by References; else a second Request gives it.
func diamondWork(oneRequest bool) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		lines, factor := diamondLines(oneRequest, s), 1.02
		if oneRequest {
			factor = 1.03
		}
		plain, err := b.plainDiamond(ctx, lines)
		if err != nil {
			return err
		}
		took, err := b.diamond(ctx, lines)
		if err == nil {
			r.of("time", "s").on("calls", len(diamond)).add(seconds(took)).beside(seconds(plain)).times(factor)
		}
		return err
	}
}

func diamondLines(oneRequest bool, s size) []string {
	var calls []string
	for i := range diamond {
		calls = append(calls, diamondCall(i+1, ""))
	}
	speed := pace
	if s.quick {
		speed = ""
	}
	wired := `{"text":"†state.c8"}`
	given := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", outputTokens*tokenChars-len(`{"calls":[],"output":{"text":""}}`)))
	if oneRequest {
		return []string{reply(padded(calls, planTokens-len(wired)/tokenChars), wired, speed)}
	}
	return []string{reply(padded(calls, planTokens), "null", speed), reply(nil, given, speed)}
}

func diamondCall(n int, reason string) string {
	var reads []string
	for _, from := range diamond[n-1] {
		reads = append(reads, fmt.Sprintf(`"†state.c%d"`, from))
	}
	return fmt.Sprintf(`{"_tool":"wait","n":%d,"after":[%s],"_outputPath":"c%d","_reasoningForCall":%q}`, n, strings.Join(reads, ","), n, reason)
}

// padded gives every Call a reason so long that all of them come to so many tokens.
func padded(calls []string, tokens int) []string {
	bare := len([]rune(`{"calls":[],"output":null}`)) + len(calls) - 1
	for _, c := range calls {
		bare += len([]rune(c))
	}
	each := max(0, (tokens*tokenChars-bare)/len(calls))
	out := make([]string, len(calls))
	for i := range calls {
		out[i] = diamondCall(i+1, strings.Repeat("r", each))
	}
	return out
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
	if err == nil && (result.Calls.Done != len(diamond) || result.Output == nil || result.Requests != len(lines)) {
		err = fmt.Errorf("it came to %s", model.Encode(model.Normal(result)))
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
	done := make([]chan bool, len(diamond)+1)
	for i := range done {
		done[i] = make(chan bool)
	}
	var all sync.WaitGroup
	defer all.Wait()
	return b.askPlainEach(ctx, "Go.", func(n int) {
		all.Go(func() {
			for _, from := range diamond[n-1] {
				<-done[from]
			}
			_, _ = wait(ctx, in{N: n})
			close(done[n])
		})
	})
}
