package people

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/flags"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
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
			return steer(c.Context(), a, args[0], approval.SteerPause, func(p *client.Process) error { return p.Pause(c.Context(), by.who()) })
		},
	}
	by.add(c)
	return c
}

// Resume lets a paused process go on.
func Resume(a *app.App) *cobra.Command {
	var by byFlags
	var set ideafile.Limits
	var all bool
	var because string
	c := &cobra.Command{
		Use:   "resume [ID]",
		Short: "Let a paused process go on, with higher limits where it has reached one, or all of them",
		Long: `Let a paused process go on, with higher limits where it has reached one.

With --all every paused process goes on that somebody started, with its parts and its
delegates; with --because those alone that are paused with a code: list --paused shows
it. It says what became of each.`,
		Example: `  starter resume refunds
  starter resume refunds --requests 100
  starter resume --all --because llm_unreachable`,
		RunE: func(c *cobra.Command, args []string) error {
			if all || because != "" || len(args) == 0 {
				return resumeAll(c, a, args, all, because, by.who())
			}
			return steer(c.Context(), a, args[0], approval.SteerResume,
				func(p *client.Process) error { return p.Resume(c.Context(), set, by.who()) })
		},
	}
	by.add(c)
	f := c.Flags()
	f.BoolVar(&all, "all", false, "all paused processes")
	f.StringVar(&because, "because", "",
		"with --all: those alone that are paused with this `code`, such as llm_unreachable")
	flags.Int(f, &set.Requests, "requests", 1, jsonval.MaxCount, "the new limit of Requests, in all")
	flags.Int(f, &set.Tokens, "tokens", 1, jsonval.MaxCount, "the new limit of tokens, in all")
	flags.Int(f, &set.Calls, "calls", 1, jsonval.MaxCount, "the new limit of Calls, in all")
	flags.Money(f, &set.Money, "money", "the new limit of what the LLM costs in US dollars, in all; 0 is no limit")
	flags.Duration(f, &set.Duration, "duration", jsonval.MinDuration, false,
		"the new limit of time since the start, such as 72h")
	return c
}

// resumeAll lets all paused processes go on, or those that are paused with a code.
func resumeAll(c *cobra.Command, a *app.App, args []string, all bool, because string, by client.By) error {
	for _, limit := range []string{"requests", "tokens", "calls", "money", "duration"} {
		if c.Flags().Changed(limit) {
			return exit.Usagef("resume: --%s is for one process; name it", limit)
		}
	}
	switch {
	case len(args) > 0:
		return exit.Usagef("resume %s: --all and --because are for all processes, and name none", args[0])
	case !all:
		return exit.Usagef("resume: name a process, or say --all")
	}
	return a.Visit(c.Context(), func(s *server.Session) error {
		list, err := s.ResumeAll(c.Context(), because, by)
		if err != nil {
			return err
		}
		return printResumed(a, list)
	})
}

// printResumed says what became of each; the exit code says whether one did not go on.
func printResumed(a *app.App, list []client.Resumed) error {
	var lines strings.Builder
	left := 0
	for _, r := range list {
		text := r.Process + ": resume taken"
		if !r.Resumed {
			left++
			text = r.Process + ": not resumed: " + r.Reason
		}
		lines.WriteString(print.Printable(text) + "\n")
	}
	var err error
	if a.JSON {
		err = a.PrintJSON(list)
	} else {
		err = a.Print(cmp.Or(lines.String(), "none is paused so\n"))
	}
	if err == nil && left > 0 {
		err = exit.With(exit.Usage)
	}
	return err
}
