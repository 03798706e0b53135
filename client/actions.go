package client

import (
	"context"

	"processidea/client/actions"
	"processidea/client/internal/kind"
	"processidea/protocol"
)

// BilledActionCounts counts a process's actions so far, as a hosted Temporal server bills them.
type BilledActionCounts struct {
	Total    int            `json:"total" doc:"all of them"`
	ByKind   actions.Counts `json:"kinds" doc:"how many there were of each kind"`
	RunCount int            `json:"runs" doc:"runs of workflows, whose histories were read"`
}

// CountBilledActions counts the billed actions in the histories of all the process's workflows: its own, and those of
// its instances, parts and delegates, as far as the server still has them. Histories do not show queries and
// heartbeats.
func (p *Process) CountBilledActions(ctx context.Context) (BilledActionCounts, error) {
	if _, err := p.describe(ctx); err != nil {
		return BilledActionCounts{}, err
	}
	counter, runCount := actions.NewCounter(), 0
	for run, err := range p.client.Executions(ctx, protocol.ProcessTreeQuery(p.id)) {
		if err == nil {
			runCount++
			execution := run.GetExecution()
			err = counter.AddRun(ctx, p.client.temporal, execution.GetWorkflowId(), execution.GetRunId())
		}
		if err != nil {
			return BilledActionCounts{}, kind.Errorf(ErrUnreachable, "count the actions of %s: %w", p.id, err)
		}
	}
	return BilledActionCounts{Total: counter.Counts.Total(), ByKind: counter.Counts, RunCount: runCount}, nil
}
