package bed

import (
	"context"
	"fmt"
	"time"

	"processidea/bench/internal/script"
	"processidea/examples/texttools"
	"processidea/internal/pause"
	"processidea/tools"
	"processidea/tools/builtin"
)

// ToolInput is what every tool takes.
type ToolInput struct {
	N     int `json:"n"`
	After any `json:"after,omitempty"` // what it waits for: References, or in a Tool what they give
}

// newTools registers the tools in Go. Those named Pure run as local activities.
func newTools() *tools.Registry {
	r := tools.NewRegistry()
	tools.Register(r, "instant", Instant)
	tools.Register(r, "instantPure", Instant, tools.Pure())
	tools.Register(r, "grow", Grow)
	tools.Register(r, "growPure", Grow, tools.Pure())
	tools.Register(r, "wait", Wait200ms)
	tools.Register(r, "pause", Pause)
	builtin.Register(r, nil)
	texttools.Register(r)
	return r
}

// Instant is a tool that gives its number at once.
func Instant(_ context.Context, i ToolInput) (int, error) { return i.N, nil }

// Grow is a tool that gives a kilobyte at once, another for each number.
func Grow(_ context.Context, i ToolInput) (string, error) { return script.KilobyteResult(i.N), nil }

// Wait200ms is a tool that gives its number after 200 ms.
func Wait200ms(ctx context.Context, i ToolInput) (int, error) {
	return i.N, pause.For(ctx, 200*time.Millisecond)
}

// Pause is a tool that gives its number after as many milliseconds.
func Pause(ctx context.Context, i ToolInput) (int, error) {
	return i.N, pause.For(ctx, time.Duration(i.N)*time.Millisecond)
}

// GoTool gives the member of the palette for one of the tools in Go.
func GoTool(name string) string { return Tool(name, fmt.Sprintf(`"_activity": %q`, name)) }

// Tool gives a member of the palette: what runs the tool, and what else is said of it, in JSON.
func Tool(name, how string) string {
	return fmt.Sprintf(`%q: {"description": "A tool of the bench.", "type": "object",
		"properties": {"n": {"type": "integer"}, "after": {"type": "array", "items": {"type": "integer"}}},
		"required": ["n"], "additionalProperties": false, %s}`, name, how)
}
