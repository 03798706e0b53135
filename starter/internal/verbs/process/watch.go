package process

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/server"
	"processidea/starter/internal/terminal"
)

// Watch shows the progress of a process until it ends.
func Watch(a *app.App) *cobra.Command {
	var maxWait time.Duration
	c := app.NewCommand("watch ID", "Show the progress of a process until it ends, and print its result",
		`Show the progress of a process on standard error, through pauses too, until it
ends, and print its result as run does.`,
		`  starter watch refund-17
  starter watch refund-17 --wait 1m --json`,
		func(ctx context.Context, args []string) error {
			return a.WithSession(ctx, func(s *server.Session) error {
				p, err := s.Attach(ctx, args[0])
				if err != nil {
					return err
				}
				f := terminal.Follower{Session: s, Process: p, Progress: terminal.NewProgress(a.Err, p.ID()),
					IgnoresPauses: true}
				if maxWait > 0 {
					f.WaitExpired = time.After(maxWait)
				}
				result, err := f.Follow(ctx)
				if errors.Is(err, terminal.ErrServerAbandoned) {
					return exit.Unreachablef("watch %s: %w", p.ID(), err)
				}
				if err != nil {
					return err
				}
				return a.PrintResult(result, instanceNamingOf(ctx, a, p))
			})
		})
	addWaitFlag(c, &maxWait)
	a.AddFailOnFailedCallsFlag(c)
	return c
}
