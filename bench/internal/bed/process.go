package bed

import (
	"context"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/runresult"
	"processidea/protocol"
	"processidea/worker/engine"
)

// Process is a process to run: its id and the parts of its Idea.
type Process struct {
	ID       string
	Tools    map[string]any
	Output   map[string]any // the form of the output; nil if there is none
	Messages []any
}

// Run starts a process and waits for it to complete.
func (b *Bed) Run(ctx context.Context, p Process) (*runresult.Result, error) {
	return b.run(ctx, p.ID, p.source(), func() {})
}

// RunWith is Run, and calls begun once the process is started.
func (b *Bed) RunWith(ctx context.Context, p Process, begun func()) (*runresult.Result, error) {
	return b.run(ctx, p.ID, p.source(), begun)
}

func (b *Bed) run(ctx context.Context, id string, source map[string]any, begun func()) (*runresult.Result, error) {
	idea, problems := ideafile.ReadIdea(source)
	if len(problems) > 0 {
		return nil, problems
	}
	run, _, err := engine.StartOrAttach(ctx, b.client, b.server.Namespace(), engine.StartProcess{
		ID: id, Idea: idea, Start: protocol.ProcessStart{Idea: source}, File: id,
	})
	if err != nil {
		return nil, err
	}
	begun()
	var r runresult.Result
	if err := run.Get(ctx, &r); err != nil {
		return nil, err
	}
	return &r, b.note(id, r)
}

func (p Process) source() map[string]any {
	schema := map[string]any{"tools": p.Tools}
	if p.Output != nil {
		schema["output"] = p.Output
	}
	return jsonval.AsObject(jsonval.ToJSONValue(map[string]any{"schema": schema, "context": p.Messages}))
}

// TextMessage is a Message that says something to the LLM.
func TextMessage(s string) any { return map[string]any{"type": "text", "text": s} }

// StateMessage is a Message with an instance's State, whose large values it puts into the store. An empty token names the only
// instance.
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
