package main

import (
	"context"
	"time"

	"processidea/bench/internal/script"
	"processidea/tools"
)

// in is what every tool of the bench takes.
type in struct {
	N     int   `json:"n"`
	After []int `json:"after,omitempty"`
}

// newTools registers the tools of the bench: instant ones, as an activity and as a pure function, one that gives a kilobyte,
// and one that takes 200 ms.
func newTools() *tools.Registry {
	r := tools.NewRegistry()
	tools.Register(r, "instant", instant)
	tools.Register(r, "instantPure", instant, tools.Pure())
	tools.Register(r, "grow", grow)
	tools.Register(r, "growPure", grow, tools.Pure())
	tools.Register(r, "wait", wait)
	return r
}

func instant(_ context.Context, i in) (int, error) { return i.N, nil }

func grow(_ context.Context, i in) (string, error) { return script.Kilobyte(i.N), nil }

func wait(ctx context.Context, i in) (int, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(200 * time.Millisecond):
		return i.N, nil
	}
}

// goTool is the palette's entry for a tool of the bench.
func goTool(name string) map[string]any {
	return map[string]any{
		"description": "A tool of the bench.", "type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}},
		"required": []any{"n"}, "additionalProperties": false, "_activity": name,
	}
}
