package process

import (
	"errors"
	"fmt"
	"strings"

	"processidea/client/simulation"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

const (
	maxGraphLines      = 80 // lines of a graph printed for people
	maxUnfinishedLines = 20 // lines about what stayed open
)

// printSimulation prints a report, and returns the error for its exit code.
func printSimulation(a *app.App, r *simulation.Report) error {
	var err error
	if a.WritesJSON {
		err = a.PrintJSON(r)
	} else {
		err = errors.Join(print.WriteResult(a.Out, r.ProcessResult, print.InstanceNaming{}), a.Print(simulationText(r)))
	}
	if err != nil {
		return fmt.Errorf("print simulation: %w", err)
	}
	if exitCode := exit.CodeOfResult(r.ProcessResult); exitCode != exit.Done {
		return exit.WithCode(exitCode)
	}
	return nil
}

// simulationText is the text that follows the Result in a report for people.
func simulationText(r *simulation.Report) string {
	var b strings.Builder
	b.WriteString("\nsimulated: no tool, server or person was asked; States and output are made up\n")
	b.WriteString(simulationCostText(r) + "\n")
	for _, d := range r.Delegates {
		print.Fprintf(&b, "  delegate %s: %s, %s\n", d.ProcessID, d.Status,
			print.Plural(d.RequestCount, "Request"))
	}
	printToolCallCounts(&b, r)
	if r.ApprovalCount > 0 {
		fmt.Fprintf(&b, "a person would have been asked about %s\n", print.Plural(r.ApprovalCount, "Call"))
	}
	printUnfinished(&b, r)
	printGraph(&b, r)
	if r.DataFolder != "" {
		print.Fprintf(&b, "\nkept in %s: %s show --data %s %s\n", r.DataFolder, print.ProgramName,
			print.ShellQuote(r.DataFolder), print.ShellQuote(r.ProcessID))
	}
	return b.String()
}

func simulationCostText(r *simulation.Report) string {
	prefix := ""
	if r.IsEstimated {
		prefix = "about "
	}
	return fmt.Sprintf("%s, %s%s", print.Plural(r.TotalUsage.RequestCount, "Request"), prefix, r.TotalUsage.TokenUsage)
}

func printToolCallCounts(b *strings.Builder, r *simulation.Report) {
	for _, name := range jsonval.SortedKeys(r.CallCountsByTool) {
		print.Fprintf(b, "  %s: %s\n", name, ideafile.TallyText([]ideafile.CallStatus{ideafile.CallDone,
			ideafile.CallFailed,
			ideafile.CallRejected, ideafile.CallSkipped, ideafile.CallBlocked, ideafile.CallWaiting,
			ideafile.CallAwaitingApproval,
			ideafile.CallRunning}, r.CallCountsByTool[name]))
	}
}

func printUnfinished(b *strings.Builder, r *simulation.Report) {
	for n, line := range r.UnfinishedLines {
		if n == 0 {
			b.WriteString("still open:\n")
		}
		if n == maxUnfinishedLines {
			fmt.Fprintf(b, "  and %d more\n", len(r.UnfinishedLines)-n)
			return
		}
		print.Fprintf(b, "  %s\n", line)
	}
}

func printGraph(b *strings.Builder, r *simulation.Report) {
	switch lineCount := strings.Count(r.MermaidGraph, "\n"); {
	case r.MermaidGraph == "":
	case lineCount > maxGraphLines:
		fmt.Fprintf(b, "the Plan's graph has %d lines: see --json\n", lineCount)
	default:
		fmt.Fprintf(b, "\n%s", r.MermaidGraph)
	}
}
