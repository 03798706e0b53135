package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// Run is the Process workflow. It reads the Idea and runs it: a process of no more instances than one Request may cover
// as itself, one of more split into parts. Given what an earlier run carried, it goes on from there.
func Run(ctx workflow.Context, start protocol.ProcessStart, carried *ContinueAsNewInput) (*loop.Result, error) {
	inbox := mailbox.NewInbox(ctx)
	r, err := run(ctx, inbox, start, carried)
	inbox.Close(ctx)
	return r, err
}

func run(
	ctx workflow.Context, inbox *mailbox.Inbox, start protocol.ProcessStart, carried *ContinueAsNewInput,
) (*loop.Result, error) {
	idea, err := readIdea(&start, workflow.GetInfo(ctx).WorkflowExecution.ID)
	if err != nil {
		return nil, answerAsRefused(ctx, err)
	}
	c := newCore(ctx, inbox, start, idea)
	if parts := splitOrRestoreParts(ctx, idea, carried); parts != nil {
		c.own = newSplitProcess(c, parts, carried)
	} else {
		c.own = newUnsplitProcess(ctx, c, carried)
	}
	err = c.own.registerHandlers(ctx)
	if err == nil && carried == nil {
		err = c.own.open(ctx)
	}
	if err != nil {
		return nil, answerAsRefused(ctx, err)
	}
	c.handleCarriedSignals(ctx, carried)
	return c.own.run(ctx)
}

// splitOrRestoreParts returns what the process is split into; nil if it is not split.
func splitOrRestoreParts(ctx workflow.Context, idea *ideafile.Idea, carried *ContinueAsNewInput) *split.Process {
	switch {
	case carried == nil:
		return split.New(idea, workflow.Now(ctx))
	case carried.Parts != nil:
		return &carried.Parts.Process
	}
	return nil
}
