package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/model/ideafile"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/server"
)

// simulateOptions holds the flags of simulate.
type simulateOptions struct {
	files   fileFlags
	schemas bool
	tools   string
	keep    string
	wait    time.Duration
}

// Simulate runs a process without touching anything outside.
func Simulate(a *app.App) *cobra.Command {
	var o simulateOptions
	c := app.Verb("simulate FILE|FOLDER", "Try a process out without touching anything",
		`Try a process as run would run it, but with every Tool played: no tool, MCP server or person
is asked, whatever the file says. The configured LLM plans and plays the Tools. Without one,
recorded replies answer, or Plans and values are made up from the schemas. Missing data is
made up too. "simulated" gives all approvals.

It reports Requests, tokens, Calls by Tool, what stayed open, and the Plan as a graph. Its
files are thrown away; --keep keeps them in a folder, for the other verbs to read with
--data. Everything simulated is marked as such.`,
		`  starter simulate examples/refunds
  starter simulate refund.json --schemas
  starter simulate refund.json --tools schemas --keep trial
  starter show --data trial ID`,
		func(ctx context.Context, args []string) error { return runSimulate(ctx, a, args[0], o) })
	o.files.add(c)
	c.Flags().BoolVar(&o.schemas, "schemas", false,
		"ask no LLM and no script: make Plans and values up from the schemas")
	c.Flags().StringVar(&o.tools, "tools", "", "who plays the Tools: llm or schemas (default the one who plans)")
	c.Flags().StringVar(&o.keep, "keep", "", "leave everything in `folder`, which must be new or empty")
	addWaitFlag(c, &o.wait)
	return c
}

// runSimulate runs a process with simulated Tools, and reports the outcome.
func runSimulate(ctx context.Context, a *app.App, given string, o simulateOptions) error {
	if err := o.validate(a); err != nil {
		return err
	}
	source, err := o.files.find(given)
	if err != nil {
		return err
	}
	known := server.Place{Additions: a.Additions}.Tools()
	made, problems, err := simulation.Prepare(source, known,
		simulation.Options{Schemas: o.schemas, Tools: o.tools, LLM: server.HasLLM()})
	if err != nil {
		return err
	}
	a.PrintProblems(given, problems)
	introduceSimulation(a, made)
	p, tidy, err := simulationPlace(a, o.keep)
	if err != nil {
		return err
	}
	defer tidy()
	report, err := carryOut(ctx, a, p, made, o.wait)
	if err != nil {
		return err
	}
	if o.keep != "" {
		report.Data = p.Data
	}
	return printSimulation(a, report)
}

// validate refuses invalid flags: a simulation must never use the folder of real processes.
func (o simulateOptions) validate(a *app.App) error {
	switch {
	case a.Data != "":
		return exit.Usagef("simulate in %s: a simulation uses a folder of its own; --keep FOLDER keeps it",
			a.Data)
	case o.wait < 0:
		return exit.Usagef("--wait %s: it must not be negative", o.wait)
	case o.tools != "" && o.tools != ideafile.FakedByLLM && o.tools != ideafile.FakedBySchemas:
		return exit.Usagef("simulate: --tools %s: want llm or schemas", o.tools)
	case o.schemas && (o.files.replies != "" || o.tools == ideafile.FakedByLLM):
		return exit.Usagef("simulate: --schemas asks no LLM: leave out --replies and --tools llm")
	case o.keep == "":
		return nil
	}
	entries, err := os.ReadDir(o.keep)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return exit.Usagef("keep simulation in %s: %w", o.keep, ideafiles.WithoutPath(err))
	}
	if len(entries) > 0 {
		return exit.Usagef("keep simulation in %s: the folder is not empty", o.keep)
	}
	return nil
}

// introduceSimulation says who plans, who plays the Tools, and what was made up beforehand.
func introduceSimulation(a *app.App, made *simulation.Prepared) {
	plans := map[string]string{ideafile.FakedByLLM: "the LLM plans",
		ideafile.RecordedReplies: "recorded replies plan, " + made.Source.Replies,
		ideafile.FakedBySchemas:  "Plans are made up from the schemas"}[made.By.LLMRepliesFrom]
	tools := map[string]string{ideafile.FakedByLLM: "the LLM plays the Tools",
		ideafile.FakedBySchemas: "results are made up from the schemas"}[made.By.ToolResultsFrom]
	a.Note("simulation: nothing outside is touched; %s, and %s", plans, tools)
	if len(made.MadeUp) > 0 {
		a.Note("simulation: made up, since the start does not provide it: %s", strings.Join(made.MadeUp, ", "))
	}
	if len(made.Unasked) > 0 {
		a.Note("simulation: MCP servers %s are not asked for their tools, so these are unknown; simulate an Idea "+
			"that lists them (starter show)",
			strings.Join(slices.Sorted(slices.Values(made.Unasked)), ", "))
	}
}

// simulationPlace returns a place only for the simulation, with a server and a store that nothing real uses.
func simulationPlace(a *app.App, keep string) (p server.Place, tidy func(), err error) {
	tidy = func() {}
	if keep == "" {
		if keep, err = os.MkdirTemp("", "processidea-simulation-"); err != nil {
			return p, tidy, exit.Usagef("make folder for simulation: %w", err)
		}
		folder := keep
		tidy = func() { _ = os.RemoveAll(folder) }
	}
	data, err := filepath.Abs(keep)
	return server.Place{Data: data, Store: filepath.Join(data, "store"), Additions: a.Additions, Temporal: a.Temporal,
		Note: a.Note}, tidy, err
}

// carryOut runs the simulation on a server of its own, whose worker reaches nothing but the LLM.
func carryOut(ctx context.Context, a *app.App, p server.Place, made *simulation.Prepared,
	wait time.Duration) (*simulation.Report, error) {
	o := launchOptions{
		id: client.NewID("simulated-" + made.Source.Name()), wait: wait,
		server: server.Hosting{UIPort: -1, GatewayPort: -1, Worker: true, Isolated: true},
	}
	s, err := p.OpenSession(ctx, o.server)
	if err != nil {
		return nil, err
	}
	l := &launchedProcess{App: a, session: s, definition: made.Definition, options: o}
	defer func() { l.session.Close() }()
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	result, err := l.follow(ctx)
	if err != nil {
		return nil, err
	}
	return made.Report(ctx, l.session.Client, l.process, result)
}
