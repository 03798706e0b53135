package archive

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

// Show prints an Idea of a process.
func Show(a *app.App) *cobra.Command {
	ideaNumber, countsActions := 0, false
	c := app.NewCommand("show ID", "Print an Idea of a process, as a file that run accepts",
		`Print an Idea of a process's chain, the latest or the one of a number, as a file that run
accepts. It reads the store and needs no server. If a server answers, standard error says
what holds the process up.

--actions instead counts, by kind, the actions that a hosted Temporal bills, from those
histories of the process, its instances and its delegates that the server still keeps.
Queries and heartbeats are not counted.`,
		`  starter show refund-17
  starter show refund-17 --at 2 > again.json
  starter show refund-17 --actions --json`,
		func(ctx context.Context, args []string) error {
			if countsActions && ideaNumber > 0 {
				return exit.Usagef("show %s: --actions is about the whole process, not the Idea of --at", args[0])
			}
			if countsActions {
				return showActions(ctx, a, args[0])
			}
			return runShow(ctx, a, args[0], ideaNumber)
		})
	flags.Int(c.Flags(), &ideaNumber, "at", 1, jsonval.MaxCount, "`number` of the Idea, from 1 (default the latest)")
	c.Flags().BoolVar(&countsActions, "actions", false, "count the actions that a hosted Temporal bills")
	return c
}

func showActions(ctx context.Context, a *app.App, id string) error {
	return a.WithProcess(ctx, id, func(p *client.Process) error {
		actionCounts, err := p.CountBilledActions(ctx)
		if err != nil {
			return err
		}
		return a.Show(actionCounts, fmt.Sprintf("%s has used %d actions in %d workflow runs: %s\n", id,
			actionCounts.Total,
			actionCounts.RunCount, actionCounts.ByKind))
	})
}

func runShow(ctx context.Context, a *app.App, id string, ideaNumber int) error {
	return withArchiveNotingHoldUps(ctx, a, id, ideaNumber, func(archive *client.Archive) error {
		idea, err := archive.Chain(id).Load(ctx, ideaNumber)
		if err != nil {
			return err
		}
		undoneCalls, err := archive.Chain(id).UndoneCalls(ctx)
		if err != nil {
			return err
		}
		if len(undoneCalls) > 0 {
			idea["meta"] = jsonval.OverlayObject(idea["meta"],
				jsonval.Object{"undone": jsonval.ToJSONValue(undoneCalls)})
		}
		parsedIdea, _ := ideafile.ReadIdeaWithoutCheckingTools(idea)
		counts := ideafile.CountStepOutcomes(parsedIdea.Context)
		if len(counts) > 0 {
			idea["meta"] = jsonval.OverlayObject(idea["meta"],
				jsonval.Object{ideafile.StepCountsMetaKey: jsonval.ToJSONValue(counts)})
		}
		if a.WritesJSON {
			return a.Print(jsonval.EncodeToString(idea) + "\n")
		}
		for _, c := range counts {
			a.Note("%s", c)
		}
		naming := print.InstanceNamingOf(parsedIdea, client.LanguageOf(ctx))
		noteIdeaAge(a, id, idea)
		if names := naming.DescribeInstances(parsedIdea.InstanceTokens()); len(names) > 0 {
			a.Note("%s: %s: %s", id, print.Plural(len(names), "instance"), diag.SummarizeNames(names))
		}
		noteUndoneCalls(a, id, idea, undoneCalls, naming)
		noteBatchAndQuality(a, id, idea)
		return a.Print(print.IndentJSON(idea) + "\n")
	})
}

// noteIdeaAge says on standard error how old an Idea is.
func noteIdeaAge(a *app.App, id string, idea jsonval.Object) {
	meta := jsonval.AsObject(idea["meta"])
	if sealedAt, err := time.Parse(time.RFC3339Nano, jsonval.AsText(meta["createdAt"])); err == nil {
		a.Note("Idea %s of %s was %s", fmt.Sprint(meta["at"]), id, sealedText(sealedAt))
	}
}

