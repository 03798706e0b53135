package people

import (
	"context"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
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
	var requests, tokens, calls int
	var duration string
	var money float64
	c := &cobra.Command{
		Use:   "resume ID",
		Short: "Let a paused process go on, with higher limits where it has reached one",
		Example: `  starter resume refunds
  starter resume refunds --requests 100`,
		RunE: func(c *cobra.Command, args []string) error {
			limits := map[string]any{}
			for name, n := range map[string]int{"requests": requests, "tokens": tokens, "calls": calls} {
				if c.Flags().Changed(name) {
					limits[name] = n
				}
			}
			if c.Flags().Changed("money") {
				if limits["money"] = money; money == 0 {
					limits["money"] = nil
				}
			}
			if duration != "" {
				limits["duration"] = duration
			}
			return resume(c.Context(), a, args[0], limits, by.who())
		},
	}
	by.add(c)
	c.Flags().IntVar(&requests, "requests", 0, "the new limit of Requests, in all")
	c.Flags().IntVar(&tokens, "tokens", 0, "the new limit of tokens, in all")
	c.Flags().IntVar(&calls, "calls", 0, "the new limit of Calls, in all")
	c.Flags().Float64Var(&money, "money", 0, "the new limit of what the LLM costs in US dollars, in all; 0 is no limit")
	c.Flags().StringVar(&duration, "duration", "", "the new limit of time since the start, such as 72h")
	return c
}

func resume(ctx context.Context, a *app.App, process string, limits map[string]any, by client.By) error {
	payload := map[string]any{}
	if len(limits) > 0 {
		payload["limits"] = limits
	}
	read, err := turn.ReadSteering(turn.SteerResume, jsonval.ToJSONValue(payload).(map[string]any))
	if err != nil {
		return exit.Usagef("resume %s: %w", process, err)
	}
	return steer(ctx, a, process, turn.SteerResume, func(p *client.Process) error { return p.Resume(ctx, read.Limits, by) })
}
