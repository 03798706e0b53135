package people

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// Approvals lists what waits for a person.
func Approvals(a *app.App) *cobra.Command {
	return app.NewCommand("approvals [ID]", "List what waits for a person, in one process or in all",
		`List the Calls that wait for a person: what would run, since when, and what happens at
the deadline, and the State and input of its instance; and the Plans that wait as a
whole (see "starter plan"). ID may be an instance of a process, refunds/13. What waits
in its delegates is among them. Of one process the standing orders in force are listed
too. With --json the list is as the query "approvals" gives it; values that lie in the
store are whole.`,
		`  starter approvals
  starter approvals refund-17 --json`,
		func(ctx context.Context, args []string) error { return runApprovals(ctx, a, args) })
}

func runApprovals(ctx context.Context, a *app.App, args []string) error {
	return a.WithSession(ctx, func(s *server.Session) error {
		approvals, unansweredErr := approvalsOf(ctx, s, args) // the error names the processes that did not answer
		switch {
		case unansweredErr != nil && len(approvals) == 0:
			return unansweredErr
		case a.WritesJSON:
			return errors.Join(a.PrintJSON(approvals), unansweredErr)
		}
		plans, err := plansOf(ctx, s, args)
		if err != nil && unansweredErr == nil {
			unansweredErr = err
		}
		text := approvalsText(approvals)
		if len(plans) > 0 {
			text = plansText(plans, false)
			if len(approvals) > 0 {
				text += "\n" + approvalsText(approvals)
			}
		}
		if len(args) > 0 {
			processID, _, _ := protocol.ParseInstanceID(args[0])
			text += ordersInForceText(ctx, s, processID)
		}
		return errors.Join(a.Print(text), unansweredErr)
	})
}

// approvalsOf lists the Calls that wait in the named process, or in all processes.
func approvalsOf(ctx context.Context, s *server.Session, args []string) ([]client.Approval, error) {
	if len(args) == 0 {
		return s.Approvals(ctx)
	}
	return s.ApprovalsOf(ctx, args[0])
}

// plansOf lists the Plans that wait in the named process, or in all processes.
func plansOf(ctx context.Context, s *server.Session, args []string) ([]client.DescribedPlan, error) {
	if len(args) == 0 {
		return s.WaitingPlans(ctx)
	}
	return s.WaitingPlansOf(ctx, args[0])
}

func approvalsText(approvals []client.Approval) string {
	if len(approvals) == 0 {
		return "nothing waits for a person\n"
	}
	var b strings.Builder
	for _, p := range approvals {
		b.WriteString(print.ApprovalText(p) + "\n")
	}
	fmt.Fprintf(&b, "%s; decide with: starter approve|reject|amend|replace|answer ID CALL%s\n",
		print.Plural(len(approvals), "approval"), typeableIDHint(approvals))
	return b.String()
}

// typeableIDHint shows how to type a Call's id whose characters are not on every keyboard.
func typeableIDHint(list []client.Approval) string {
	for _, a := range list {
		if typeableID := ideafile.TypeableCallID(a.CallID); typeableID != a.CallID {
			return fmt.Sprintf(" (%s is typed %s, too)", print.Printable(a.CallID), typeableID)
		}
	}
	return ""
}
