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
				for n := 0; n < len(processes) && !a.WritesJSON; n++ {
					explainDelegateDecisions(ctx, s, &processes[n])
				}
				return a.Show(processes, processListText(processes, print.TableWidth(a.Out)))
			})
		})
	flags.Int(c.Flags(), &o.Limit, "limit", 0, jsonval.MaxCount, "list so many at most; 0: all")
	c.Flags().BoolVar(&o.OnlyPaused, "paused", false, "list only paused ones, with the code and the reason")
	return c
}

// explainDelegateDecisions replaces the lines on decisions that delegates wait for by the sentences of their Calls and
// Plans. The lines stay if the delegates do not answer.
func explainDelegateDecisions(ctx context.Context, s *server.Session, p *client.ProcessSummary) {
	isDecision := func(line string) bool {
		return strings.HasPrefix(line, "delegate ") && strings.Contains(line, ": "+protocol.WaitingForPersonPrefix)
	}
	if !slices.ContainsFunc(p.WaitingTexts, isDecision) {
		return
	}
	approvals, err := s.ApprovalsOf(ctx, p.ProcessID)
	plans, plansErr := s.WaitingPlansOf(ctx, p.ProcessID)
	if err != nil || plansErr != nil {
		return
	}
	var lines []string
	addLine := func(processID, sentence string, since time.Time) {
		if spelling.WholeProcessID(processID) != p.ProcessID {
			lines = append(lines, fmt.Sprintf("a person: %s, since %s", sentence, since.Local().Format(time.DateTime)))
		}
	}
	for _, a := range approvals {
		addLine(a.Process, a.Sentence, a.Since)
	}
	for _, plan := range plans {
		addLine(plan.Process, plan.Sentence, plan.Since)
	}
	p.WaitingTexts = append(slices.DeleteFunc(p.WaitingTexts, isDecision), lines...)
}

func processListText(processes []client.ProcessSummary, width int) string {
	columns := [][]string{{"process"}, {"status"}, {"waits for"}, {"started"}, {"ended"}, {"path"}}
	for _, p := range processes {
		endedText := ""
		if p.EndedAt != nil {
			endedText = p.EndedAt.Local().Format(time.DateTime)
		}
		for n, cell := range []string{p.ProcessID, p.StatusText(), waitingText(p),
			p.StartedAt.Local().Format(time.DateTime),
			endedText, p.ProcessPath} {
			columns[n] = append(columns[n], print.Compact(cell, print.MaxValueWidth))
		}
	}
	text, isRemedyListed := print.Table(columns, width), map[string]bool{}
	for _, p := range processes {
		for _, h := range p.HoldUps {
			if line := h.CauseCode + ": " + h.Remedy; h.Remedy != "" && !isRemedyListed[line] {
				isRemedyListed[line] = true
				text += line + "\n"
			}
		}
	}
	return text
}

// waitingText says why a process is paused, how many decisions it waits for, or that it did not answer.
func waitingText(p client.ProcessSummary) string {
	waitingLines := slices.Clone(p.WaitingTexts)
	for _, h := range p.HoldUps {
		if n := slices.Index(waitingLines, h.String()); n >= 0 {
			waitingLines[n] = h.ShortText()
		}
	}
	if lastIndex := len(waitingLines) - 1; lastIndex >= 0 && p.PauseOrFailureCode != "" &&
		p.Status == loop.StatusPaused {
		waitingLines[lastIndex] = p.PauseOrFailureCode + ": " + waitingLines[lastIndex]
	}
	if p.AwaitingCount > 0 && p.EndedAt == nil {
		waitingLines = append(waitingLines, print.Plural(p.AwaitingCount, "decision"))
	}
	if p.DidNotAnswer && len(p.HoldUps) == 0 {
		waitingLines = append(waitingLines, "? (it did not answer in time)")
	}
	return print.Compact(strings.Join(waitingLines, "; "), maxWaitingTextWidth)
}

// maxWaitingTextWidth bounds the text of waitingText, in characters; list --json has all of it.
const maxWaitingTextWidth = 90
