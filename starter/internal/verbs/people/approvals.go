package people

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// Approvals lists what waits for a person.
func Approvals(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "approvals [ID]",
		Short: "List what waits for a person, in one process or in all",
		Long: `List the Calls that wait for a person: what would run, since when, and what happens at
the deadline. With --json the list is as the query "approvals" gives it; values that
lie in the store are whole.`,
		Example: `  starter approvals
  starter approvals refund-17 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return approvals(c.Context(), a, args) },
	}
}

func approvals(ctx context.Context, a *app.App, args []string) error {
	return a.Visit(ctx, func(s *server.Session) error {
		list, err := approvalsOf(ctx, s, args)
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.PrintJSON(list)
		}
		return a.Print(approvalsText(list))
	})
}

// approvalsOf asks the process that is named, or all.
func approvalsOf(ctx context.Context, s *server.Session, args []string) ([]client.Approval, error) {
	if len(args) == 0 {
		return s.Approvals(ctx)
	}
	p, err := s.Attach(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return p.Approvals(ctx)
}

func approvalsText(list []client.Approval) string {
	if len(list) == 0 {
		return "nobody is waited for\n"
	}
	var b strings.Builder
	for _, p := range list {
		b.WriteString(print.Approval(p) + "\n")
	}
	fmt.Fprintf(&b, "%s; decide with: starter approve|reject|amend|replace|answer ID CALL\n", print.Plural(len(list), "approval"))
	return b.String()
}
