package process

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"processidea/client/ideafiles"
	"processidea/client/schedules"
	"processidea/internal/flags"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// Schedule makes, lists and ends schedules, which start processes by the clock.
func Schedule(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "schedule",
		Short: "Start processes by the clock",
		Long: `Make, list, pause and end schedules, which start processes by the clock. Each is a
Temporal Schedule: Temporal starts the processes, and a worker must run for them.`,
		Example: "  starter schedule new nightly examples/moderation --cron \"0 2 * * *\"\n  starter schedule list",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(scheduleNewCommand(a), scheduleListCommand(a),
		scheduleActionCommand(a, "pause", "Start no processes until it is resumed; those that run go on",
			(*schedules.Schedules).Pause),
		scheduleActionCommand(a, "resume", "Start processes again", (*schedules.Schedules).Resume),
		scheduleActionCommand(a, "now", "Start a process at once, besides those at its times",
			func(s *schedules.Schedules, ctx context.Context, id, _ string) error {
				return s.StartNow(ctx, id, app.UserName())
			}),
		scheduleActionCommand(a, "end", "Remove a schedule; the processes that it has started stay",
			func(s *schedules.Schedules, ctx context.Context, id, _ string) error {
				err := s.Delete(ctx, id)
				if err == nil {
					a.Note("ended schedule %s; parts over 8 KB of what it started processes from stay in the store "+
						"until gc removes them", id)
				}
				return err
			}))
	return c
}

func scheduleNewCommand(a *app.App) *cobra.Command {
	var files fileFlags
	var o schedules.Options
	c := app.NewCommand("new NAME FILE|FOLDER", "Make a schedule that starts an Idea file",
		`Make a schedule that starts a process from an Idea file at each of its times, with instances
and replies as for "run". The files are read once, now. Each process is named by schedule
and time: nightly-2026-11-23T02:00:00Z.

--overlap says what happens if the previous process still runs: skip the next (the default),
buffer-one, buffer-all, cancel-other, terminate-other or allow-all. --catch-up says how late
a start that Temporal missed may still happen (default a year). Both are Temporal's own.`,
		`  starter schedule new nightly examples/moderation --cron "0 2 * * 1-5" --timezone Europe/Berlin
  starter schedule new hourly refund.json --every 1h --overlap buffer-one`,
		func(ctx context.Context, args []string) error {
			o.ID = args[0]
			return makeSchedule(ctx, a, args[1], files, o)
		})
	files.addFlags(c)
	f := c.Flags()
	flags.Duration(f, &o.Every, "every", time.Second, false, "the interval, such as 1h, in whole seconds")
	f.StringArrayVar(&o.CronExpressions, "cron", nil,
		"a cron `expression`, such as \"0 2 * * 1-5\" or @daily; may be repeated")
	f.StringVar(&o.TimeZone, "timezone", "",
		"the time `zone` of the cron expressions, such as Europe/Berlin (default UTC)")
	f.StringVar(&o.OverlapPolicy, "overlap", "skip", "what happens if the previous one still runs")
	flags.Duration(f, &o.CatchUpWindow, "catch-up", schedules.MinCatchUpWindow, false,
		"how late a missed start may still happen, from 10s (default a year)")
	f.BoolVar(&o.Paused, "paused", false, "start none until it is resumed")
	f.StringVar(&o.Note, "note", "", "a `text` for people")
	return c
}

func makeSchedule(ctx context.Context, a *app.App, path string, files fileFlags, o schedules.Options) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	source, err := files.findSource(path)
	if err != nil {
		return err
	}
	d, problems, err := ideafiles.Load(source, p.Tools())
	if err != nil {
		return err
	}
	if err := checkDefinition(a, p, d, problems, ""); err != nil {
		return err
	}
	o.Idea, o.ScriptedReplies, o.DelegateFiles, o.StartedBy = d.Idea, d.RepliesText, d.DelegateFiles, app.UserName()
	return a.WithSession(ctx, func(s *server.Session) error {
		if err := schedules.ForClient(s.Client).Create(ctx, o); err != nil {
			return err
		}
		a.Note("made schedule %s", o.ID)
		return nil
	})
}

func scheduleListCommand(a *app.App) *cobra.Command {
	return app.NewCommand("list", "List schedules: when they start processes, and which they started last",
		"",
		"  starter schedule list --json",
		func(ctx context.Context, _ []string) error {
			return a.WithSession(ctx, func(s *server.Session) error {
				list, err := schedules.ForClient(s.Client).List(ctx)
				if err != nil {
					return err
				}
				return a.Show(list, schedulesText(list, print.TableWidth(a.Out)))
			})
		})
}

func schedulesText(list []schedules.Schedule, width int) string {
	if len(list) == 0 {
		return "there are no schedules\n"
	}
	columns := [][]string{{"schedule"}, {"path"}, {"when"}, {"next"}, {"latest process"}, {"note"}}
	for _, s := range list {
		nextStart, latestProcessID := "never", ""
		switch {
		case s.Paused:
			nextStart = "paused"
		case len(s.NextStarts) > 0:
			nextStart = s.NextStarts[0].Local().Format(time.DateTime)
		}
		if len(s.LatestStarts) > 0 {
			latestProcessID = s.LatestStarts[len(s.LatestStarts)-1].ProcessID
		}
		for n, cell := range []string{s.ID, s.ProcessPath, s.Timing, nextStart, latestProcessID, s.Note} {
			columns[n] = append(columns[n], print.Printable(cell))
		}
	}
	return print.Table(columns, width)
}

// scheduleActionCommand makes a verb that applies do to a schedule.
func scheduleActionCommand(a *app.App, name, short string,
	do func(s *schedules.Schedules, ctx context.Context, id, note string) error) *cobra.Command {
	note := ""
	c := app.NewCommand(name+" NAME", short,
		"",
		fmt.Sprintf("  starter schedule %s nightly", name),
		func(ctx context.Context, args []string) error {
			if args[0] == "" {
				return exit.Usagef("%s schedule: NAME is empty", name)
			}
			return a.WithSession(ctx,
				func(s *server.Session) error { return do(schedules.ForClient(s.Client), ctx, args[0], note) })
		})
	if name == "pause" || name == "resume" {
		c.Flags().StringVar(&note, "note", "", "why; a `text` for people")
	}
	return c
}
