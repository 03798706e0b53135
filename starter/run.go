package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"processidea/model/diag"
)

// runOptions is a command line of run.
type runOptions struct {
	source source
	id     string
	named  bool // the id was given
	record string
	detach bool
	wait   time.Duration
	server hosting
	// withSolution takes up the Calls of the Idea's solution.
	withSolution bool
	// forkOf is the process of whose Idea an unnamed one is a fork.
	forkOf string
}

func (a *app) runVerb() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run FILE|FOLDER",
		Short: "Start a process, show its progress and print its result",
		Long: `Start a process from an Idea file, JSON or YAML, show its progress on standard
error and print its result on standard output.

A folder stands for its idea.json (or .yaml), instances.jsonl (or .csv) and
replies.jsonl; what a flag names counts instead. The replies of a folder answer
where no LLM is configured: with OPENAI_API_KEY or OPENAI_BASE_URL the same command
plans with the real one.

A second run with the same id and the same files attaches to the process, whether
it is still at work or has ended.`,
		Example: `  starter run examples/moderation
  starter run refund.json --id refund-17 --wait 10m
  starter run moderation.yaml --instances comments.csv --json
  starter run plan.json --record replies.jsonl
  starter run again.json --with-solution`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.server.worker, o.named = true, c.Flags().Changed("id")
			return a.run(c.Context(), args[0], o)
		},
	}
	sourceFlags(c, &o.source)
	runFlags(c, &o)
	return c
}

func runFlags(c *cobra.Command, o *runOptions) {
	hostingFlags(c, &o.server)
	c.Flags().StringVar(&o.id, "id", "", "the process's `id`; one is made up where none is given")
	c.Flags().StringVar(&o.record, "record", "", "write what the LLM says to `file`, as replies")
	c.Flags().BoolVar(&o.withSolution, "with-solution", false, "take up the Calls of the Idea's solution, minus those that its record calls done")
	c.Flags().BoolVar(&o.detach, "detach", false, "start the process and return at once")
	waitFlag(c, &o.wait)
}

func hostingFlags(c *cobra.Command, h *hosting) {
	c.Flags().IntVar(&h.port, "port", 0, "`port` of the embedded server on 127.0.0.1 (default a free one)")
	c.Flags().IntVar(&h.uiPort, "ui-port", 0, "`port` of its web UI (default a free one; -1: no UI)")
}

func waitFlag(c *cobra.Command, wait *time.Duration) {
	c.Flags().DurationVar(wait, "wait", 0, "return after so long even if the process is still at work (default: wait for its end)")
}

// run starts a process or attaches to it, and waits.
func (a *app) run(ctx context.Context, given string, o runOptions) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	m, err := a.prepare(p, given, &o)
	if err != nil {
		return err
	}
	return a.launch(ctx, p, m, o)
}

// launch starts a process, or attaches to it, and waits.
func (a *app) launch(ctx context.Context, p place, m *material, o runOptions) error {
	var t *tape
	if o.record != "" {
		t = &tape{path: o.record}
		o.server.heard = t.heard
	}
	s, err := a.enterFor(ctx, p, o)
	if err != nil {
		return err
	}
	r := &runner{app: a, session: s, material: m, options: o, tape: t}
	err = r.run(ctx)
	r.session.close()
	if broken := t.stop(); broken != nil {
		a.note("%s", broken)
		if err == nil {
			err = &exit{code: exitFailed}
		}
	}
	return err
}

// prepare reads and checks everything that the process is started from: what is wrong is said before anything starts.
func (a *app) prepare(p place, given string, o *runOptions) (*material, error) {
	if err := o.check(p); err != nil {
		return nil, err
	}
	if err := o.source.find(given); err != nil {
		return nil, err
	}
	m, problems, err := load(o.source, knownTools(p))
	if err != nil {
		return nil, err
	}
	m.withSolution = o.withSolution
	if err := a.prepared(p, m, problems, o.record); err != nil {
		return nil, err
	}
	if !o.named {
		o.id = newID(o.source.name())
	}
	return m, nil
}

// prepared says what is wrong with the material, and who will answer.
func (a *app) prepared(p place, m *material, problems diag.Problems, record string) error {
	if len(problems.Errors()) > 0 {
		return &invalid{m.source.given, problems}
	}
	a.complain(m.source.given, problems)
	if m.read.Simulated != nil {
		return misuse("run %s: it is a simulation, in which values are made up: simulate goes on with it; without meta.simulated "+
			"and the messages' _simulated it is taken for real", m.source.given)
	}
	if err := p.chooseScript(m); err != nil {
		return err
	}
	if m.script != "" && record != "" {
		return misuse("record %s: no LLM is asked, a script answers: %s", record, m.source.replies)
	}
	switch {
	case m.script != "":
		a.note("no LLM is asked: a script answers, %s", m.source.replies)
	case p.remote == nil && !llmHere():
		a.note("no LLM is configured: the Plan runs without one")
	}
	return nil
}

// check refuses flags that cannot be meant.
func (o *runOptions) check(p place) error {
	if o.named {
		if err := checkID(o.id); err != nil {
			return misuse("run as %q: %w", o.id, err)
		}
	}
	switch {
	case o.wait < 0:
		return misuse("wait %s: it is negative", o.wait)
	case o.server.port < 0:
		return misuse("listen on port %d: it is negative", o.server.port)
	case o.record != "" && p.remote != nil:
		return misuse("record %s: the worker that asks the LLM is not in this program", o.record)
	case o.record != "" && o.detach:
		return misuse("record %s: not with --detach", o.record)
	}
	return nil
}

// enterFor opens the session that the options ask for.
func (a *app) enterFor(ctx context.Context, p place, o runOptions) (*session, error) {
	if o.detach {
		s, err := p.visit(ctx)
		if err != nil && p.remote == nil {
			return nil, misuse(`detach: no server runs in %s that would go on with the process; start one with "starter dev"`, p.data)
		}
		return s, err
	}
	s, err := p.enter(ctx, o.server)
	if err == nil && o.record != "" && !s.own {
		s.close()
		return nil, misuse("record %s: the worker that asks the LLM is not in this program: another one runs the server in %s",
			o.record, p.data)
	}
	return s, err
}