// noteBatchAndQuality prints to standard error how many instances a Request covers, and the measured quality of its
// answers.
func noteBatchAndQuality(a *app.App, id string, ideaObject jsonval.Object) {
	idea, _ := ideafile.ReadIdea(ideaObject)
	if p, err := a.Place(); err == nil && idea != nil {
		if text := p.Tools().BatchSizeText(idea); text != "" {
			a.Note("%s: %s", id, strings.TrimSuffix(text, "\n"))
		}
	}
	for _, line := range quality.ReadReport(jsonval.AsObject(ideaObject["meta"])).Lines() {
		a.Note("%s: %s", id, line)
	}
}

// noteUndoneCalls prints to standard error which Calls of a process were undone, and what the process itself undoes.
func noteUndoneCalls(a *app.App, id string, idea jsonval.Object, undoneCalls []client.UndoneCall,
	naming print.InstanceNaming) {
	if text := undoesText(jsonval.Lookup(idea, "meta", "undoes")); text != "" {
		a.Note("%s: %s", id, strings.TrimSuffix(text, "\n"))
	}
	for len(undoneCalls) > 0 {
		var callIDs []string
		firstCall, remainingCalls := undoneCalls[0], []client.UndoneCall{}
		for _, t := range undoneCalls {
			if t.UndoID == firstCall.UndoID && t.By == firstCall.By && t.Reason == firstCall.Reason {
				callIDs = append(callIDs, naming.DescribeCall(t.CallID))
			} else {
				remainingCalls = append(remainingCalls, t)
			}
		}
		a.Note("%s undone by %s, for %s: %s (%s)", print.PluralWithVerb(len(callIDs), "Call"), firstCall.UndoID,
			firstCall.By,
			firstCall.Reason, diag.SummarizeNames(callIDs))
		undoneCalls = remainingCalls
	}
}

// serverAnswerTimeout is the maximum wait for a server to add what the store does not know. If no server answers, the
// output is from the store alone.
const serverAnswerTimeout = 5 * time.Second

// withArchiveNotingHoldUps is WithArchive for verbs that show a process up to an Idea. For the latest Idea, 0, it also
// notes what holds the process up, even if that is why there is no Idea.
func withArchiveNotingHoldUps(ctx context.Context, a *app.App, id string, ideaNumber int,
	do func(*client.Archive) error) error {
	err := a.WithArchive(ctx, do)
	if ideaNumber == 0 && !a.WritesJSON {
		warnIfHeldUp(ctx, a, id)
	}
	return err
}

// warnIfHeldUp prints to standard error what holds a process up, if a server answers: this explains why the latest Idea
// may be old.
func warnIfHeldUp(ctx context.Context, a *app.App, id string) {
	ctx, cancel := context.WithTimeout(ctx, serverAnswerTimeout)
	defer cancel()
	_ = a.WithProcess(ctx, id, func(p *client.Process) error {
		holdUps, err := p.HoldUps(ctx)
		for _, h := range holdUps {
			a.Note("%s: %s", id, h)
			if h.Remedy != "" {
				a.Note("%s: %s", id, h.Remedy)
			}
		}
		return err
	})
}

// noteLatestIdea says on standard error how old the latest Idea of a process is, and what holds the process up.
func noteLatestIdea(ctx context.Context, a *app.App, c *client.Chain, id string) {
	if lastLink, err := c.Link(ctx, 0); err == nil {
		a.Note("Idea %d of %s, the latest, was %s", lastLink.IdeaNumber, id, sealedText(lastLink.Created))
	}
	warnIfHeldUp(ctx, a, id)
}

// valueFormat is how values are printed: one per line, cut to the line's width unless whole is set.
type valueFormat struct{ isUncut bool }

func (v *valueFormat) addFlag(c *cobra.Command) {
	c.Flags().BoolVar(&v.isUncut, "whole", false, "print values whole, not cut to the width of a line")
}

// text is a value as JSON on one line.
func (v valueFormat) text(value any) string { return v.fitWidth(jsonval.EncodeToString(value)) }

func (v valueFormat) fitWidth(text string) string {
	if text = print.Printable(text); v.isUncut {
		return text
	}
	return print.FitWidth(text, print.MaxValueWidth)
}
