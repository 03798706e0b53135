package bed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"

	"processidea/client"
	"processidea/model/loop"
)

// ProcessSpec is a process to run: its id and the parts of its Idea, in JSON.
type ProcessSpec struct {
	ID               string
	ToolJSON         string           // a member of the palette
	MessagesJSON     string           // a message to the LLM, or a Plan; several are separated by commas
	OutputSchemaJSON string           // the schema of the output; may be empty
	LimitsJSON       string           // as in `config.limits`; empty: the default limits
	StateMessages    []map[string]any // a Message for each instance
}

// Run starts a process and waits for it to complete.
func (b *TestBed) Run(ctx context.Context, p ProcessSpec) (*loop.ProcessResult, error) {
	process, err := b.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return b.Await(ctx, process)
}

// Start starts a process.
func (b *TestBed) Start(ctx context.Context, p ProcessSpec) (*client.Process, error) {
	idea, err := client.ParseIdea(fmt.Appendf(nil,
		`{"config": {"limits": %s}, "schema": {"tools": {%s}, "output": %s}, "context": [%s]}`,
		cmp.Or(p.LimitsJSON, "null"), p.ToolJSON, cmp.Or(p.OutputSchemaJSON, "null"), p.MessagesJSON))
	if err != nil {
		return nil, err
	}
	return b.client.Start(ctx, client.StartOptions{ID: p.ID, Idea: idea, InstanceRows: p.StateMessages})
}

// pauseCheckInterval is how often a process is asked whether it is paused.
const pauseCheckInterval = 5 * time.Second

// Await waits for a process to complete. If the process is paused, nobody resumes it here, so Await returns the reason
// as an error.
func (b *TestBed) Await(ctx context.Context, p *client.Process) (*loop.ProcessResult, error) {
	for {
		waitCtx, stop := context.WithTimeout(ctx, pauseCheckInterval)
		r, err := p.Result(waitCtx)
		stop()
		if err == nil {
			return &r, b.addResult(r)
		}
		if !isDeadlineExceeded(err) || ctx.Err() != nil {
			return nil, err
		}
		if v, err := b.uncountedClient.Process(p.ID()).Status(ctx); err == nil && v.Status == loop.StatusPaused {
			return nil, pausedError(p.ID(), v)
		}
	}
}

func pausedError(processID string, v client.Status) error {
	return fmt.Errorf("process %s is paused: %s", processID, strings.Join(v.WaitingFor, "; "))
}

// isDeadlineExceeded reports whether a wait took too long. Either the context or the Temporal server may say so first.
func isDeadlineExceeded(err error) bool {
	var deadlineErr *serviceerror.DeadlineExceeded
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &deadlineErr)
}

// TextMessage makes a Message with a text for the LLM.
func TextMessage(s string) string { return fmt.Sprintf(`{"type": "text", "text": %q}`, s) }

// PlanMessage makes a Message with a Plan of these Calls.
func PlanMessage(stage string, calls ...string) string {
	return fmt.Sprintf(`{"type": "plan", "stage": %q, "plan": [%s]}`, stage, strings.Join(calls, ","))
}

// NewStateMessages returns Messages for n instances whose State holds a number, a multiple of step.
func NewStateMessages(n, numberStep int) (messages []map[string]any) {
	for i := range n {
		messages = append(messages, map[string]any{"type": "state", "_instance": fmt.Sprintf("i%05d", i+1),
			"state": map[string]any{"n": (i + 1) * numberStep}})
	}
	return messages
}
