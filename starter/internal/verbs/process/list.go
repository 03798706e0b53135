package process

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// List lists the processes.
func List(a *app.App) *cobra.Command {
	o := client.ListOptions{Limit: 100}
	c := app.NewCommand("list", "List the processes, the latest first, with what they wait for",
		"",
		`  starter list
  starter list --paused
  starter list --json --limit 0`,
		func(ctx context.Context, _ []string) error {
			return a.WithSession(ctx, func(s *server.Session) error {
				processes, err := s.List(ctx, o)
				if err != nil {
					return err
				}
				for n := 0; n < len(processes) && !a.JSON; n++ {
					explainDelegateDecisions(ctx, s, &processes[n])
				}
				return a.Show(processes, listText(processes, print.TableWidth(a.Out)))
			})
		})
	flags.Int(c.Flags(), &o.Limit, "limit", 0, jsonval.MaxCount, "list so many at most; 0: all")
	c.Flags().BoolVar(&o.Paused, "paused", false, "list only paused ones, with the code and the reason")
	return c
}

// explainDelegateDecisions replaces the lines on decisions that delegates wait for by the sentences of their Calls and Plans. The
// lines stay if the delegates do not answer.
func explainDelegateDecisions(ctx context.Context, s *server.Session, p *client.Summary) {
	isDecision := func(line string) bool {
		return strings.HasPrefix(line, "delegate ") && strings.Contains(line, ": "+protocol.WaitingForPerson)
	}
	if !slices.ContainsFunc(p.Waiting, isDecision) {
		return
	}
	approvals, err := s.ApprovalsOf(ctx, p.Process)
	plans, plansErr := s.PlansOf(ctx, p.Process)
	if err != nil || plansErr != nil {
		return
	}
	var lines []string
	addLine := func(process, sentence string, since time.Time) {
		if spelling.WholeProcessID(process) != p.Process {
			lines = append(lines, fmt.Sprintf("a person: %s, since %s", sentence, since.Local().Format(time.DateTime)))
		}
	}
	for _, a := range approvals {
		addLine(a.Process, a.Sentence, a.Since)
	}
	for _, plan := range plans {
		addLine(plan.Process, plan.Sentence, plan.Since)
	}
	p.Waiting = append(slices.DeleteFunc(p.Waiting, isDecision), lines...)
}

func listText(processes []client.Summary, width int) string {
	columns := [][]string{{"process"}, {"status"}, {"waits for"}, {"started"}, {"ended"}, {"path"}}
	for _, p := range processes {
		ended := ""
		if p.Ended != nil {
			ended = p.Ended.Local().Format(time.DateTime)
		}
		for n, cell := range []string{p.Process, p.Standing(), waitsForText(p), p.Started.Local().Format(time.DateTime),
			ended, p.Path} {
			columns[n] = append(columns[n], print.Compact(cell, print.MaxValueWidth))
		}
	}
	return print.Table(columns, width)
}

// waitsForText says why a process is paused, how many decisions it waits for, or that it did not answer.
func waitsForText(p client.Summary) string {
	waiting := slices.Clone(p.Waiting)
	for _, h := range p.HoldUps {
		if n := slices.Index(waiting, h.String()); n >= 0 {
			waiting[n] = h.ShortText()
		}
	}
	if last := len(waiting) - 1; last >= 0 && p.Code != "" && p.Status == loop.StatusPaused {
		waiting[last] = p.Code + ": " + waiting[last]
	}
	if p.Awaiting > 0 && p.Ended == nil {
		waiting = append(waiting, print.Plural(p.Awaiting, "decision"))
	}
	if p.NoAnswer && len(p.HoldUps) == 0 {
		waiting = append(waiting, "? (it did not answer in time)")
	}
	return print.Compact(strings.Join(waiting, "; "), maxReasonWidth)
}

// maxReasonWidth bounds the text of waitsForText, in characters; list --json has all of it.
const maxReasonWidth = 90
