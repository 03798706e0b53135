package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"processidea/model/ideafile"
)

// simulateOptions is a command line of simulate.
type simulateOptions struct {
	source  source
	schemas bool
	tools   string
	keep    string
	wait    time.Duration
}

func (a *app) simulateVerb() *cobra.Command {
	var o simulateOptions
	c := &cobra.Command{
		Use:   "simulate FILE|FOLDER",
		Short: "Try a process out without touching anything",
		Long: `Run a process as run would, with every Tool played: no tool, MCP server or person is
asked, whatever the file says. Requests go to the LLM that is configured, which plays the
Tools too; without one, recorded replies answer, or Plans and values are made up from the
schemas. Data that the file does not bring are made up as well. Approvals are given by
"simulated".

It reports Requests, tokens, Calls by Tool, what stayed open, and the Plan as a graph.
Everything is written to a folder of its own, which is thrown away: --keep leaves it, and
the other verbs read it with --data. What was simulated says so wherever it stands.`,
		Example: `  starter simulate examples/refunds
  starter simulate refund.json --schemas
  starter simulate refund.json --tools schemas --keep trial
  starter show --data trial ID`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.simulate(c.Context(), args[0], o) },
	}
	sourceFlags(c, &o.source)
	c.Flags().BoolVar(&o.schemas, "schemas", false, "ask no LLM and no script: make Plans and values up from the schemas")
	c.Flags().StringVar(&o.tools, "tools", "", "who plays the Tools: llm or schemas (default the one who plans)")
	c.Flags().StringVar(&o.keep, "keep", "", "leave everything in `folder`, which must be new or empty")
	waitFlag(c, &o.wait)
	return c
}

// simulate runs a process with every Tool played, and reports what it came to.
func (a *app) simulate(ctx context.Context, given string, o simulateOptions) error {
	if err := a.mayKeep(o); err != nil {
		return err
	}
	if err := o.source.find(given); err != nil {
		return err
	}
	made, err := a.prepareSimulation(given, &o)
	if err != nil {
		return err
	}
	p, tidy, err := a.apart(o.keep)
	if err != nil {
		return err
	}
	defer tidy()
	return a.runSimulation(ctx, p, made, o)
}

// mayKeep refuses flags that cannot be meant: a simulation never comes near the folder of real processes.
func (a *app) mayKeep(o simulateOptions) error {
	switch {
	case a.data != "":
		return misuse("simulate in %s: a simulation has a folder of its own; --keep FOLDER leaves it there", a.data)
	case o.wait < 0:
		return misuse("wait %s: it is negative", o.wait)
	case o.tools != "" && o.tools != ideafile.FakedByLLM && o.tools != ideafile.FakedBySchemas:
		return misuse("simulate: --tools %s: want llm or schemas", o.tools)
	case o.schemas && (o.source.replies != "" || o.tools == ideafile.FakedByLLM):
		return misuse("simulate: --schemas asks nobody: not with --replies or --tools llm")
	case o.keep == "":
		return nil
	}
	entries, err := os.ReadDir(o.keep)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return misuse("keep simulation in %s: %w", o.keep, cause(err))
	}
	if len(entries) > 0 {
		return misuse("keep simulation in %s: the folder is not empty", o.keep)
	}
	return nil
}

// apart is a place of the simulation's own: no server and no store that anything real is in.
func (a *app) apart(keep string) (p place, tidy func(), err error) {
	tidy = func() {}
	if keep == "" {
		if keep, err = os.MkdirTemp("", "processidea-simulation-"); err != nil {
			return p, tidy, misuse("make folder for simulation: %w", err)
		}
		folder := keep
		tidy = func() { _ = os.RemoveAll(folder) }
	}
	data, err := filepath.Abs(keep)
	return place{data: data, store: filepath.Join(data, "store"), note: a.note}, tidy, err
}

func (a *app) runSimulation(ctx context.Context, p place, made *simulation, o simulateOptions) error {
	run := runOptions{
		source: o.source, id: newID("simulated-" + o.source.name()), wait: o.wait,
		server: hosting{uiPort: -1, worker: true, apart: true},
	}
	s, err := p.enter(ctx, run.server)
	if err != nil {
		return err
	}
	r := &runner{app: a, session: s, material: made.material, options: run}
	defer func() { r.session.close() }()
	if _, err := r.start(ctx); err != nil {
		return err
	}
	result, err := r.follow(ctx)
	if err != nil {
		return err
	}
	report, err := r.report(ctx, made, result)
	if err != nil {
		return err
	}
	if o.keep != "" {
		report.Data = p.data
	}
	return a.printSimulation(report)
}
