package connect

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/encryption"
)

// SearchAttributeTypes are the attributes for finding processes in the Temporal UI, if the server has them registered.
var SearchAttributeTypes = map[string]enumspb.IndexedValueType{
	protocol.AttributeStatus:           enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	protocol.AttributePath:             enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	protocol.AttributePendingDecisions: enumspb.INDEXED_VALUE_TYPE_INT,
}

// StartSpec is a process to be started.
type StartSpec struct {
	ID    string
	Start protocol.ProcessStart
	Idea  *ideafile.Idea
	// ContentDigest is the digest of all that the process is started from. A second start with another digest is
	// refused.
	ContentDigest string
	// WorkerVersion pins the process to a version; zero: the process moves to each version that becomes current.
	WorkerVersion WorkerVersion
}

// ErrOtherContent means that a process with the id exists, and was started from something else.
var ErrOtherContent = errors.New("a process with this id was started from another file")

// StartOrAttachProcess starts a process, or finds the process that was started under the same id from the same file.
// storeStart, if not nil, stores what the process starts from, and returns s.Start. If the process exists, nothing is
// stored, and no start is sent: nobody could erase the values of a start that the server refuses, nor the input of that
// start, which a server may keep in a history that belongs to no workflow.
func StartOrAttachProcess(ctx context.Context, c client.Client, namespace string, s StartSpec,
	storeStart func() (protocol.ProcessStart, error)) (run client.WorkflowRun, isAttached bool, err error) {
	if run, err = attachProcess(ctx, c, s); run != nil || err != nil {
		return run, true, err
	}
	if storeStart != nil {
		if s.Start, err = storeStart(); err != nil {
			return nil, false, err
		}
	}
	attributes := s.prepareSearchAttributes(ctx, c, namespace)
	o := client.StartWorkflowOptions{
		ID: s.ID, TaskQueue: protocol.TaskQueue,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            s.Idea.ProcessPath,
		Memo:                                     s.memo(),
		TypedSearchAttributes:                    attributes,
		Priority:                                 s.priority(),
	}
	if s.WorkerVersion != (WorkerVersion{}) {
		o.VersioningOverride = &client.PinnedVersioningOverride{Version: s.WorkerVersion.DeploymentVersion()}
	}
	run, err = c.ExecuteWorkflow(ctx, o, protocol.ProcessType, s.Start)
	var alreadyStarted *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case err == nil:
		return run, false, nil
	case !errors.As(err, &alreadyStarted):
		return nil, false, fmt.Errorf("connect: start process %s: %w", s.ID, err)
	}
	run, err = attachProcess(ctx, c, s) // another client started it first
	if run == nil && err == nil {
		err = fmt.Errorf("connect: start process %s: %w", s.ID, alreadyStarted)
	}
	return run, true, err
}

// attachProcess returns the process with this id if it was started from the same file; nil if there is no such process.
func attachProcess(ctx context.Context, c client.Client, s StartSpec) (client.WorkflowRun, error) {
	d, err := c.DescribeWorkflow(ctx, s.ID, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil, nil
	}
	if err == nil {
		err = checkSameContent(d, s.ContentDigest)
	}
	if err != nil {
		return nil, fmt.Errorf("connect: start process %s: %w", s.ID, err)
	}
	return c.GetWorkflow(ctx, s.ID, ""), nil
}

// ScheduledAction returns what a Temporal Schedule does to start the process: each start appends the time to the id.
func ScheduledAction(ctx context.Context, c client.Client, namespace string,
	s StartSpec) *client.ScheduleWorkflowAction {
	attributes := s.prepareSearchAttributes(ctx, c, namespace)
	return &client.ScheduleWorkflowAction{
		ID: s.ID, TaskQueue: protocol.TaskQueue, Workflow: protocol.ProcessType, Args: []any{s.Start},
		StaticSummary: s.Idea.ProcessPath,
		Memo:          s.memo(), TypedSearchAttributes: attributes, Priority: s.priority(),
	}
}

func (s *StartSpec) priority() temporal.Priority {
	p := s.Idea.Config.Priority
	return temporal.Priority{PriorityKey: p.Level, FairnessKey: p.FairnessKey,
		FairnessWeight: float32(p.FairnessWeight)}
}

func (s *StartSpec) memo() map[string]any {
	memo := protocol.Memo(s.Idea)
	memo[protocol.MemoFileDigest] = s.ContentDigest
	return memo
}

// prepareSearchAttributes returns the initial attributes if they are registered, and sets s.Start.Attributes to whether
// they are.
func (s *StartSpec) prepareSearchAttributes(ctx context.Context, c client.Client,
	namespace string) temporal.SearchAttributes {
	if s.Start.CanSetSearchAttributes = hasRegisteredAttributes(ctx, c, namespace); !s.Start.CanSetSearchAttributes {
		return temporal.SearchAttributes{}
	}
	return temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyKeyword(protocol.AttributePath).ValueSet(s.Idea.ProcessPath),
		temporal.NewSearchAttributeKeyInt64(protocol.AttributePendingDecisions).ValueSet(0),
	)
}

func checkSameContent(d *client.WorkflowExecutionDescription, wantDigest string) error {
	var memoDigest string
	err := d.GetMemoValue(protocol.MemoFileDigest, &memoDigest)
	var missing *encryption.MissingKeyError
	if errors.As(err, &missing) {
		return err
	}
	if err != nil || memoDigest != wantDigest {
		return ErrOtherContent
	}
	return nil
}

// hasRegisteredAttributes asks whether the search attributes can be used: setting one that is not registered fails a
// workflow task for ever.
func hasRegisteredAttributes(ctx context.Context, c client.Client, namespace string) bool {
	r, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return false
	}
	for name, attributeType := range SearchAttributeTypes {
		if r.GetCustomAttributes()[name] != attributeType {
			return false
		}
	}
	return true
}
