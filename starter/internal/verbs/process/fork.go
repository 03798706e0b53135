package process

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/internal/flags"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// forkOptions holds the flags of fork.
type forkOptions struct {
	launchOptions
	sourceProcessID string // the process
	ideaNumber      int    // the number of its Idea
	repliesPath     string
	changes         ideafiles.ForkChanges
	// undoesFirst first takes back what the other process did after the Idea, on behalf of actor. isConfirmed skips the
	// question.
	undoesFirst, isConfirmed bool
	undoActor                client.Actor
}

// Fork starts a new process from an Idea of another.
func Fork(a *app.App) *cobra.Command {
	var o forkOptions
	c := &cobra.Command{
		Use:   "fork ID --at K",
		Short: "Start a new process from an Idea of another",
		Long: `Start a new process from Idea K of a process's chain, whether that process runs, has ended
or has long expired. It begins where the other one stood before its Request K, and makes
that Request again. Paths that hold a value stay closed, done Calls are not done again,
Calls under way are taken up, and people are asked again. Ended instances stay ended, unless
you change them or --reopen names them. The other process stays as it is.

Changes: --unset and --set change values of State (the path as for blame, the value as
JSON). --state merges a file into the States ({"TOKEN": {…}}, or one State where there are
no tokens). --input adds to the input, --plan adds a Plan as a guide, --file adds messages,
Tools or configuration, and --llm names another LLM.

What Calls did in the outside world counts for both processes. --undo first takes back what
an ended process did after Idea K, as "undo --to K" does.`,
		Example: `  starter fork refund-17 --at 3
  starter fork moderation-3 --at 2 --set '①:sentiment="neutral"' --id second-look
  starter fork refund-17 --at 3 --file stricter.yaml --llm gpt-5 --wait 10m`,
		RunE: func(c *cobra.Command, args []string) error {
			o.hostOptions.RunsWorker, o.hasExplicitID, o.sourceProcessID = true, c.Flags().Changed("id"), args[0]
			if !c.Flags().Changed("at") {
				return exit.Usagef("fork %s: --at, the number of the Idea, is missing: see %s history %s",
					o.sourceProcessID,
					print.ProgramName, print.ShellQuote(o.sourceProcessID))
			}
			return runFork(c.Context(), a, o)
		},
	}
	f := c.Flags()
	flags.Int(f, &o.ideaNumber, "at", 1, jsonval.MaxCount, "`number` of the Idea, from 1")
	addRepliesFlag(c, &o.repliesPath)
	addChangesFlags(c, &o.changes)
	f.BoolVar(&o.undoesFirst, "undo", false, "take back first what the process did after the Idea")
	f.BoolVar(&o.isConfirmed, "yes", false, "with --undo: do not ask")
	f.StringVar(&o.undoActor.Name, "by", "", "with --undo: the `name` of the person who takes it back (default: "+
		"the user's)")
	f.StringVar(&o.undoActor.Reason, "reason", "", "with --undo: why, for the record")
	o.addFlags(c)
	f.Lookup("id").Usage = "the new process's `id` (default ID-fork-N)"
	return c
}

func addChangesFlags(command *cobra.Command, c *ideafiles.ForkChanges) {
	f := command.Flags()
	f.StringArrayVar(&c.ValuesToSet, "set", nil, "`TOKEN:path=JSON`: put a value into State")
	f.StringArrayVar(&c.ValuesToUnset, "unset", nil, "`TOKEN:path`: take a value out of State, so that it can be written again")
	f.StringVar(&c.StateFile, "state", "", "`file` to merge into the States")
	f.StringVar(&c.InputFileOrJSON, "input", "", "`file`, or JSON, to add to the input")
	f.StringVar(&c.PlanFile, "plan", "", "`file` with a Plan: a list of Calls, or a plan message")
	f.StringVar(&c.AddedFile, "file", "", "Idea `file`, whole or in part, or list of messages, to add after the Idea")
	f.StringVar(&c.LLMName, "llm", "", "`name` of the LLM to ask")
	f.StringSliceVar(&c.InstanceTokensToReopen, "reopen", nil, "`TOKEN` of an ended instance to plan for again; or all")
	for _, name := range []string{"state", "plan", "file"} {
		_ = command.MarkFlagFilename(name)
	}
}

