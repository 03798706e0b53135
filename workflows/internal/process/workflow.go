package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/loop"
	"processidea/model/quality"
	"processidea/model/split"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// Run is the Process workflow. It reads the Idea and runs it: as one process if one Request may cover all its
// instances, else split into parts. With carried, it goes on from an earlier run.
func Run(ctx workflow.Context, start protocol.ProcessStart, carried *ContinueAsNewInput) (*loop.ProcessResult, error) {
	inbox := mailbox.NewInbox(ctx)
	r, err := run(ctx, inbox, start, carried)
	inbox.Close(ctx)
	return r, err
}

func run(
	ctx workflow.Context, inbox *mailbox.Inbox, start protocol.ProcessStart, carried *ContinueAsNewInput,
) (*loop.ProcessResult, error) {
	idea, err := readIdea(&start, workflow.GetInfo(ctx).WorkflowExecution.ID)
	if err != nil {
		return nil, answerQueriesAsFailed(ctx, err)
	}
	c := newCore(ctx, inbox, start, idea)
	splitState, err := splitOrRestoreParts(ctx, c, carried)
	switch {
	case err != nil:
		return nil, answerQueriesAsFailed(ctx, err)
	case splitState != nil:
		c.variant = newSplitProcess(c, splitState, carried)
	default:
		c.variant = newUnsplitProcess(ctx, c, carried)
	}
	err = c.variant.registerHandlers(ctx)
	if err == nil && carried == nil {
		err = c.variant.beginFirstRun(ctx)
	}
	if err != nil {
		return nil, answerQueriesAsFailed(ctx, err)
	}
	c.handleCarriedSignals(ctx, carried)
	return c.variant.run(ctx)
}

// splitOrRestoreParts returns the parts of a split process; nil if it is not split.
func splitOrRestoreParts(ctx workflow.Context, c *processCore, carried *ContinueAsNewInput) (*split.Process, error) {
	switch {
	case carried == nil:
		size, err := c.initialRequestSize(ctx)
		return split.New(c.idea, size, workflow.Now(ctx)), err
	case carried.Parts != nil:
		return &carried.Parts.Process, nil
	}
	return nil, nil
}

// sizeByKindChangeID names the rule that the size of Requests depends on the LLM's work for each instance. Before, it
// was quality.RequestSizeForSharedCalls.
const sizeByKindChangeID = "size of Requests by kind"

// initialRequestSize is how many instances a Request covers at first. If that depends on Tools for which the file does
// not say whether the LLM writes their results, the worker binds them first; until then, queries report that the
// process begins.
func (c *processCore) initialRequestSize(ctx workflow.Context) (quality.RequestSize, error) {
	size := quality.RequestSizeFor(c.idea, nil)
	if c.idea.Config.MaxInstancesPerPart > 0 || len(c.idea.InstanceTokens()) <= quality.RequestSizeForJudgedCalls {
		return size, nil
	}
	if !mailbox.IsPatched(ctx, sizeByKindChangeID) {
		return quality.RequestSize{Initial: quality.RequestSizeForSharedCalls,
			Current: quality.RequestSizeForSharedCalls}, nil
	}
	if _, _, isCertain := quality.RecommendedRequestSize(c.idea, nil); isCertain {
		return size, nil
	}
	provisionalCore := *c
	err := c.registerQueries(ctx, newUnsplitProcess(ctx, &provisionalCore, nil), "", "instances")
	if err != nil {
		return size, err
	}
	prepareResult, err := prepareTools(ctx, c.idea.Source, c.start.Delegation)
	if err != nil {
		return size, err
	}
	if len(c.idea.MCPServersToAskForTools()) == 0 { // else there are more Tools to bind
		c.preparedTools = prepareResult
	}
	return quality.RequestSizeFor(c.idea, prepareResult.Bindings), nil
}
