package bed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	project "processidea/client"
	"processidea/connect"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
)

// Process is a process to run: its id and the parts of its Idea.
type Process struct {
	ID       string
	Tools    map[string]any
	Output   map[string]any // the form of the output; nil if there is none
	Messages []any
	Limits   map[string]any // as `config.limits` has them; nil: the usual ones
}

// Run starts a process and waits for it to complete.
func (b *Bed) Run(ctx context.Context, p Process) (*loop.Result, error) {
	return b.run(ctx, p.ID, p.source(), func() {})
}

// RunWith is Run, and calls begun once the process is started.
func (b *Bed) RunWith(ctx context.Context, p Process, begun func()) (*loop.Result, error) {
	return b.run(ctx, p.ID, p.source(), begun)
}

func (b *Bed) run(ctx context.Context, id string, source map[string]any, begun func()) (*loop.Result, error) {
	idea, problems := ideafile.ReadIdea(source)
	if len(problems) > 0 {
		return nil, problems
	}
	run, _, err := connect.StartOrAttach(ctx, b.client, b.server.Namespace(), connect.StartProcess{
		ID: id, Idea: idea, Start: protocol.ProcessStart{Idea: source}, File: id,
	})
	if err != nil {
		return nil, err
	}
	begun()
	r, err := b.end(ctx, run)
	if err != nil {
		return nil, err
	}
	return r, b.note(id, *r)
}

// pausedEvery is how often a process is asked whether it is paused.
const pausedEvery = 5 * time.Second

// end waits for a process to end. One that is paused never does here: the error says why it is.
func (b *Bed) end(ctx context.Context, run client.WorkflowRun) (*loop.Result, error) {
	for {
		var r loop.Result
		wait, stop := context.WithTimeout(ctx, pausedEvery)
		err := run.Get(wait, &r)
		stop()
		if !isDeadline(err) || ctx.Err() != nil {
			return &r, err
		}
		v, err := project.New(b.person, b.server.Namespace(), b.store).Process(run.GetID()).Status(ctx)
		if err == nil && v.Status == loop.StatusPaused {
			return nil, fmt.Errorf("process %s is paused: %s", run.GetID(), strings.Join(v.Waiting, "; "))
		}
	}
}

// isDeadline reports whether a wait took too long, as the context or the Temporal server says it. Either may say so
// first.
func isDeadline(err error) bool {
	var late *serviceerror.DeadlineExceeded
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late)
}

func (p Process) source() map[string]any {
	schema := map[string]any{"tools": p.Tools}
	if p.Output != nil {
		schema["output"] = p.Output
	}
	idea := map[string]any{"schema": schema, "context": p.Messages}
	if p.Limits != nil {
		idea["config"] = map[string]any{"limits": p.Limits}
	}
	return jsonval.AsObject(jsonval.ToJSONValue(idea))
}

// TextMessage is a Message that says something to the LLM.
func TextMessage(s string) any { return map[string]any{"type": "text", "text": s} }

// StateMessage is a Message with an instance's State, whose large values it puts into the store. An empty token names
// the only instance.
func (b *Bed) StateMessage(ctx context.Context, token string, payload map[string]any) (any, error) {
	light, err := b.store.OffloadMembers(ctx, jsonval.ToJSONValue(payload))
	if err != nil {
		return nil, err
	}
	m := map[string]any{"type": "state", "state": light}
	if token != "" {
		m["_instance"] = token
	}
	return m, nil
}
