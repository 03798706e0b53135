package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/plangraph"
)

// formats are the languages that a graph is written in.
var formats = map[string]func(calls []any) string{"mermaid": plangraph.Mermaid, "dot": plangraph.DOT}

func (a *app) graphVerb() *cobra.Command {
	format := "mermaid"
	c := &cobra.Command{
		Use:   "graph FILE|FOLDER|ID",
		Short: "Draw a Plan as Mermaid or DOT",
		Long: `Draw a Plan: the Calls, and what flows between them through State. Of a file that is
its Plan messages, or else its solution; of a process it is the latest solution that
has Calls.`,
		Example: `  starter graph refund.json
  starter graph refund-17 --format dot | dot -Tsvg > plan.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.graph(c.Context(), args[0], format) },
	}
	c.Flags().StringVar(&format, "format", format, "mermaid or dot")
	return c
}

// drawn is graph --json.
type drawn struct {
	Format string `json:"format"`
	Graph  string `json:"graph"`
	Calls  int    `json:"calls"`
}

func (a *app) graph(ctx context.Context, of, format string) error {
	draw, ok := formats[format]
	if !ok {
		return misuse("draw %s: no format %q; there are %s", of, format, strings.Join(sortedKeys(formats), " and "))
	}
	calls, err := a.callsOf(ctx, of)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		return misuse("draw %s: it has no Calls", of)
	}
	if a.json {
		return writeJSON(a.out, drawn{format, draw(calls), len(calls)})
	}
	_, err = fmt.Fprintln(a.out, strings.TrimSuffix(draw(calls), "\n"))
	return err
}

// callsOf gives the Calls of a file, where there is one of the name, or of a process.
func (a *app) callsOf(ctx context.Context, of string) ([]any, error) {
	p, err := a.place()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(of); err != nil {
		return p.callsOfProcess(ctx, of)
	}
	var s source
	if err := s.find(of); err != nil {
		return nil, err
	}
	m := &material{source: s}
	var problems diag.Problems
	if err := m.readIdea(&problems); err != nil {
		return nil, err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, &invalid{of, errs}
	}
	var calls []any
	for _, message := range m.read.Context {
		calls = append(calls, ideafile.WrittenValues(message.Calls)...)
	}
	if len(calls) == 0 {
		calls = solutionOf(m.idea)
	}
	return calls, nil
}

func (p place) callsOfProcess(ctx context.Context, id string) ([]any, error) {
	c, err := p.openArchive(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	last, err := c.Latest(ctx, id)
	if err == nil && last == 0 {
		err = misuse("draw %s: there is no such file, and the store has no Idea of a process of this id", id)
	}
	for k := last; k > 0 && err == nil; k-- {
		var idea map[string]any
		if idea, err = c.Load(ctx, id, k); err == nil {
			if calls := solutionOf(idea); len(calls) > 0 {
				return calls, nil
			}
		}
	}
	return nil, err
}

func solutionOf(idea map[string]any) []any {
	solution, _ := idea["solution"].(map[string]any)
	calls, _ := solution["calls"].([]any)
	return calls
}
