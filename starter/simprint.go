package main

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
)

const (
	longestGraph = 80 // lines of a graph that are printed for people
	longestOpen  = 20 // lines of what stayed open
)

// printSimulation prints a report, and gives the error that stands for its exit code.
func (a *app) printSimulation(rep *simulationReport) error {
	var err error
	if a.json {
		err = writeJSON(a.out, rep)
	} else if err = printResult(a.out, rep.Result); err == nil {
		_, err = fmt.Fprint(a.out, rep.text())
	}
	if err != nil {
		return fmt.Errorf("print simulation: %w", err)
	}
	if code := codeOf(rep.Result); code != exitDone {
		return &exit{code: code}
	}
	return nil
}

// text is what a report says to people behind the result.
func (rep *simulationReport) text() string {
	var b strings.Builder
	b.WriteString("\nsimulated: no tool, server or person was asked; States and output are made up\n")
	fmt.Fprintf(&b, "%s\n", rep.cost())
	for _, d := range rep.Delegates {
		fmt.Fprintf(&b, "  delegate %s: %s, %s\n", printable(d.Process), d.Status, plural(d.Requests, "Request"))
	}
	rep.printTools(&b)
	if rep.Approvals > 0 {
		fmt.Fprintf(&b, "a person would have been asked about %s\n", plural(rep.Approvals, "Call"))
	}
	rep.printOpen(&b)
	rep.printGraph(&b)
	if rep.Data != "" {
		fmt.Fprintf(&b, "\nkept in %s: starter show --data %s %s\n", printable(rep.Data), quote(rep.Data), quote(rep.Process))
	}
	return b.String()
}

func (rep *simulationReport) cost() string {
	about := ""
	if rep.Estimated {
		about = "about "
	}
	return fmt.Sprintf("%s, %s%d tokens in, %d out", plural(rep.Total.Requests, "Request"), about, rep.Total.PromptTokens, rep.Total.CompletionTokens)
}

func (rep *simulationReport) printTools(b *strings.Builder) {
	for _, name := range sortedKeys(rep.Tools) {
		var parts []string
		for _, s := range []ideafile.CallStatus{ideafile.Done, ideafile.Failed, ideafile.Rejected, ideafile.Skipped, ideafile.Blocked, ideafile.Waiting,
			ideafile.AwaitingApproval, ideafile.Running} {
			if n := rep.Tools[name][s]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, s))
			}
		}
		fmt.Fprintf(b, "  %s: %s\n", printable(name), strings.Join(parts, ", "))
	}
}

func (rep *simulationReport) printOpen(b *strings.Builder) {
	for n, line := range rep.Open {
		if n == 0 {
			b.WriteString("what stayed open:\n")
		}
		if n == longestOpen {
			fmt.Fprintf(b, "  and %d more\n", len(rep.Open)-n)
			return
		}
		fmt.Fprintf(b, "  %s\n", printable(line))
	}
}

func (rep *simulationReport) printGraph(b *strings.Builder) {
	switch lines := strings.Count(rep.Graph, "\n"); {
	case rep.Graph == "":
	case lines > longestGraph:
		fmt.Fprintf(b, "the Plan's graph has %d lines: see --json\n", lines)
	default:
		fmt.Fprintf(b, "\n%s", rep.Graph)
	}
}
