package process

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/starter/internal/app"
)

// Result prints the current or final Result of a process.
func Result(a *app.App) *cobra.Command {
	c := app.Verb("result ID", "Print how a process stands, or how it ended",
		`Print how a process stands, or how it ended, as run does, with run's exit codes.
It waits for nothing.`,
		`  starter result refund-17
  starter result refund-17 --json`,
		func(ctx context.Context, args []string) error {
			return a.WithProcess(ctx, args[0],
				func(p *client.Process) error { return printSnapshot(ctx, a, p) })
		})
	a.AddFailFlag(c)
	return c
}

// printSnapshot prints the current Result, and waits for nothing. A missing worker is no error.
func printSnapshot(ctx context.Context, a *app.App, p *client.Process) error {
	r, err := p.Snapshot(ctx)
	if errors.Is(err, client.ErrNoWorker) {
		a.Note("%s", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return a.Finish(r, inputsOf(ctx, a, p, r))
}

// inputsOf returns the instances' own inputs for a table that people read. It is nil with --json, and below two
// instances.
func inputsOf(ctx context.Context, a *app.App, p *client.Process, r loop.Result) jsonval.Object {
	if a.JSON || len(r.Instances) < 2 {
		return nil
	}
	idea, err := p.Idea(ctx)
	if err != nil {
		return nil // the table does without
	}
	return ownInputs(idea)
}

func ownInputs(idea *ideafile.Idea) jsonval.Object {
	inputs := jsonval.Object{}
	for token, messages := range ideafile.GroupMessagesByInstance(idea.Context) {
		if input := ideafile.InstanceInput(messages, token); token != "" && input != nil {
			inputs[token] = input
		}
	}
	return inputs
}
