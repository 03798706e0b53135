package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	sdk "go.temporal.io/sdk/client"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/ideafile"
)

func ExampleDial() {
	ctx := context.Background()
	c, err := client.Dial(ctx, client.Options{
		Temporal:   sdk.Options{HostPort: "temporal.example.com:7233", Namespace: "orders"},
		StorePlace: "s3://process-idea?region=eu-central-1",
	})
	if errors.Is(err, client.ErrUnreachable) {
		log.Fatal("is the server up? ", err)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
}

func ExampleClient_Start() {
	var c *client.Client // from Dial
	ctx := context.Background()
	idea, err := client.ParseIdea([]byte(`{
		"schema": {"tools": {"judge": {"type": "object", "properties": {"text": {"type": "string"}}, "_output": {"type": "string"}}}},
		"context": [{"type": "text", "text": "Judge every comment."}]}`))
	if err != nil {
		log.Fatal(err)
	}
	p, err := c.Start(ctx, client.StartOptions{
		ID: "comments-17", Idea: idea,
		InstanceRows: []map[string]any{{"text": "This is wonderful!"}, {"text": "This is terrible."}},
	})
	if errors.Is(err, client.ErrIDInUse) {
		log.Fatal("comments-17 was started from something else")
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.ID(), "was there already:", p.IsAttached())
}

func ExampleProcess_Events() {
	var p *client.Process // from Start or Attach
	for event, err := range p.Events(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		switch event.Kind {
		case client.EventStatus:
			fmt.Println(event.Status.Status, event.Status.Calls.Done, "Calls done,", event.Status.PendingDecisionCount,
				"wait for a person")
		case client.EventNoAnswer:
			fmt.Println("not seen since", event.LastSeenAt.Format(time.Kitchen), event.Err)
		case client.EventEnded:
			fmt.Println(event.Result.Status, event.Result.Output)
		}
	}
}

func ExampleProcess_Decide() {
	var p *client.Process // from Start or Attach
	ctx := context.Background()
	waiting, err := p.Approvals(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range waiting {
		d := client.Decision{Kind: client.Approve, CallID: a.CallID, ApprovalDigest: a.Digest, By: "ann"}
		if a.Tool == "refund" {
			d.Kind, d.Reason = client.Reject, "not without a receipt"
		}
		var refused *client.RefusedError
		err := p.Decide(ctx, d)
		if errors.As(err, &refused) {
			fmt.Println("somebody was faster:", refused.Reason)
		} else if err != nil {
			log.Fatal(err)
		}
	}
}

func ExampleProcess_Resume() {
	var p *client.Process // from Start or Attach
	err := p.Resume(context.Background(), ideafile.Limits{Requests: 100},
		client.Actor{Name: "ann", Reason: "the batch is larger than we thought"})
	if err != nil {
		log.Fatal(err)
	}
}

// A fork goes on from an Idea of another process, with changes.
func ExampleChain_ForkedIdea() {
	var c *client.Client // from Dial
	ctx := context.Background()
	idea, err := c.Chain("refund-17").ForkedIdea(ctx, 3)
	if err != nil {
		log.Fatal(err)
	}
	idea, err = ideafiles.ForkChanges{ValuesToSet: []string{"amount=250"},
		InstanceTokensToReopen: []string{"all"}}.Apply(idea)
	if err != nil {
		log.Fatal(err)
	}
	p, err := c.Start(ctx, client.StartOptions{Idea: idea, ForkSourceID: "refund-17"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.ID()) // refund-17-fork-1
}

// Chains are read from the store alone: no server is needed.
func ExampleOpenArchive() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "store-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	archive, err := client.OpenArchive(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	_, err = archive.Chain("refund-17").Verify(ctx)
	fmt.Println(errors.Is(err, client.ErrNotFound), err)
	// Output: true verify refund-17: the store has no Idea of a process with this id
}

func ExampleParseIdea() {
	_, err := client.ParseIdea([]byte(`{"contxt": [], "context": [{"type": "note"}]}`))
	var invalid *client.InvalidError
	if errors.As(err, &invalid) {
		for _, p := range invalid.Problems {
			fmt.Println(p.JSONPath)
		}
	}
	// Output:
	// $.contxt
	// $.context[0].type
}
