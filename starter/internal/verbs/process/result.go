package process

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
)

// Result prints the current or final Result of a process.
func Result(a *app.App) *cobra.Command {
	c := app.NewCommand("result ID", "Print how a process stands, or how it ended",
		`Print how a process stands, or how it ended, as run does, with run's exit codes.
It waits for nothing.`,
		`  starter result refund-17
  starter result refund-17 --json`,
		func(ctx context.Context, args []string) error {
			return a.WithProcess(ctx, args[0],
				func(p *client.Process) error { return printCurrentResult(ctx, a, p) })
		})
	a.AddFailOnFailedCallsFlag(c)
	return c
}

// printCurrentResult prints the current Result, and waits for nothing. A missing worker is no error.
func printCurrentResult(ctx context.Context, a *app.App, p *client.Process) error {
	r, err := p.Snapshot(ctx)
	if errors.Is(err, client.ErrNoWorker) {
		a.Note("%s", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return a.PrintResult(r, instanceNamingOf(ctx, a, p))
}

// instanceNamingOf returns how people are told of the instances. With --json it is empty, since nobody is.
func instanceNamingOf(ctx context.Context, a *app.App, p *client.Process) print.InstanceNaming {
	if a.WritesJSON {
		return print.InstanceNaming{}
	}
	idea, err := p.Idea(ctx)
	if err != nil {
		return print.InstanceNaming{} // the table does without
	}
	return print.InstanceNamingOf(idea, client.LanguageOf(ctx))
}
