package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/store/chain"
)

// forkOptions is a command line of fork.
type forkOptions struct {
	runOptions
	at      int
	changes changes
}

func (a *app) forkVerb() *cobra.Command {
	var o forkOptions
	c := &cobra.Command{
		Use:   "fork ID --at K",
		Short: "Start a new process from an Idea of another",
		Long: `Start a new process from Idea K of a process's chain, running, ended or long expired:
the Idea is read from the store. The new process goes on where the other one stood when
its Request K was made: that Request is made again. Paths that hold a value stay closed,
Calls that were done are not done again, those that were under way are taken up, pending
approvals are asked again, and instances that had ended stay so, unless what is changed
is about them or --reopen names them. The other process is left as it is.

Changes: --unset and --set change values of State (the path as blame takes it, the value
as JSON), --state merges a file into the States ({"TOKEN": {…}}, or one State where there
are no tokens), --input adds to the input, --plan brings a Plan as a guide, --file brings
messages, Tools or configuration that come after those of the Idea, --llm another LLM.

Effects that Calls had in the outside world are there for both processes.`,
		Example: `  starter fork refund-17 --at 3
  starter fork moderation-3 --at 2 --set '①:sentiment="neutral"' --id second-look
  starter fork refund-17 --at 3 --file stricter.yaml --llm gpt-5 --wait 10m`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.server.worker, o.named = true, c.Flags().Changed("id")
			if !c.Flags().Changed("at") {
				return misuse("fork %s: --at is missing, the number of the Idea: see starter history %s", args[0], quote(args[0]))
			}
			return a.fork(c.Context(), args[0], o)
		},
	}
	c.Flags().IntVar(&o.at, "at", 0, "`number` of the Idea, from 1")
	c.Flags().StringVar(&o.source.replies, "replies", "", "`file` of recorded replies that answer in place of an LLM")
	_ = c.MarkFlagFilename("replies")
	o.changes.flags(c)
	runFlags(c, &o.runOptions)
	c.Flags().Lookup("id").Usage = "the new process's `id` (default ID-fork-N)"
	return c
}

// fork starts a new process from an Idea of a chain, and waits.
func (a *app) fork(ctx context.Context, of string, o forkOptions) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	m, err := a.prepareFork(ctx, p, of, &o)
	if err != nil {
		return err
	}
	return a.launch(ctx, p, m, o.runOptions)
}

// prepareFork makes what the process is started from: what is wrong is said before anything starts.
func (a *app) prepareFork(ctx context.Context, p place, of string, o *forkOptions) (*material, error) {
	if err := o.check(p); err != nil {
		return nil, err
	}
	idea, err := p.forked(ctx, of, o.at)
	if err == nil {
		idea, err = o.changes.apply(idea)
	}
	if err != nil {
		return nil, err
	}
	o.source.given, o.source.scripted = fmt.Sprintf("Idea %d of %s", o.at, of), o.source.replies != ""
	m, problems := &material{source: o.source, idea: idea, withSolution: o.withSolution}, diag.Problems(nil)
	m.read, problems = ideafile.ReadIdea(idea)
	if err := m.readReplies(&problems); err != nil {
		return nil, err
	}
	problems = append(problems, knownTools(p).check(m.read)...)
	if err := a.prepared(p, m, problems, o.record); err != nil {
		return nil, err
	}
	if !o.named {
		o.forkOf = of
	}
	a.warnOfFork(of, m)
	return m, nil
}

// forked reads an Idea from the store, as the first of a process of its own.
func (p place) forked(ctx context.Context, of string, at int) (map[string]any, error) {
	c, err := p.openArchive(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if at < 1 {
		return nil, misuse("fork Idea %d of %s: Ideas are numbered from 1", at, of)
	}
	if at, err = c.number(ctx, "fork", of, at); err != nil {
		return nil, err
	}
	idea, err := c.Load(ctx, of, at)
	if err != nil {
		return nil, err
	}
	return chain.Fork(idea), nil
}

// warnOfFork says what the new process takes up, and what it shares with the other.
func (a *app) warnOfFork(of string, m *material) {
	asked, again := 0, 0
	mind := loop.New(m.read, "", nil, time.Time{})
	for _, t := range mind.TakeResumed() {
		for _, c := range t.Calls {
			if c.ReviewReason != "" {
				asked++
			} else {
				again++
			}
		}
	}
	if asked > 0 {
		a.note("%s asked about again", isAre(asked, "Call"))
	}
	if again > 0 {
		a.note("%s taken up that had not ended at that moment; what had its effect since has it twice", isAre(again, "Call"))
	}
	if ended := len(mind.TakeEnded()); ended > 0 {
		a.note("%s left as settled or failed; --reopen TOKEN, or all, plans for them anew", isAre(ended, "instance"))
	}
	a.note("effects in the outside world are shared: what Calls of %s did there is done, and nothing here undoes it", of)
}

func isAre(n int, what string) string {
	if n == 1 {
		return plural(n, what) + " is"
	}
	return plural(n, what) + " are"
}
