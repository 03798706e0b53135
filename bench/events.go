package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/protocol"
)

// eachRun gives every run of every workflow on the server, once visibility shows all of them as closed.
func (b *bed) eachRun(ctx context.Context) ([]*workflow.WorkflowExecutionInfo, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		runs, open, err := b.listRuns(ctx)
		if err != nil || !open {
			return runs, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// eachEvent gives every event of every history, with the id of its workflow.
func (b *bed) eachEvent(ctx context.Context, do func(id string, e *history.HistoryEvent)) error {
	runs, err := b.eachRun(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		of := run.GetExecution()
		events := b.client.GetWorkflowHistory(ctx, of.GetWorkflowId(), of.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				return fmt.Errorf("read history of %s: %w", of.GetWorkflowId(), err)
			}
			do(of.GetWorkflowId(), event)
		}
	}
	return nil
}

func (b *bed) listRuns(ctx context.Context) (runs []*workflow.WorkflowExecutionInfo, open bool, err error) {
	var page []byte
	for {
		r, err := b.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000, NextPageToken: page})
		if err != nil {
			return nil, false, fmt.Errorf("list workflows: %w", err)
		}
		for _, e := range r.GetExecutions() {
			open = open || e.GetCloseTime() == nil
		}
		runs = append(runs, r.GetExecutions()...)
		if page = r.GetNextPageToken(); len(page) == 0 {
			return runs, open, nil
		}
	}
}

// countEvents notes the longest history.
func (b *bed) countEvents(ctx context.Context, r *record, n int) error {
	runs, err := b.eachRun(ctx)
	if err != nil {
		return err
	}
	var longest, all int64
	for _, e := range runs {
		longest, all = max(longest, e.GetHistoryLength()), all+e.GetHistoryLength()
	}
	if n >= 2*thousand {
		r.of("last thousand against the first", "×").on("instances", n).add(slowing(runs)).atMost(maxSlowing)
	}
	r.of("longest history", "events").on("instances", n).add(float64(longest)).atMost(maxEvents)
	r.of("all histories", "events").on("instances", n).add(float64(all))
	r.of("workflow runs", "").on("instances", n).add(float64(len(runs)))
	return nil
}

const (
	thousand   = 1000
	maxSlowing = 1.3
)

// slowing compares the time in which the last thousand instances ended with that of the first thousand.
func slowing(runs []*workflow.WorkflowExecutionInfo) float64 {
	var begun time.Time
	var ends []time.Time
	for _, e := range runs {
		if e.GetType().GetName() == protocol.InstanceType {
			ends = append(ends, e.GetCloseTime().AsTime())
		} else if at := e.GetStartTime().AsTime(); begun.IsZero() || at.Before(begun) {
			begun = at
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	last := len(ends) - 1
	return ends[last].Sub(ends[last-thousand]).Seconds() / ends[thousand-1].Sub(begun).Seconds()
}
