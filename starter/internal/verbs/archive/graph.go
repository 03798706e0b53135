package archive

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
)

// renderByFormat maps each --format to its renderer.
var renderByFormat = map[string]func(calls []any, statuses ...map[ideafile.CallStatus]int) string{
	"mermaid": plangraph.RenderMermaid, "dot": plangraph.RenderDOT,
	"svg": func(calls []any, statuses ...map[ideafile.CallStatus]int) string {
		return plangraph.RenderSVG(calls, statuses, plangraph.Labels{}, plangraph.Light)
	},
}

// Graph draws a Plan.
func Graph(a *app.App) *cobra.Command {
	format := "mermaid"
	c := app.NewCommand("graph FILE|FOLDER|ID", "Draw a Plan as Mermaid, DOT or SVG",
		`Draw a Plan: the Calls, and what flows between them through State. Of a file it draws the
Plan messages, or else the solution. Of a process it draws the Plan that waits for a person,
or else the latest solution that has Calls, or else the Plan messages.`,
		`  starter graph refund.json
  starter graph refund-17 --format dot | dot -Tsvg > plan.svg`,
		func(ctx context.Context, args []string) error {
			fileOrProcessID := args[0]
			render, ok := renderByFormat[format]
			if !ok {
				return exit.Usagef("draw %s: no format %q; there are %s", fileOrProcessID, format,
					strings.Join(jsonval.SortedKeys(renderByFormat), ", "))
			}
			p, err := loadDrawablePlan(ctx, a, fileOrProcessID)
			if err != nil {
				return err
			}
			if len(p.Calls) == 0 {
				return exit.Usagef("draw %s: it has no Calls", fileOrProcessID)
			}
			graphText := render(p.Calls, p.InstanceCountsByStatus...)
			return a.Show(renderedGraph{format, graphText, len(p.Calls)}, strings.TrimSuffix(graphText, "\n")+"\n")
		})
	c.Flags().StringVar(&format, "format", format, "mermaid, dot or svg")
	return c
}

// renderedGraph is the output of graph --json.
type renderedGraph struct {
	Format    string `json:"format"`
	Text      string `json:"graph"`
	CallCount int    `json:"calls"`
}

// loadDrawablePlan returns the Calls of the file with this name if it exists, otherwise those of the process with this
// id.
func loadDrawablePlan(ctx context.Context, a *app.App, fileOrProcessID string) (plan *client.DrawablePlan, err error) {
	plan = &client.DrawablePlan{}
	if _, err := os.Stat(fileOrProcessID); err == nil {
		plan.Calls, err = loadFileCalls(fileOrProcessID)
		return plan, err
	}
	if plan.Calls = loadPendingPlanCalls(ctx, a, fileOrProcessID); len(plan.Calls) > 0 {
		return plan, nil
	}
	err = a.WithArchive(ctx, func(archive *client.Archive) (err error) {
		c := archive.Chain(fileOrProcessID)
		if plan, err = c.PlanWithStatus(ctx); err == nil && !a.WritesJSON {
			noteLatestIdea(ctx, a, c, fileOrProcessID)
		}
		return err
	})
	if errors.Is(err, client.ErrNotFound) {
		err = exit.Usagef("draw %s: there is no such file, and the store has no Idea of a process with this id",
			fileOrProcessID)
	}
	return plan, err
}

// loadPendingPlanCalls returns the Calls of the first Plan that waits for a person, or nil if no Plan waits or no
// server answers.
func loadPendingPlanCalls(ctx context.Context, a *app.App, processID string) (calls []any) {
	ctx, cancel := context.WithTimeout(ctx, serverAnswerTimeout)
	defer cancel()
	_ = a.WithProcess(ctx, processID, func(p *client.Process) error {
		plans, err := p.WaitingPlans(ctx)
		if len(plans) == 0 {
			return err
		}
		calls = plans[0].DiagramCalls
		if a.WritesJSON {
			return nil
		}
		a.Note("%s of %s waits for a person", plans[0].Name(), plans[0].Process)
		if more := len(plans) - 1; more > 0 {
			a.Note("%d more wait in other parts: starter plan %s lists them, and each is drawn by the id of its part",
				more, processID)
		}
		return nil
	})
	return calls
}

func loadFileCalls(file string) (calls []any, err error) {
	source, err := ideafiles.Find(file, "", "")
	if err != nil {
		return nil, err
	}
	d, problems, err := ideafiles.LoadIdea(source)
	if err != nil {
		return nil, err
	}
	if err := ideafiles.ErrorFromProblems(file, problems); err != nil {
		return nil, err
	}
	calls = client.PlanMessageCallsOf(d.Idea)
	if len(calls) == 0 {
		calls = client.SolutionCallsOf(d.Idea)
	}
	return calls, nil
}
