package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// app is what all verbs share.
type app struct {
	in       io.Reader // what is typed
	out, err io.Writer // the result, and everything else
	json     bool
	data     string // the folder that --data names
	began    bool   // a verb has begun: what goes wrong from here on is no misuse of the command line
}

// execute runs one command line and gives the program's exit code.
func execute(args []string, out, err io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Whoever interrupts twice does not want to wait for a tidy end.
	context.AfterFunc(ctx, stop)
	a := &app{in: os.Stdin, out: out, err: err}
	root := a.root()
	root.SetArgs(args)
	return a.exitCode(root.ExecuteContext(ctx))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "starter",
		Short: "Start durable processes that an LLM plans, and look at them",
		Long: `Start durable processes that an LLM plans, and look at them.

Where Temporal is comes from TEMPORAL_ADDRESS and its kin, or from a profile of
Temporal's configuration file. With none of it, "run" and "dev" start a server of
their own, with its web UI, in .processidea/ under the working directory.

Exit codes: 0 done; 1 the process failed or was cancelled; 2 bad usage or an invalid
file; 3 it is paused, or it waits for a person; 4 the server or the LLM cannot be
reached; 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.began = true
		},
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print the result as JSON")
	root.PersistentFlags().StringVar(&a.data, "data", "", "`folder` of the embedded server (default $PROCESSIDEA_DATA, else .processidea)")
	root.AddCommand(a.runVerb(), a.forkVerb(), a.devVerb(), a.listVerb(), a.watchVerb(), a.showVerb(), a.resultVerb(), a.checkVerb(), a.graphVerb(),
		a.simulateVerb(), a.approvalsVerb(), a.pauseVerb(), a.resumeVerb(), a.reviseVerb(), a.addVerb(), a.cancelVerb(), a.toolsVerb(),
		a.codecVerb(), a.keysVerb())
	root.AddCommand(a.decisionVerbs()...)
	root.AddCommand(a.historyVerb(), a.diffVerb(), a.blameVerb(), a.verifyVerb(), a.exportVerb(), a.gcVerb(), a.hardenVerb())
	return root
}
