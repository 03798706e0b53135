package main

import (
	"context"
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/worker/engine"
)

// process is an Idea to be run.
type process struct {
	id       string
	tools    map[string]any
	output   map[string]any
	config   map[string]any
	messages []any
}

// run starts the process and waits for its end.
func (b *bed) run(ctx context.Context, p process) (*loop.Result, error) {
	source := p.source()
	idea, problems := ideafile.ReadIdea(source)
	if len(problems) > 0 {
		return nil, problems
	}
	run, _, err := engine.StartOrAttach(ctx, b.client, b.server.Namespace(), engine.StartProcess{
		ID: p.id, Idea: idea, Start: protocol.Start{Idea: source}, File: p.id,
	})
	if err != nil {
		return nil, err
	}
	var r loop.Result
	if err := run.Get(ctx, &r); err != nil {
		return nil, err
	}
	if r.Status != loop.StatusCompleted {
		return &r, fmt.Errorf("process %s ended as %s: %s", p.id, r.Status, jsonval.Encode(jsonval.Normal(r.Error)))
	}
	return &r, nil
}

func (p process) source() map[string]any {
	schema := map[string]any{"tools": p.tools}
	if p.output != nil {
		schema["output"] = p.output
	}
	source := map[string]any{"schema": schema, "context": p.messages}
	if p.config != nil {
		source["config"] = p.config
	}
	return jsonval.Normal(source).(map[string]any)
}

func text(s string) any { return map[string]any{"type": "text", "text": s} }

// state is an instance's State, its large values in the store; an empty token is the only instance.
func (b *bed) state(ctx context.Context, token string, payload map[string]any) (any, error) {
	light, err := b.store.OffloadMembers(ctx, jsonval.Normal(payload))
	if err != nil {
		return nil, err
	}
	m := map[string]any{"type": "state", "state": light}
	if token != "" {
		m["_instance"] = token
	}
	return m, nil
}
