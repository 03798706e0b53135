package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// Run is the Process workflow. It reads the Idea and runs it: a process of no more instances than one Request may cover as
// itself, one of more split into parts. Given what an earlier run carried, it goes on from there.
func Run(ctx workflow.Context, start protocol.ProcessStart, carried *ContinueAsNewInput) (*loop.Result, error) {
	inbox := mailbox.NewInbox(ctx)
	r, err := run(ctx, inbox, start, carried)
	inbox.Close(ctx)
	return r, err
}

func run(ctx workflow.Context, inbox *mailbox.Inbox, start protocol.ProcessStart, carried *ContinueAsNewInput) (*loop.Result, error) {
	idea, err := readIdea(&start, workflow.GetInfo(ctx).WorkflowExecution.ID)
	if err != nil {
		return nil, answerAsRefused(ctx, err)
	}
	c := newCore(ctx, inbox, start, idea)
	if parts := splitOrRestoreParts(ctx, idea, carried); parts != nil {
		return runSplit(ctx, c, parts, carried)
	}
	return runUnsplit(ctx, c, carried)
}

func runUnsplit(ctx workflow.Context, c *processCore, carried *ContinueAsNewInput) (*loop.Result, error) {
	p := newUnsplitProcess(ctx, c, carried)
	p.registerHandlers(ctx)
	err := p.registerQueryHandlers(ctx)
	if err == nil && carried == nil {
		err = p.startFirstRun(ctx)
	}
	if err != nil {
		return nil, answerAsRefused(ctx, err)
	}
	p.handleCarriedSignals(ctx, carried)
	return p.run(ctx)
}

func runSplit(ctx workflow.Context, c *processCore, parts *split.Process, carried *ContinueAsNewInput) (*loop.Result, error) {
	p := newSplitProcess(c, parts, carried)
	p.registerHandlers(ctx)
	err := p.registerQueryHandlers(ctx)
	if err == nil && carried == nil {
		err = p.bindTools(ctx, p)
	}
	if err != nil {
		return nil, answerAsRefused(ctx, err)
	}
	p.handleCarriedSignals(ctx, carried)
	return p.run(ctx)
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
