package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"processidea/model/jsonval"
	"processidea/protocol"
)

func (a *app) approvalsVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "approvals [ID]",
		Short: "List what waits for a person, in one process or in all",
		Long: `List the Calls that wait for a person: what would run, since when, and what happens at
the deadline. With --json the list is as the query "approvals" gives it; values that
lie in the store are whole.`,
		Example: `  starter approvals
  starter approvals refund-17 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.approvals(c.Context(), args) },
	}
}

func (a *app) approvals(ctx context.Context, args []string) error {
	return a.visiting(ctx, func(s *session) error {
		ids := args
		if len(args) == 0 {
			var err error
			if ids, err = s.waiting(ctx); err != nil {
				return fmt.Errorf("list processes: %w", err)
			}
		} else if _, err := s.find(ctx, args[0]); err != nil {
			return err
		}
		list, err := s.approvalsOf(ctx, ids)
		if err != nil {
			return err
		}
		if a.json {
			return writeJSON(a.out, list)
		}
		return a.printApprovals(list)
	})
}

// visiting opens a way to Temporal for a verb that starts no server, and closes it.
func (a *app) visiting(ctx context.Context, do func(*session) error) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	s, err := p.visit(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return do(s)
}

// waiting lists the processes in which somebody is waited for; where the search attributes are not registered, all that
// are open.
func (s *session) waiting(ctx context.Context) ([]string, error) {
	open := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", protocol.ProcessType)
	ids, err := s.list(ctx, open+" AND "+protocol.AttributeAwaiting+" > 0")
	var invalid *serviceerror.InvalidArgument
	if errors.As(err, &invalid) {
		return s.list(ctx, open)
	}
	return ids, err
}

func (s *session) list(ctx context.Context, query string) (ids []string, err error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: s.namespace, PageSize: 200, Query: query}
	for {
		page, err := s.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, info := range page.GetExecutions() {
			ids = append(ids, info.GetExecution().GetWorkflowId())
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return ids, nil
		}
	}
}

// approvalsOf asks processes what waits for a person there.
func (s *session) approvalsOf(ctx context.Context, ids []string) ([]protocol.Approval, error) {
	found := make([][]protocol.Approval, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(queriesAtOnce)
	for n, id := range ids {
		g.Go(func() (err error) {
			found[n], err = s.pending(ctx, id)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	list := []protocol.Approval{}
	for _, of := range found {
		list = append(list, of...)
	}
	return list, nil
}

// pending asks one process, and puts stored values back.
func (s *session) pending(ctx context.Context, id string) ([]protocol.Approval, error) {
	asking, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	answer, err := s.QueryWorkflow(asking, id, "", protocol.QueryApprovals)
	var v protocol.ProcessApprovals
	if err == nil {
		err = answer.Get(&v)
	}
	if err != nil {
		if down := s.health(ctx); down != nil {
			return nil, noServer("ask %s: %w", id, down)
		}
		return nil, noServer("ask %s what waits there: no worker answers: %w", id, err)
	}
	for n := range v.Approvals {
		whole, err := s.values.Restore(ctx, v.Approvals[n].Params)
		if err != nil {
			return nil, fmt.Errorf("read parameters of %s: %w", v.Approvals[n].Call, err)
		}
		v.Approvals[n].Params, _ = whole.(map[string]any)
	}
	return v.Approvals, nil
}

func (a *app) printApprovals(list []protocol.Approval) error {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(approvalText(p) + "\n")
	}
	if len(list) == 0 {
		b.WriteString("nobody is waited for\n")
	} else {
		fmt.Fprintf(&b, "%s; decide with: starter approve|reject|amend|replace|answer ID CALL\n", plural(len(list), "approval"))
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// approvalText shows one approval to a person.
func approvalText(p protocol.Approval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  %s", printable(p.Process), printable(p.Call), printable(p.Tool))
	if len(p.OutputPath) > 0 {
		fmt.Fprintf(&b, " → %s", printable(p.OutputPath.Reference()))
	}
	fmt.Fprintf(&b, "\n  waits for %s, since %s\n", time.Since(p.Since).Round(time.Second), p.Since.Local().Format(time.DateTime))
	if p.Deadline != nil {
		fmt.Fprintf(&b, "  at %s by itself: %s\n", p.Deadline.Local().Format(time.DateTime), p.OnTimeout)
	}
	if p.ReviewReason != "" {
		fmt.Fprintf(&b, "  %s\n", printable(p.ReviewReason))
	}
	fmt.Fprintf(&b, "  params %s\n", printable(string(jsonval.Encode(jsonval.Normal(p.Params)))))
	if p.Adapted != nil {
		fmt.Fprintf(&b, "  fitted by the LLM from %s\n", shown(p.Adapted.From))
	}
	if p.Output != nil {
		fmt.Fprintf(&b, "  output %s\n", printable(string(jsonval.Encode(p.Output))))
	}
	fmt.Fprintf(&b, "  digest %s, allowed: %s\n", p.Digest, strings.Join(p.Allow, ", "))
	return b.String()
}
