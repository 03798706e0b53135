// Command program shows what a Go program of another module does with a process: it starts one, follows it, decides on
// the waiting Call, and reads the chain. It finds Temporal and the store through the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"processidea/client"
)

const idea = `{
	"meta": {"path": "letter", "version": "1"},
	"schema": {"tools": {"note": {
		"description": "Writes a note.", "type": "object", "additionalProperties": false,
		"properties": {"text": {"type": "string"}}, "required": ["text"], "_outputPath": "†state.noted",
		"_approval": {"when": {"properties": {"text": {"minLength": 12}}}}}}},
	"context": [{"type": "text", "text": "Write what the customer wants to know."}]}`

const replies = `{"solution": {"calls": [{"_tool": "note", "_instance": "*", "text": "†input.text"}], "output": null}}
{"solution": {"calls": [], "output": null}}`

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	options, err := client.FromEnvironment()
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, options)
	if err != nil {
		return err
	}
	defer c.Close()
	p, err := start(ctx, c, "letter-1")
	if err != nil {
		return err
	}
	if err := follow(ctx, p); err != nil {
		return err
	}
	again, err := start(ctx, c, "letter-1")
	if err != nil {
		return err
	}
	fmt.Println("attached:", again.IsAttached())
	_, err = c.Attach(ctx, "letter-2")
	fmt.Println("not found:", errors.Is(err, client.ErrNotFound))
	return read(ctx, c.Chain(p.ID()))
}

func start(ctx context.Context, c *client.Client, id string) (*client.Process, error) {
	parsed, err := client.ParseIdea([]byte(idea))
	if err != nil {
		return nil, err
	}
	return c.Start(ctx, client.StartOptions{
		ID: id, Idea: parsed, ScriptedReplies: replies,
		InstanceRows: []map[string]any{{"text": "When does it come?"}},
	})
}

// follow decides on waiting Calls until the process has ended.
func follow(ctx context.Context, p *client.Process) error {
	for event, err := range p.Events(ctx) {
		switch {
		case err != nil:
			return err
		case event.Kind == client.EventEnded:
			fmt.Println("ended:", event.Result.Status, event.Result.Calls.Done)
		case event.Status.PendingDecisionCount > 0:
			if err := decide(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func decide(ctx context.Context, p *client.Process) error {
	waiting, err := p.Approvals(ctx)
	if err != nil {
		return err
	}
	for _, a := range waiting {
		fmt.Println("waits:", a.CallID, a.Tool, a.Params["text"])
		err := p.Decide(ctx, client.Decision{Kind: client.Approve, CallID: a.CallID, ApprovalDigest: "of something else",
			By: "ann"})
		var refused *client.RefusedError
		fmt.Println("refused:", errors.As(err, &refused))
		err = p.Decide(ctx, client.Decision{Kind: client.Amend, CallID: a.CallID, ApprovalDigest: a.Digest, By: "ann",
			Value: map[string]any{"text": "Tomorrow."}})
		if err != nil {
			return err
		}
	}
	return nil
}

func read(ctx context.Context, chain *client.Chain) error {
	ideas, err := chain.Ideas(ctx)
	if err != nil {
		return err
	}
	last := ideas[len(ideas)-1].IdeaNumber
	report, err := chain.Verify(ctx)
	if err != nil {
		return err
	}
	blame, err := chain.Blame(ctx, "①:noted", last)
	if err != nil {
		return err
	}
	diff, err := chain.Diff(ctx, 1, last)
	if err != nil {
		return err
	}
	if err := chain.Export(ctx, os.Stderr); err != nil {
		return err
	}
	fmt.Println("chain:", len(ideas), report.IsIntact, blame.Author, blame.LastDecision.Kind, blame.LastDecision.DecidedBy,
		len(diff.Changes) > 0)
	return nil
}
