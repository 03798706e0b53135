package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
)

// Held is what a namespace of Temporal still has: open executions, and closed ones until their retention ends.
type Held struct {
	// Executions is how many there are.
	Executions int

	roots  map[string]bool // processes of which something is open
	refs   map[string]bool // digests in their histories
	opener Opener
}

// open reports whether anything of a process is open: itself, an instance or a part.
func (h *Held) open(process string) bool { return h != nil && h.roots[rootOf(process)] }

func (h *Held) digests() map[string]bool {
	if h == nil {
		return nil
	}
	return h.refs
}

// rootOf is the process that somebody started, to which an instance, a part or a delegate belongs.
func rootOf(id string) string {
	root, _, _ := strings.Cut(id, "/")
	return root
}

// ReadTemporal reads every history that a namespace has. The service gives payloads as they lie there; where they are
// encrypted, open decrypts them (nil: none is).
func ReadTemporal(ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string, open Opener) (*Held, error) {
	h := &Held{roots: map[string]bool{}, refs: map[string]bool{}, opener: open}
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1000}
	for {
		page, err := c.ListWorkflowExecutions(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("chain: list executions: %w", err)
		}
		for _, e := range page.GetExecutions() {
			if err := h.read(ctx, c, namespace, e); err != nil {
				return nil, fmt.Errorf("chain: read history of %s: %w", e.GetExecution().GetWorkflowId(), err)
			}
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return h, h.readSchedules(ctx, c, namespace)
		}
	}
}

// readSchedules reads what the namespace's Schedules will start processes from.
func (h *Held) readSchedules(ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string) error {
	request := &workflowservice.ListSchedulesRequest{Namespace: namespace, MaximumPageSize: 1000}
	for {
		page, err := c.ListSchedules(ctx, request)
		if err != nil {
			return fmt.Errorf("chain: list schedules: %w", err)
		}
		for _, s := range page.GetSchedules() {
			d, err := c.DescribeSchedule(ctx, &workflowservice.DescribeScheduleRequest{Namespace: namespace, ScheduleId: s.GetScheduleId()})
			if err == nil {
				err = h.visit(ctx, d)
			}
			if err != nil && !expired(err) {
				return fmt.Errorf("chain: read schedule %s: %w", s.GetScheduleId(), err)
			}
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

func (h *Held) read(ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string, e *workflowpb.WorkflowExecutionInfo) error {
	h.Executions++
	if err := h.visit(ctx, e); err != nil {
		return err
	}
	if e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		h.roots[rootOf(e.GetExecution().GetWorkflowId())] = true
		// What an activity has said with its heartbeat stands in no event.
		d, err := c.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{Namespace: namespace, Execution: e.GetExecution()})
		if err == nil {
			err = h.visit(ctx, d)
		}
		if err != nil && !expired(err) {
			return err
		}
	}
	request := &workflowservice.GetWorkflowExecutionHistoryRequest{Namespace: namespace, Execution: e.GetExecution()}
	for {
		page, err := c.GetWorkflowExecutionHistory(ctx, request)
		if err != nil {
			return unlessExpired(err)
		}
		for _, event := range page.GetHistory().GetEvents() {
			if err := h.visit(ctx, event); err != nil {
				return err
			}
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// visit notes every digest in the payloads of a message: claims of payloads that lie in the store, and handles of values.
func (h *Held) visit(ctx context.Context, m proto.Message) error {
	return proxy.VisitPayloads(ctx, m, proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range payloads {
				if err := h.refer(p); err != nil {
					return nil, err
				}
			}
			return payloads, nil
		},
	})
}

func (h *Held) refer(p *commonpb.Payload) error {
	note := func(text []byte) {
		if !h.refs[string(text)] {
			h.refs[string(text)] = true
		}
	}
	eachDigest(p.GetData(), note)
	if h.opener == nil {
		return nil
	}
	p, err := h.opener(p)
	eachDigest(p.GetData(), note)
	return err
}

// expired reports whether an execution went away while its history was read.
func expired(err error) bool {
	var gone *serviceerror.NotFound
	return errors.As(err, &gone)
}

func unlessExpired(err error) error {
	if expired(err) {
		return nil
	}
	return err
}
