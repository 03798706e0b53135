package client

import (
	"context"

	"processidea/client/internal/kind"
	"processidea/learn/ripen"
	"processidea/model/ideafile"
)

// AnalyzeApprovals says, by Tool, what people decided on the Calls of processes that waited for them. It proposes
// policies that would have asked people about every Call that they changed. It reads the chains; the processes need not
// have finished. The error wraps ErrNotFound for a process without a chain.
func (a *Archive) AnalyzeApprovals(ctx context.Context, processIDs []string) ([]ripen.Finding, error) {
	if len(processIDs) == 0 {
		return nil, kind.Errorf(ErrInvalid, "harden approvals: no process is named")
	}
	var runs []ripen.ProcessRun
	for _, id := range processIDs {
		run, err := a.readApprovalLog(ctx, id)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return ripen.AnalyzeRuns(runs), nil
}

// readApprovalLog reads the log of a process, and of its parts if it was split.
func (a *Archive) readApprovalLog(ctx context.Context, id string) (ripen.ProcessRun, error) {
	run := ripen.ProcessRun{ProcessID: id}
	c := a.Chain(id)
	latestIdea, err := c.load(ctx, "read what was decided up to", 0)
	if err != nil {
		return run, err
	}
	idea, _ := ideafile.ReadIdea(latestIdea)
	if idea.Simulation != nil {
		return run, kind.Errorf(ErrInvalid, "harden approvals of %s: it was simulated, and no person was asked", id)
	}
	run.Tools = idea.Tools
	parts, err := a.partChains(ctx, id)
	if err != nil {
		return run, err
	}
	for _, partChain := range append([]*Chain{c}, parts...) {
		lastIdeaNumber, err := partChain.checkIdeaNumber(ctx, "read what was decided up to", 0)
		for ideaNumber := 1; ideaNumber <= lastIdeaNumber && err == nil; ideaNumber++ {
			log, logErr := partChain.chainStore.LogAt(ctx, partChain.processID, ideaNumber)
			run.Log, err = append(run.Log, log...), logErr
		}
		if err != nil {
			return run, err
		}
	}
	return run, nil
}
