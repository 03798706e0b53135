package process

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/starter/internal/app"
)

// Result prints how a process stands, or how it ended.
func Result(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "result ID",
		Short: "Print how a process stands, or how it ended",
		Long: `Print how a process stands, or how it ended, as run does, with run's exit codes.
It waits for nothing.`,
		Example: `  starter result refund-17
  starter result refund-17 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.VisitProcess(c.Context(), args[0], func(p *client.Process) error { return printSnapshot(c.Context(), a, p) })
		},
	}
}

// printSnapshot prints how a process stands, and waits for nothing. That no worker answers is no error.
func printSnapshot(ctx context.Context, a *app.App, p *client.Process) error {
	r, err := p.Snapshot(ctx)
	if errors.Is(err, client.ErrNoWorker) {
		a.Note("%s", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return a.Finish(r)
}
