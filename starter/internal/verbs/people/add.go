package people

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/approval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
)

// Add adds instances to a process that is at work.
func Add(a *app.App) *cobra.Command {
	var by byFlags
	file := ""
	c := &cobra.Command{
		Use:   "add ID --instances FILE",
		Short: "Add instances to a process that is at work",
		Long: `Add instances to a process that is at work: one a row of a JSON Lines or CSV file, as
"run --instances" reads it. Rows without a name are named after those that the process
has. The new instances are in its next Request.`,
		Example: `  starter add refunds --instances late.jsonl`,
		RunE:    func(c *cobra.Command, args []string) error { return add(c.Context(), a, args[0], file, by.who()) },
	}
	by.add(c)
	c.Flags().StringVar(&file, "instances", "", "the `file` with the rows")
	return c
}

func add(ctx context.Context, a *app.App, process, file string, by client.By) error {
	if file == "" {
		return exit.Usagef("add to %s: --instances is missing", process)
	}
	data, err := ideafiles.ReadFile(file)
	if err != nil {
		return err
	}
	return a.VisitProcess(ctx, process, func(p *client.Process) error {
		idea, err := p.Idea(ctx)
		if err != nil {
			return err
		}
		messages, problems := ideafiles.ReadRows(file, data, idea)
		if errs := problems.Errors(); len(errs) > 0 {
			return &client.InvalidError{Source: filepath.Base(file), Problems: errs}
		}
		return printOutcome(a, process, approval.SteerAdd, "", p.Add(ctx, client.Addition{Context: messages}, by))
	})
}
