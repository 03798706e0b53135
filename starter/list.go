package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"processidea/model/loop"
	"processidea/protocol"
	"processidea/worker/engine"
)

func (a *app) listVerb() *cobra.Command {
	limit := 0
	c := &cobra.Command{
		Use:   "list",
		Short: "List the processes, the latest first",
		Example: `  starter list
  starter list --json --limit 0`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.list(c.Context(), limit) },
	}
	c.Flags().IntVar(&limit, "limit", 100, "list so many at most; 0: all")
	return c
}

// listed is one process of the list.
type listed struct {
	Process string             `json:"process"`
	Status  loop.ProcessStatus `json:"status"`
	Path    string             `json:"path"`
	Version string             `json:"version"`
	Started time.Time          `json:"started"`
	Ended   *time.Time         `json:"ended"`
}

func (a *app) list(ctx context.Context, limit int) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	s, err := p.visit(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	processes, err := s.processes(ctx, limit)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	if a.json {
		return writeJSON(a.out, processes)
	}
	return a.printList(processes)
}

// processes lists those that somebody started, and none that a process started.
func (s *session) processes(ctx context.Context, limit int) ([]listed, error) {
	found := []listed{}
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: s.namespace, PageSize: 200, Query: fmt.Sprintf("WorkflowType = '%s'", protocol.ProcessType),
	}
	for {
		page, err := s.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, info := range page.GetExecutions() {
			if strings.Contains(info.GetExecution().GetWorkflowId(), "/") {
				continue
			}
			if found = append(found, s.listed(info)); limit > 0 && len(found) == limit {
				return found, nil
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return found, nil
		}
	}
}

// listed is what the list tells of a process. A memo that does not open with the keys at hand is left out.
func (s *session) listed(info *workflowpb.WorkflowExecutionInfo) listed {
	l := listed{Process: info.GetExecution().GetWorkflowId(), Status: statusOf(info), Started: info.GetStartTime().AsTime()}
	memo, values := info.GetMemo().GetFields(), engine.DataConverter(s.values.Keys())
	_ = values.FromPayload(memo[protocol.MemoPath], &l.Path)
	_ = values.FromPayload(memo[protocol.MemoVersion], &l.Version)
	if end := info.GetCloseTime(); end != nil {
		t := end.AsTime()
		l.Ended = &t
	}
	return l
}

// statusOf is a process's status as far as Temporal knows it. That it is paused is a search attribute, where those are
// registered.
func statusOf(info *workflowpb.WorkflowExecutionInfo) loop.ProcessStatus {
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return loop.StatusCompleted
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return loop.StatusFailed
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return loop.StatusCancelled
	}
	var status string
	attribute := info.GetSearchAttributes().GetIndexedFields()[protocol.AttributeStatus]
	if converter.GetDefaultDataConverter().FromPayload(attribute, &status) == nil && status == string(loop.StatusPaused) {
		return loop.StatusPaused
	}
	return loop.StatusRunning
}

func (a *app) printList(processes []listed) error {
	columns := [][]string{{"process"}, {"status"}, {"started"}, {"ended"}, {"path"}}
	for _, p := range processes {
		ended := ""
		if p.Ended != nil {
			ended = p.Ended.Local().Format(time.DateTime)
		}
		for n, cell := range []string{p.Process, string(p.Status), p.Started.Local().Format(time.DateTime), ended, p.Path} {
			columns[n] = append(columns[n], clip(printable(cell), widestValue))
		}
	}
	var b strings.Builder
	writeColumns(&b, columns)
	_, err := fmt.Fprint(a.out, b.String())
	return err
}
