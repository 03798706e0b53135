package people

import (
	"context"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/flags"
	"processidea/model/fields"
	"processidea/model/limits"
	"processidea/model/turn"
	"processidea/starter/internal/app"
)

// steer does something to a process, and says what became of it.
func steer(ctx context.Context, a *app.App, process, signal string, do func(*client.Process) error) error {
	return a.VisitProcess(ctx, process, func(p *client.Process) error { return printOutcome(a, process, signal, "", do(p)) })
}

// Pause lets what runs finish and starts nothing new.
func Pause(a *app.App) *cobra.Command {
	var by byFlags
	c := &cobra.Command{
		Use:   "pause ID",
		Short: "Let the running Calls of a process finish and start nothing new",
		Long: `Let the running Calls of a process finish and start nothing new, until "resume".
Decisions are taken in the meantime; what they let run starts when the process goes on.`,
		Example: `  starter pause refunds --reason "the bank is closed"`,
		RunE: func(c *cobra.Command, args []string) error {
			return steer(c.Context(), a, args[0], turn.SteerPause, func(p *client.Process) error { return p.Pause(c.Context(), by.who()) })
		},
	}
	by.add(c)
	return c
}

// Resume lets a paused process go on.
func Resume(a *app.App) *cobra.Command {
	var by byFlags
	var set limits.Limits
	c := &cobra.Command{
		Use:   "resume ID",
		Short: "Let a paused process go on, with higher limits where it has reached one",
		Example: `  starter resume refunds
  starter resume refunds --requests 100`,
		RunE: func(c *cobra.Command, args []string) error {
			return steer(c.Context(), a, args[0], turn.SteerResume, func(p *client.Process) error { return p.Resume(c.Context(), set, by.who()) })
		},
	}
	by.add(c)
	f := c.Flags()
	flags.Int(f, &set.Requests, "requests", 1, fields.MaxCount, "the new limit of Requests, in all")
	flags.Int(f, &set.Tokens, "tokens", 1, fields.MaxCount, "the new limit of tokens, in all")
	flags.Int(f, &set.Calls, "calls", 1, fields.MaxCount, "the new limit of Calls, in all")
	flags.Money(f, &set.Money, "money", "the new limit of what the LLM costs in US dollars, in all; 0 is no limit")
	flags.Duration(f, &set.Duration, "duration", fields.MinDuration, false, "the new limit of time since the start, such as 72h")
	return c
}
