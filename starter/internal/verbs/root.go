// Package verbs puts the command's verbs together. Each subpackage is a group of verbs, with one file for each verb.
package verbs

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/internal/heap"
	"processidea/internal/safego"
	"processidea/internal/version"
	"processidea/model/ideafile/shown"
	"processidea/starter/internal/app"
	"processidea/starter/internal/arguments"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
	"processidea/starter/internal/verbs/archive"
	"processidea/starter/internal/verbs/people"
	"processidea/starter/internal/verbs/process"
	"processidea/starter/internal/verbs/setup"
	"processidea/worker/engine"
)

// Execute runs one command line and returns the program's exit code. additions are the tools that a program adds;
// temporal runs the embedded server.
func Execute(args []string, stdout, stderr io.Writer, additions engine.Additions,
	temporalHost server.TemporalHost) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A second interrupt ends the program at once, without cleaning up.
	safego.AfterDone(ctx, "starter.signals", stop)
	heap.SetSoftLimit(1) // large tables leave much garbage; servers and workers set their own limit
	a := &app.App{In: os.Stdin, Out: stdout, Err: stderr, Additions: additions, TemporalHost: temporalHost}
	root := Root(a)
	flags.SetArgsCollectingErrors(root, args)
	language := shown.LanguageFor(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")))
	return a.PrintError(root.ExecuteContext(client.WithLanguage(ctx, language)))
}

// Root is the command with all its verbs.
func Root(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:     print.ProgramName,
		Version: version.Text(),
		Short:   "Start durable processes that an LLM plans, and look at them",
		Long: `Start durable processes that an LLM plans, and look at them.

TEMPORAL_ADDRESS and its kin, or a profile of Temporal's configuration file, say where
Temporal is. Without them, "run" and "dev" start a server of their own, with its web UI,
in .processidea/ under the working directory.

Exit codes: 0 done; 1 the process failed or was cancelled; 2 bad usage or an invalid
file; 3 it is paused, or it waits for a person; 4 the server or the LLM cannot be
reached; 5 it is forgotten, but not everywhere; 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.HasVerbBegun = true
			for _, warning := range flags.MisspelledVariableHints(os.Environ()) {
				a.Note("%s", warning)
			}
		},
	}
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.PersistentFlags().BoolVar(&a.WritesJSON, "json", false, "print the result as JSON")
	root.PersistentFlags().StringVar(&a.DataFolder, "data", "",
		"`folder` of the embedded server (default $PROCESSIDEA_DATA, else .processidea)")
	root.PersistentFlags().StringVar(&a.StorePlace, "store", "",
		"the store: a folder or a bucket's `URL` (default $PROCESSIDEA_STORE, else that of the data folder)")
	root.AddCommand(
		process.Run(a), process.Fork(a), process.Undo(a),
		process.Simulate(a), process.Check(a), process.List(a), process.Watch(a), process.Result(a),
		process.Schedule(a),
		people.Approvals(a), people.Plan(a),
		archive.Show(a), archive.History(a), archive.Decisions(a), archive.Diff(a), archive.Blame(a), archive.Verify(a),
		archive.Export(a),
		archive.Graph(a), archive.Harden(a), archive.Backtest(a), archive.GC(a), archive.Forget(a), archive.Find(a),
		setup.Init(a), setup.Dev(a), setup.MCP(a), setup.Worker(a), setup.Tools(a), setup.Codec(a), setup.Keys(a),
		setup.Schema(a),
	)
	root.AddCommand(people.ActionCommands(a)...)
	arguments.InstallArgumentHandling(a, root)
	setProgramNameInHelp(root)
	return root
}

var programNamePattern = regexp.MustCompile(`(^|[\s"(])starter `)

// setProgramNameInHelp puts the program's name into the help texts of the verbs.
func setProgramNameInHelp(c *cobra.Command) {
	c.Long, c.Example = programNamePattern.ReplaceAllString(c.Long, "${1}"+print.ProgramName+" "),
		programNamePattern.ReplaceAllString(c.Example, "${1}"+print.ProgramName+" ")
	for _, sub := range c.Commands() {
		setProgramNameInHelp(sub)
	}
}