// runFork starts a new process from an Idea of a chain, and waits.
func runFork(ctx context.Context, a *app.App, o forkOptions) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	d, err := prepareFork(ctx, a, p, &o)
	if err == nil && o.undoesFirst {
		err = undoBeforeFork(ctx, a, o)
	}
	if err != nil {
		return err
	}
	return launchAndFollow(ctx, a, p, d, o.launchOptions)
}

// prepareFork makes the definition to start from. It reports errors before anything starts.
func prepareFork(ctx context.Context, a *app.App, p server.Place, o *forkOptions) (*ideafiles.Definition, error) {
	if err := o.validate(p); err != nil {
		return nil, err
	}
	idea, err := forkedIdea(ctx, p, o)
	if err != nil {
		return nil, err
	}
	d := &ideafiles.Definition{Idea: idea, Source: ideafiles.Source{
		GivenPath: fmt.Sprintf("Idea %d of %s", o.ideaNumber, o.sourceProcessID), RepliesPath: o.repliesPath,
		AreRepliesFromCaller: o.repliesPath != "",
	}}
	var problems diag.Problems
	d.ParsedIdea, problems = ideafile.ReadIdea(idea)
	if err := d.ReadReplies(p.Tools(), &problems); err != nil {
		return nil, err
	}
	problems.Append(p.Tools().Problems(d.ParsedIdea)...)
	if err := d.ReadDelegates(p.Tools(), &problems); err != nil {
		return nil, err
	}
	if err := checkDefinition(a, p, d, problems, o.recordedRepliesFile); err != nil {
		return nil, err
	}
	o.forkSourceID = o.sourceProcessID
	warnOfFork(a, o, d)
	return d, nil
}

// forkedIdea reads the Idea from the store, and changes it.
func forkedIdea(ctx context.Context, p server.Place, o *forkOptions) (jsonval.Object, error) {
	archive, err := p.OpenArchive(ctx)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	idea, err := archive.Chain(o.sourceProcessID).ForkedIdea(ctx, o.ideaNumber)
	if err != nil {
		return nil, err
	}
	o.changes.KeepsSolution = o.runsSolution
	return o.changes.Apply(idea)
}

// warnOfFork says what the new process continues, and what it shares with the other.
func warnOfFork(a *app.App, o *forkOptions, d *ideafiles.Definition) {
	effects := client.ForkEffectsOf(d.ParsedIdea)
	if effects.CallsToReviewCount > 0 {
		a.Note("%s asked about again", print.PluralWithVerb(effects.CallsToReviewCount, "Call"))
	}
	if effects.ResumedCallCount > 0 {
		a.Note("%s run again, not ended at that moment; effects since then happen twice",
			print.Plural(effects.ResumedCallCount, "Call"))
	}
	if len(effects.ResumedDelegateCallIDs) > 0 {
		a.Note("delegates that were running then continue from what they had done: those of %s",
			strings.Join(effects.ResumedDelegateCallIDs, ", "))
	}
	if len(effects.RestartedDelegateCallIDs) > 0 {
		a.Note("delegates that had done nothing yet start again: those of %s",
			strings.Join(effects.RestartedDelegateCallIDs, ", "))
	}
	if len(effects.ForgottenInstanceTokens) > 0 {
		a.Note("%s forgotten in %s, and left out", strings.Join(effects.ForgottenInstanceTokens, ", "),
			o.sourceProcessID)
	}
	if effects.EndedInstanceCount > 0 {
		a.Note("%s left settled or failed; --reopen TOKEN, or all, plans for them again",
			print.PluralWithVerb(effects.EndedInstanceCount, "instance"))
	}
	otherPrefix := ""
	for _, text := range effects.UndoneCallTexts {
		otherPrefix = "other "
		a.Note("%s", text)
	}
	if !o.undoesFirst {
		a.Note("what %sCalls of %s did in the outside world is done: a fork does not undo it", otherPrefix,
			o.sourceProcessID)
	}
}
