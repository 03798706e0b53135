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

// ToolInput is the input of every tool.
type ToolInput struct {
	N     int `json:"n"`
	After any `json:"after,omitempty"` // what the Call waits for: References, or in a Tool their values
}

// newToolRegistry registers the tools in Go. Those named Pure run as local activities.
func newToolRegistry() *tools.Registry {
	r := tools.NewRegistry()
	tools.Register(r, "instant", Instant)
	tools.Register(r, "instantPure", Instant, tools.Pure())
	tools.Register(r, "grow", ReturnKilobyte)
	tools.Register(r, "growPure", ReturnKilobyte, tools.Pure())
	tools.Register(r, "wait", Wait200ms)
	tools.Register(r, "pause", WaitMillis)
	builtin.Register(r, nil)
	texttools.Register(r)
	return r
}

// Instant is a tool that returns its number at once.
func Instant(_ context.Context, i ToolInput) (int, error) { return i.N, nil }

// ReturnKilobyte is a tool that returns a kilobyte at once, different for each number.
func ReturnKilobyte(_ context.Context, i ToolInput) (string, error) {
	return script.KilobyteResult(i.N), nil
}

// Wait200ms is a tool that returns its number after 200 ms.
func Wait200ms(ctx context.Context, i ToolInput) (int, error) {
	return i.N, pause.For(ctx, 200*time.Millisecond)
}

// WaitMillis is a tool that waits as many milliseconds as its number, then returns the number.
func WaitMillis(ctx context.Context, i ToolInput) (int, error) {
	return i.N, pause.For(ctx, time.Duration(i.N)*time.Millisecond)
}

// GoToolJSON returns the member of the palette for one of the tools in Go.
func GoToolJSON(name string) string { return ToolJSON(name, fmt.Sprintf(`"_activity": %q`, name)) }

// ToolJSON returns a member of the palette. how, in JSON, says what runs the tool, and may add other keys.
func ToolJSON(name, extraJSON string) string {
	return fmt.Sprintf(`%q: {"description": "A tool of the bench.", "type": "object",
		"properties": {"n": {"type": "integer"}, "after": {"type": "array", "items": {"type": "integer"}}},
		"required": ["n"], "additionalProperties": false, %s}`, name, extraJSON)
}
