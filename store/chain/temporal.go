package chain

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"processidea/protocol"
	"processidea/store/blobs"
)

// NamespaceContents is what a Temporal namespace still has: open executions, and closed ones until their retention
// ends.
type NamespaceContents struct {
	// ExecutionCount is how many there are.
	ExecutionCount int

	openRootProcessIDs map[string]bool // processes with an open execution
	// processes that have an execution, or whose data key encrypts something
	knownRootProcessIDs map[string]bool
	referenceSet        map[digestReference]bool // what their histories refer to
	decrypt             DecryptFunc
}

// hasProcess reports whether the namespace has an execution of a process, or data that the process's data key encrypts.
func (h *NamespaceContents) hasProcess(processID string) bool {
	return h != nil && h.knownRootProcessIDs[processID]
}

// isOpen reports whether an execution of a process is open: of the process itself, an instance or a part.
func (h *NamespaceContents) isOpen(processID string) bool {
	return h != nil && h.openRootProcessIDs[blobs.RootProcessID(processID)]
}

func (h *NamespaceContents) references() map[digestReference]bool {
	if h == nil {
		return nil
	}
	return h.referenceSet
}

// ReadTemporal reads every history in a namespace. The service returns payloads as they are stored; open decrypts
// encrypted ones (nil if none is encrypted).
func ReadTemporal(ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string,
	decrypt DecryptFunc) (*NamespaceContents, error) {
	_, contents, err := ReadTemporalSeparately(ctx, c, namespace, func(string) bool { return false }, decrypt)
	return contents, err
}

// ReadTemporalSeparately is ReadTemporal for Forget: ownContents is what the histories of the workflows for which
// isWorkflowToForget returns true refer to, otherContents is what everything else refers to.
func ReadTemporalSeparately(
	ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string,
	isWorkflowToForget func(id string) bool,
	decrypt DecryptFunc,
) (ownContents, otherContents *NamespaceContents, err error) {
	ownContents, otherContents = newNamespaceContents(decrypt), newNamespaceContents(decrypt)
	err = EachExecution(ctx, c, namespace, func(workflow string, m proto.Message) error {
		if isWorkflowToForget(workflow) {
			return ownContents.noteExecution(ctx, workflow, m)
		}
		return otherContents.noteExecution(ctx, workflow, m)
	})
	if err == nil {
		err = EachSchedule(ctx, c, namespace,
			func(_ string, m proto.Message) error { return otherContents.noteDigests(ctx, "", m) })
	}
	return ownContents, otherContents, err
}

func newNamespaceContents(decrypt DecryptFunc) *NamespaceContents {
	return &NamespaceContents{openRootProcessIDs: map[string]bool{}, knownRootProcessIDs: map[string]bool{},
		referenceSet: map[digestReference]bool{}, decrypt: decrypt}
}

// noteExecution records a message that belongs to an execution of a workflow.
func (h *NamespaceContents) noteExecution(ctx context.Context, workflowID string, m proto.Message) error {
	rootProcessID := blobs.RootProcessID(workflowID)
	if e, ok := m.(*workflowpb.WorkflowExecutionInfo); ok {
		h.ExecutionCount++
		h.knownRootProcessIDs[rootProcessID] = true
		if protocol.IsOpen(e.GetStatus()) {
			h.openRootProcessIDs[rootProcessID] = true
		}
	}
	return h.noteDigests(ctx, rootProcessID, m)
}

// EachExecution visits everything that a namespace has about workflow executions, a page of a history at a time: the
// execution's entry in the list, for an open one also the heartbeat details of its activities, and its events.
func EachExecution(
	ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string,
	visit func(workflowID string, m proto.Message) error,
) error {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1000}
	for {
		page, err := c.ListWorkflowExecutions(ctx, request)
		if err != nil {
			return fmt.Errorf("chain: list executions: %w", err)
		}
		for _, e := range page.GetExecutions() {
			workflowID := e.GetExecution().GetWorkflowId()
			err := eachExecutionMessage(ctx, c, namespace, e,
				func(m proto.Message) error { return visit(workflowID, m) })
			if err != nil {
				return fmt.Errorf("chain: read history of %s: %w", workflowID, err)
			}
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

func eachExecutionMessage(
	ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string, e *workflowpb.WorkflowExecutionInfo,
	visit func(proto.Message) error,
) error {
	if err := visit(e); err != nil {
		return err
	}
	if protocol.IsOpen(e.GetStatus()) {
		// No event holds the heartbeat details of an activity.
		d, err := c.DescribeWorkflowExecution(ctx,
			&workflowservice.DescribeWorkflowExecutionRequest{Namespace: namespace, Execution: e.GetExecution()})
		if err == nil {
			err = visit(d)
		}
		if err != nil && !isNotFound(err) {
			return err
		}
	}
	request := &workflowservice.GetWorkflowExecutionHistoryRequest{Namespace: namespace, Execution: e.GetExecution()}
	for {
		page, err := c.GetWorkflowExecutionHistory(ctx, request)
		if isNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, event := range page.GetHistory().GetEvents() {
			if err := visit(event); err != nil {
				return err
			}
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// EachSchedule visits the Schedules of a namespace, which say what they start processes from.
func EachSchedule(
	ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string,
	visit func(schedule string, m proto.Message) error,
) error {
	request := &workflowservice.ListSchedulesRequest{Namespace: namespace, MaximumPageSize: 1000}
	for {
		page, err := c.ListSchedules(ctx, request)
		if err != nil {
			return fmt.Errorf("chain: list schedules: %w", err)
		}
		for _, s := range page.GetSchedules() {
			request := &workflowservice.DescribeScheduleRequest{Namespace: namespace, ScheduleId: s.GetScheduleId()}
			d, err := c.DescribeSchedule(ctx, request)
			if err == nil {
				err = visit(s.GetScheduleId(), d)
			}
			if err != nil && !isNotFound(err) {
				return fmt.Errorf("chain: read schedule %s: %w", s.GetScheduleId(), err)
			}
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// noteDigests records every digest in the payloads of a process's message: claims of stored payloads, and handles of
// values.
func (h *NamespaceContents) noteDigests(ctx context.Context, processID string, m proto.Message) error {
	return blobs.EachPayload(ctx, m, func(p *commonpb.Payload) error { return h.noteReferences(processID, p) })
}

func (h *NamespaceContents) noteReferences(processID string, p *commonpb.Payload) error {
	note := func(processID string, p *commonpb.Payload) {
		eachDigest(p.GetData(), func(text []byte) { h.referenceSet[digestReference{processID, string(text)}] = true })
	}
	if owner := blobs.OwnerOfClaim(p); owner != "" { // for a Schedule the owner is another process
		h.knownRootProcessIDs[owner] = true
		note(owner, p)
	}
	note(processID, p)
	if h.decrypt == nil {
		return nil
	}
	p, err := h.decrypt(p)
	note(processID, p)
	return err
}

// isNotFound reports whether an error means that an execution or Schedule was deleted while it was read.
func isNotFound(err error) bool {
	_, isGone := errors.AsType[*serviceerror.NotFound](err)
	return isGone
}
