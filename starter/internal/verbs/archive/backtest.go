package archive

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/backtest"
	"processidea/client/ideafiles"
	"processidea/internal/flags"
	comparison "processidea/learn/backtest"
	"processidea/llm"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/worker/engine"
)

// backtestOptions holds the flags of backtest.
type backtestOptions struct {
	repliesFile    string
	asksLLM        bool
	maxDifferences int
}

// Backtest runs a new process over the instances of finished ones.
func Backtest(a *app.App) *cobra.Command {
	var o backtestOptions
	c := app.NewCommand("backtest FILE|FOLDER ID...",
		"Say what a new Plan, policy, prompt or Tool would change for the instances of finished processes",
		`Run a new Idea file over the instances of finished processes, with the results that Calls
had then, and say what would differ. No tool, server or person is asked, and nothing is
written. It reads the chains from the store and needs no server.

Two Calls are the same if their Tool and resolved parameters are. People's decisions count
again for the same Call. A Call that did not run then has no result: it is named, and what
depends on it is unknown.

If the new Idea makes Requests, each instance gets what the LLM planned for it then.
--replies FILE lets recorded replies answer instead, --llm the configured LLM. With
--max-differences N the exit code is 1 if more than N instances are not the same.`,
		`  starter backtest hardened.json moderation-1 moderation-2
  starter backtest refunds-with-new-policy.json refunds-1 --max-differences 0
  starter backtest other-prompt.json refunds-1 --replies other-replies.jsonl --json`,
		func(ctx context.Context, args []string) error { return runBacktest(ctx, a, args[0], args[1:], o) })
	c.Flags().StringVar(&o.repliesFile, "replies", "", "`file` of recorded replies that answer the new Idea's Requests")
	c.Flags().BoolVar(&o.asksLLM, "llm", false, "ask the LLM that is configured")
	o.maxDifferences = -1
	flags.Int(c.Flags(), &o.maxDifferences, "max-differences", -1, jsonval.MaxCount,
		"exit with 1 if more than `N` instances are not the same, from 0; -1: no limit")
	_ = c.MarkFlagFilename("replies")
	return c
}

// runBacktest runs a new Idea over past instances, and prints what would differ.
func runBacktest(ctx context.Context, a *app.App, file string, processIDs []string, o backtestOptions) error {
	options := backtest.Options{ProcessIDs: processIDs}
	if err := o.chooseLLM(&options); err != nil {
		return err
	}
	source, err := ideafiles.Find(file, "", o.repliesFile)
	if err != nil {
		return err
	}
	p, err := a.Place()
	if err != nil {
		return err
	}
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		report, problems, err := backtest.Run(ctx, archive, source, p.Tools(), options)
		if err != nil {
			return err
		}
		a.PrintProblems(file, problems)
		if err := a.Show(report, backtestText(report)); err != nil {
			return fmt.Errorf("print backtest: %w", err)
		}
		if o.maxDifferences >= 0 && report.DifferingCount() > o.maxDifferences {
			a.Note("backtest: %s not the same; at most %d may differ",
				print.PluralWithVerb(report.DifferingCount(), "instance"), o.maxDifferences)
			return exit.WithCode(exit.Failed)
		}
		return nil
	})
}

// chooseLLM sets the environment's LLM as the one to ask, if --llm was given.
func (o backtestOptions) chooseLLM(options *backtest.Options) error {
	if !o.asksLLM {
		return nil
	}
	if o.repliesFile != "" {
		return exit.Usagef("backtest: --llm and --replies exclude each other")
	}
	config := engine.LLMFromEnvironment(os.Getenv)
	if !config.IsConfigured() {
		return exit.Usagef("backtest: no LLM is configured: set OPENAI_API_KEY or OPENAI_BASE_URL")
	}
	llmClient, err := llm.New(config)
	if err != nil {
		return exit.Usagef("backtest: %w", err)
	}
	options.LLM = llmClient
	return nil
}

// backtestText formats a report for people: the counts, the kinds of differences with their number of instances, and a
// table of the instances that differ or are unknown.
func backtestText(r *backtest.Report) string {
	var b strings.Builder
	plannerText := map[string]string{backtest.PlanSourceRecorded: "as the LLM planned then",
		backtest.PlanSourceReplies: "by recorded replies",
		backtest.PlanSourceLLM:     "by the LLM"}[r.PlanSource]
	if r.RequestCount == 0 {
		plannerText = "without a Request"
	}
	fmt.Fprintf(&b, "%s, run %s, with the results of %s\n", print.Plural(len(r.Instances), "instance"), plannerText,
		print.Plural(r.ExecutedCallCount, "Call"))
	fmt.Fprintf(&b, "%d the same, %d different, %d not known\n", r.SameCount, r.DifferentCount, r.UnknownCount)
	if r.Approvals != (comparison.ApprovalCounts{}) {
		fmt.Fprintf(&b, "asked about then: %s; now: %d", print.Plural(r.Approvals.Recorded, "Call"),
			r.Approvals.Replayed)
		if r.Approvals.Automatic > 0 {
			fmt.Fprintf(&b, "; nobody had decided on %d of them: approved here", r.Approvals.Automatic)
		}
		b.WriteString("\n")
	}
	for _, l := range r.SkippedInstances {
		print.Fprintf(&b, "left out: %s: %s\n", strings.TrimSuffix(l.ProcessID+"/"+l.Instance, "/"),
			l.Reason)
	}
	if len(r.DifferenceGroups) > 0 {
		b.WriteString("\n")
	}
	for _, g := range r.DifferenceGroups {
		print.Fprintf(&b, "%s\n", g)
	}
	for _, d := range r.OutputDifferences {
		print.Fprintf(&b, "%s\n", d.Text)
	}
	return b.String() + differingInstanceTable(r)
}

// differingInstanceTable has one line for each instance that is not the same: the number of differences and the first
// of them.
func differingInstanceTable(r *backtest.Report) string {
	if r.DifferingCount() == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ninstance\tverdict\tdifferences\tfirst difference\n")
	for _, i := range r.Instances {
		firstDifference := ""
		switch {
		case len(i.Differences) > 0:
			firstDifference = i.Differences[0].Text
		case len(i.UnknownReasons) > 0:
			firstDifference = i.UnknownReasons[0]
		}
		if i.Verdict != comparison.VerdictSame {
			print.Fprintf(w, "%s\t%s\t%d\t%s\n", i.Name(len(r.ProcessIDs) > 1), i.Verdict,
				len(i.Differences), firstDifference)
		}
	}
	_ = w.Flush() // a strings.Builder never fails
	return b.String()
}
