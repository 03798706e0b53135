package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"processidea/bench/internal/script"
	"processidea/rehearsal"
)

// streamWork measures the time from the moment at which the LLM's server has sent the byte that closes a Call to the moment
// at which the tool's server has the Call's request: the parser, a signal to the instance, a workflow task and an activity
// task lie between.
func streamWork(ctx context.Context, b *bed, r *record, s size) error {
	n := s.of(20, 3)
	lags, err := b.closingByteToTool(ctx, n)
	if err != nil {
		return err
	}
	r.of("closing byte to tool, median", "ms").on("calls", n).add(inMS(lags)...).atMost(15)
	r.of("closing byte to tool, p90", "ms").on("calls", n).add(spreadOf(inMS(lags)).P90).atMost(25)
	return nil
}

// closings are the times at which Calls were closed in the stream.
type closings struct {
	mu   sync.Mutex
	ends []int // characters after which each Call has closed
	sent []time.Time
}

func (c *closings) chunk(request, chars int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for request == 1 && len(c.sent) < len(c.ends) && chars >= c.ends[len(c.sent)] {
		c.sent = append(c.sent, time.Now())
	}
}

func (b *bed) closingByteToTool(ctx context.Context, n int) ([]time.Duration, error) {
	var calls []string
	closed := &closings{}
	at := len(`{"calls":[`)
	for i := range n {
		c := fmt.Sprintf(`{"_tool":"go","n":%d,"_outputPath":"r%d","_reasoningForCall":%q}`, i+1, i+1, strings.Repeat("because ", 8))
		calls, at = append(calls, c), at+len(c)
		closed.ends = append(closed.ends, at)
		at++
	}
	if _, err := b.say([]string{script.Reply(calls, "null", script.Pace), script.Reply(nil, "null", "")}, rehearsal.OnChunk(closed.chunk)); err != nil {
		return nil, err
	}
	tool := goTool("go")
	tool["_activity"] = map[string]any{"http": map[string]any{"url": b.tool.URL}}
	_, err := b.run(ctx, process{id: "stream", tools: map[string]any{"go": tool}, messages: []any{text("Go.")}})
	return b.lags(closed), err
}

func (b *bed) lags(closed *closings) (lags []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, t := range closed.sent {
		if arrived, ok := b.arrived[i+1]; ok {
			lags = append(lags, arrived.Sub(t))
		}
	}
	return lags
}
