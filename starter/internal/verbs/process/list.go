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
				if a.WritesJSON {
					return a.PrintJSON(processes)
				}
				return a.Print(processListText(withDecisionTexts(ctx, s, processes), print.TableWidth(a.Out)))
			})
		})
	flags.Int(c.Flags(), &o.Limit, "limit", 0, jsonval.MaxCount, "list so many at most; 0: all")
	c.Flags().BoolVar(&o.OnlyPaused, "paused", false, "list only paused ones, with the code and the reason")
	return c
}

// listedProcess is a process in the list. DecisionText says what people are asked to decide; empty: it is not known.
type listedProcess struct {
	client.ProcessSummary
	decisionText string
}

// Bounds of what the list says of decisions in sentences: each process that waits for people is queried.
const (
	maxExplainedProcesses = 20
	maxExplainTime        = 5 * time.Second
)

// withDecisionTexts adds to processes the sentences of the Calls and Plans that wait for people, as far as they answer.
func withDecisionTexts(ctx context.Context, s *server.Session, processes []client.ProcessSummary) []listedProcess {
	ctx, cancel := context.WithTimeout(ctx, maxExplainTime)
	defer cancel()
	explainedCount := 0
	return jsonval.Map(processes, func(p client.ProcessSummary) listedProcess {
		listed := listedProcess{ProcessSummary: p}
		asksPeople := p.AwaitingCount > 0 || slices.ContainsFunc(p.WaitingTexts, isDelegateDecision)
		if asksPeople && p.EndedAt == nil && !p.DidNotAnswer && explainedCount < maxExplainedProcesses {
			explainedCount++
			listed.explainDecisions(ctx, s)
		}
		return listed
	})
}

// isDelegateDecision reports whether a line on what a process waits for is about a decision in a delegate.
func isDelegateDecision(line string) bool {
	return strings.HasPrefix(line, "delegate ") && strings.Contains(line, ": "+protocol.WaitingForPersonPrefix)
}

// explainDecisions puts what waits for people into sentences. The lines on decisions in delegates stay if the delegates
// do not answer.
func (p *listedProcess) explainDecisions(ctx context.Context, s *server.Session) {
	approvals, err := s.ApprovalsOf(ctx, p.ProcessID)
	plans, plansErr := s.WaitingPlansOf(ctx, p.ProcessID)
	if err != nil || plansErr != nil {
		return
	}
	var delegateLines, ownSentences []string
	add := func(processID, sentence, instanceName string, since time.Time) {
		text := client.RecordedDecision{Sentence: sentence, InstanceName: instanceName}.About()
		if spelling.WholeProcessID(processID) != p.ProcessID {
			text = fmt.Sprintf("a person: %s, since %s", text, since.Local().Format(time.DateTime))
			delegateLines = append(delegateLines, text)
		} else {
			ownSentences = append(ownSentences, text)
		}
	}
	for _, a := range approvals {
		name := a.InstanceName
		if name == a.Instance {
			name = ""
		}
		add(a.Process, a.Sentence, name, a.Since)
	}
	for _, plan := range plans {
		add(plan.Process, plan.Sentence, "", plan.Since)
	}
	p.WaitingTexts = append(slices.DeleteFunc(slices.Clone(p.WaitingTexts), isDelegateDecision), delegateLines...)
	p.decisionText = strings.Join(ownSentences, "; ")
}

func processListText(processes []listedProcess, width int) string {
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

// waitingText says why a process is paused, which decisions it waits for and how many, or that it did not answer.
func waitingText(p listedProcess) string {
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
		text := print.Plural(p.AwaitingCount, "decision")
		if p.decisionText != "" {
			text += ": " + p.decisionText
		}
		waitingLines = append(waitingLines, text)
	}
	if p.DidNotAnswer && len(p.HoldUps) == 0 {
		waitingLines = append(waitingLines, "? (it did not answer in time)")
	}
	return print.Compact(strings.Join(waitingLines, "; "), maxWaitingTextWidth)
}

// maxWaitingTextWidth bounds the text of waitingText, in characters; list --json has all of it.
const maxWaitingTextWidth = 90
