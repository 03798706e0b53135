package process

import (
	"context"
	"errors"
	"os"
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
	files           fileFlags
	usesOnlySchemas bool
	toolResultsFrom string
	keptFolder      string
	maxWait         time.Duration
}

// Simulate runs a process without touching anything outside.
func Simulate(a *app.App) *cobra.Command {
	var o simulateOptions
	c := app.NewCommand("simulate FILE|FOLDER", "Try a process out without touching anything",
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
	o.files.addFlags(c)
	f := c.Flags()
	f.BoolVar(&o.usesOnlySchemas, "schemas", false,
		"ask no LLM and no script: make Plans and values up from the schemas")
	f.StringVar(&o.toolResultsFrom, "tools", "", "who plays the Tools: llm or schemas (default the one who plans)")
	f.StringVar(&o.keptFolder, "keep", "", "leave everything in `folder`, which must be new or empty")
	addWaitFlag(c, &o.maxWait)
	return c
}

// runSimulate runs a process with simulated Tools, and reports the outcome.
func runSimulate(ctx context.Context, a *app.App, path string, o simulateOptions) error {
	if err := o.validate(a); err != nil {
		return err
	}
	source, err := o.files.findSource(path)
	if err != nil {
		return err
	}
	tools := server.Place{Additions: a.Additions}.Tools()
	prepared, problems, err := simulation.Prepare(source, tools,
		simulation.Options{UsesOnlySchemas: o.usesOnlySchemas, ToolResultsFrom: o.toolResultsFrom,
			WorkersHaveLLM: server.EnvironmentHasLLM()})
	if err != nil {
		return err
	}
	a.PrintProblems(path, problems)
	noteSimulationSetup(a, prepared)
	place := server.Place{Additions: a.Additions, TemporalHost: a.TemporalHost, Note: a.Note}
	p, cleanup, err := place.ForSimulation(o.keptFolder)
	if err != nil {
		return err
	}
	defer cleanup()
	report, err := runPreparedSimulation(ctx, a, p, prepared, o.maxWait)
	if err != nil {
		return err
	}
	if o.keptFolder != "" {
		report.DataFolder = p.DataFolder
	}
	return printSimulation(a, report)
}

// validate refuses invalid flags: a simulation must never use the folder of real processes.
func (o simulateOptions) validate(a *app.App) error {
	switch {
	case a.DataFolder != "":
		return exit.Usagef("simulate in %s: a simulation uses a folder of its own; --keep FOLDER keeps it",
			a.DataFolder)
	case o.toolResultsFrom != "" && o.toolResultsFrom != ideafile.FakedByLLM &&
		o.toolResultsFrom != ideafile.FakedBySchemas:
		return exit.Usagef("simulate: --tools %s: want llm or schemas", o.toolResultsFrom)
	case o.usesOnlySchemas && (o.files.repliesPath != "" || o.toolResultsFrom == ideafile.FakedByLLM):
		return exit.Usagef("simulate: --schemas asks no LLM: leave out --replies and --tools llm")
	case o.keptFolder == "":
		return nil
	}
	entries, err := os.ReadDir(o.keptFolder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return exit.Usagef("keep simulation in %s: %w", o.keptFolder, ideafiles.WithoutPath(err))
	}
	if len(entries) > 0 {
		return exit.Usagef("keep simulation in %s: the folder is not empty", o.keptFolder)
	}
	return nil
}

// noteSimulationSetup says who plans, who plays the Tools, and what was made up beforehand.
func noteSimulationSetup(a *app.App, prepared *simulation.PreparedProcess) {
	plannerText := map[string]string{ideafile.FakedByLLM: "the LLM plans",
		ideafile.RecordedReplies: "recorded replies plan, " + prepared.Source.RepliesPath,
		ideafile.FakedBySchemas:  "Plans are made up from the schemas"}[prepared.Simulation.LLMRepliesFrom]
	toolPlayerText := map[string]string{ideafile.FakedByLLM: "the LLM plays the Tools",
		ideafile.FakedBySchemas: "results are made up from the schemas"}[prepared.Simulation.ToolResultsFrom]
	a.Note("simulation: nothing outside is touched; %s, and %s", plannerText, toolPlayerText)
	if len(prepared.MadeUpRefs) > 0 {
		a.Note("simulation: made up, since the start does not provide it: %s", strings.Join(prepared.MadeUpRefs, ", "))
	}
	if len(prepared.UnaskedMCPServers) > 0 {
		a.Note("simulation: MCP servers %s are not asked for their tools, so these are unknown; simulate an Idea "+
			"that lists them (starter show)",
			strings.Join(slices.Sorted(slices.Values(prepared.UnaskedMCPServers)), ", "))
	}
}

// runPreparedSimulation runs the simulation on a server of its own, whose worker reaches nothing but the LLM.
func runPreparedSimulation(ctx context.Context, a *app.App, p server.Place, prepared *simulation.PreparedProcess,
	maxWait time.Duration) (*simulation.Report, error) {
	o := launchOptions{processID: client.NewProcessID("simulated-" + prepared.Source.Name()), maxWait: maxWait,
		hostOptions: server.SimulationHostOptions}
	s, err := p.OpenSession(ctx, o.hostOptions)
	if err != nil {
		return nil, err
	}
	l := &launchedProcess{App: a, session: s, definition: prepared.Definition, options: o}
	defer func() { l.session.Close() }()
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	result, err := l.follow(ctx)
	if err != nil {
		return nil, err
	}
	return prepared.Report(ctx, l.session.Client, l.process, result)
}
