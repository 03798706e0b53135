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

// WaitingCount is how many Calls of a Tool wait for a person; Oldest is since when the oldest waits.
type WaitingCount struct {
	Tool   string
	Count  int
	Oldest time.Time // zero if no Call waits
}

// WaitingCounter repeatedly counts what waits for people in all processes. It queries a process again when Temporal
// lists another number for it. It also does so after waitingTTL, since by then other Calls may wait in the same number.
type WaitingCounter struct {
	client *Client
	mu     sync.Mutex
	known  map[string]cachedWaiting
	tools  map[string]bool // every Tool whose Calls have ever waited
}

type cachedWaiting struct {
	attributeCount string // the process's search attribute for the number of waiting Calls
	at             time.Time
	list           []Approval
}

// waitingTTL is how long the answer of a process is used: a query is a billed Action of Temporal Cloud.
const waitingTTL = 5 * time.Minute

// NewWaitingCounter makes a counter that has queried no process yet.
func (c *Client) NewWaitingCounter() *WaitingCounter {
	return &WaitingCounter{client: c, known: map[string]cachedWaiting{}, tools: map[string]bool{}}
}

// Count counts by Tool. It returns 0 for a Tool that no longer waits for anybody.
func (w *WaitingCounter) Count(ctx context.Context) ([]WaitingCount, error) {
	infos, err := w.client.awaiting(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	if err := w.ask(ctx, infos); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	byTool := map[string]WaitingCount{}
	for _, k := range w.known {
		for _, a := range k.list {
			one := byTool[a.Tool]
			if one.Count++; one.Count == 1 || a.Since.Before(one.Oldest) {
				one.Oldest = a.Since
			}
			byTool[a.Tool], w.tools[a.Tool] = one, true
		}
	}
	var list []WaitingCount
	for tool := range jsonval.Sorted(w.tools) {
		one := byTool[tool]
		one.Tool = tool
		list = append(list, one)
	}
	return list, nil
}

// ask queries the processes without a fresh answer, and forgets the processes that wait for nobody.
func (w *WaitingCounter) ask(ctx context.Context, infos []*workflowpb.WorkflowExecutionInfo) error {
	open := map[string]bool{}
	for _, info := range infos {
		open[info.GetExecution().GetWorkflowId()] = true
	}
	err := safego.Each(ctx, "client.countwaiting", len(infos), maxQueries, func(ctx context.Context, n int) error {
		id := infos[n].GetExecution().GetWorkflowId()
		listed := infos[n].GetSearchAttributes().GetIndexedFields()[protocol.AttributeAwaiting].String()
		w.mu.Lock()
		before, known := w.known[id]
		w.mu.Unlock()
		if known && before.attributeCount == listed && time.Since(before.at) < waitingTTL {
			return nil
		}
		v, err := w.client.Process(id).queryWaiting(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil { // otherwise its last answer stays
			w.known[id] = cachedWaiting{listed, time.Now(), v.Approvals}
		}
		return nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.known, func(id string, _ cachedWaiting) bool { return !open[id] })
	return err
}
