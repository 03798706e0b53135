package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// Run is the Process workflow. It reads the Idea and runs it: a process of no more instances than one Request may cover as
// itself, one of more split into parts. Given what an earlier run carried, it goes on from there.
func Run(ctx workflow.Context, start protocol.Start, carried *Carried) (*loop.Result, error) {
	idea, err := readIdea(start, carried == nil)
	if err != nil {
		return nil, err
	}
	c := newCore(ctx, start, idea)
	if parts := partsOf(ctx, idea, carried); parts != nil {
		return runSplit(ctx, c, parts, carried)
	}
	return runOrdinary(ctx, c, carried)
}

func runOrdinary(ctx workflow.Context, c *core, carried *Carried) (*loop.Result, error) {
	p := newOrdinaryProcess(ctx, c, carried)
	p.registerHandlers(ctx)
	err := p.answerQueries(ctx)
	if err == nil && carried == nil {
		err = p.startFresh(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p.run(ctx)
}

func runSplit(ctx workflow.Context, c *core, parts *loop.Parts, carried *Carried) (*loop.Result, error) {
	p := newSplitProcess(c, parts, carried)
	p.registerHandlers(ctx)
	err := p.answerQueries(ctx)
	if err == nil && carried == nil {
		err = p.bindTools(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return p.run(ctx)
}

// partsOf returns what the process is split into; nil if it is not split.
func partsOf(ctx workflow.Context, idea *ideafile.Idea, carried *Carried) *loop.Parts {
	switch {
	case carried == nil:
		return loop.Split(idea, workflow.Now(ctx))
	case carried.Parts != nil:
		return &carried.Parts.Parts
	}
	return nil
}
