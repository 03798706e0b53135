package client

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"processidea/internal/safego"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// WaitingCallCount is how many Calls of a Tool wait for a person; OldestSince is since when the oldest waits.
type WaitingCallCount struct {
	Tool        string
	Count       int
	OldestSince time.Time // zero if no Call waits
}

// WaitingCallCounter repeatedly counts what waits for people in all processes. It queries a process again when Temporal
// lists another number for it. It also does so after cachedApprovalsTTL, since by then other Calls may wait in the same
// number.
type WaitingCallCounter struct {
	client           *Client
	mu               sync.Mutex
	cacheByProcessID map[string]cachedApprovals
	seenTools        map[string]bool // every Tool whose Calls have ever waited
}

type cachedApprovals struct {
	awaitingCountAttribute string // the process's search attribute for the number of waiting Calls
	queriedAt              time.Time
	approvals              []Approval
}

// cachedApprovalsTTL is how long the answer of a process is used: a query is a billed Action of Temporal Cloud.
const cachedApprovalsTTL = 5 * time.Minute

// NewWaitingCallCounter makes a counter that has queried no process yet.
func (c *Client) NewWaitingCallCounter() *WaitingCallCounter {
	return &WaitingCallCounter{client: c, cacheByProcessID: map[string]cachedApprovals{}, seenTools: map[string]bool{}}
}

// Count counts by Tool. It returns 0 for a Tool that no longer waits for anybody.
func (w *WaitingCallCounter) Count(ctx context.Context) ([]WaitingCallCount, error) {
	infos, err := w.client.listProcessesAwaitingPeople(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	if err := w.refreshCache(ctx, infos); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	countByTool := map[string]WaitingCallCount{}
	for _, k := range w.cacheByProcessID {
		for _, a := range k.approvals {
			waitingCount := countByTool[a.Tool]
			if waitingCount.Count++; waitingCount.Count == 1 || a.Since.Before(waitingCount.OldestSince) {
				waitingCount.OldestSince = a.Since
			}
			countByTool[a.Tool], w.seenTools[a.Tool] = waitingCount, true
		}
	}
	var list []WaitingCallCount
	for tool := range jsonval.Sorted(w.seenTools) {
		waitingCount := countByTool[tool]
		waitingCount.Tool = tool
		list = append(list, waitingCount)
	}
	return list, nil
}

// refreshCache queries the processes without a fresh answer, and forgets the processes that wait for nobody.
func (w *WaitingCallCounter) refreshCache(ctx context.Context, infos []*workflowpb.WorkflowExecutionInfo) error {
	awaitingProcessIDs := map[string]bool{}
	for _, info := range infos {
		awaitingProcessIDs[info.GetExecution().GetWorkflowId()] = true
	}
	err := safego.ForEach(ctx, "client.countwaiting", len(infos), maxConcurrentQueries,
		func(ctx context.Context, n int) error {
			id := infos[n].GetExecution().GetWorkflowId()
			attributes := infos[n].GetSearchAttributes().GetIndexedFields()
			awaitingCountAttribute := attributes[protocol.AttributePendingDecisions].String()
			w.mu.Lock()
			cached, known := w.cacheByProcessID[id]
			w.mu.Unlock()
			if known && cached.awaitingCountAttribute == awaitingCountAttribute &&
				time.Since(cached.queriedAt) < cachedApprovalsTTL {
				return nil
			}
			v, err := w.client.Process(id).queryWaiting(ctx)
			w.mu.Lock()
			defer w.mu.Unlock()
			if err == nil { // otherwise its last answer stays
				w.cacheByProcessID[id] = cachedApprovals{awaitingCountAttribute, time.Now(), v.Approvals}
			}
			return nil
		})
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.cacheByProcessID, func(id string, _ cachedApprovals) bool { return !awaitingProcessIDs[id] })
	return err
}
