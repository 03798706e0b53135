package activities

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Temporal advises at most five signals a second for one workflow. To stay below that, a worker sends a process one
// signal with the reports of several instances. The interval leaves room for a second worker.
const (
	reportBatchInterval = 400 * time.Millisecond // between two signals to a process
	reportBatchBurst    = 5                      // signals that go out at once
	maxReportBatchBytes = 500_000                // bytes in one signal, about
)

// reportBatcher gathers the reports of instances, by the ids of their processes.
type reportBatcher struct {
	mu             sync.Mutex
	queueByProcess map[string]*reportQueue
}

type reportQueue struct {
	limiter   *rate.Limiter
	nextBatch *reportBatch // that others may join; nil: none
}

// rawReportsSignal is turn.ReportSignal with undecoded reports.
type rawReportsSignal struct {
	Reports []json.RawMessage `json:"reports"`
}

// reportBatch is the reports in one signal. The caller that makes it sends it; err is set once done is closed.
type reportBatch struct {
	rawReportsSignal
	byteCount int
	done      chan struct{}
	err       error
}

var errReportsNotSent = errors.New("the worker's other activity that would send it has ended")

// send sends reports to a process, perhaps together with others, and returns when that is done.
func (g *reportBatcher) send(ctx context.Context, processID string, s rawReportsSignal,
	sendSignal func(ctx context.Context, s rawReportsSignal) error) error {
	queue, b, isFirst := g.joinBatch(processID, s)
	if !isFirst {
		select {
		case <-b.done:
			return b.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.err = errReportsNotSent
	defer close(b.done)
	err := queue.limiter.Wait(ctx)
	g.mu.Lock()
	if queue.nextBatch == b {
		queue.nextBatch = nil
	}
	s = b.rawReportsSignal
	g.mu.Unlock()
	if err == nil {
		err = sendSignal(ctx, s)
	}
	b.err = err
	return err
}

// joinBatch adds reports to the next batch for a process. isFirst: the batch is new.
func (g *reportBatcher) joinBatch(processID string,
	s rawReportsSignal) (queue *reportQueue, b *reportBatch, isFirst bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue = g.queueByProcess[processID]
	if queue == nil {
		maps.DeleteFunc(g.queueByProcess, func(_ string, otherQueue *reportQueue) bool {
			return otherQueue.nextBatch == nil && otherQueue.limiter.Tokens() >= reportBatchBurst
		})
		if g.queueByProcess == nil {
			g.queueByProcess = map[string]*reportQueue{}
		}
		queue = &reportQueue{limiter: rate.NewLimiter(rate.Every(reportBatchInterval), reportBatchBurst)}
		g.queueByProcess[processID] = queue
	}
	b = queue.nextBatch
	if isFirst = b == nil; isFirst {
		b = &reportBatch{done: make(chan struct{})}
		queue.nextBatch = b
	}
	b.Reports = append(b.Reports, s.Reports...)
	for _, r := range s.Reports {
		b.byteCount += len(r)
	}
	if b.byteCount >= maxReportBatchBytes {
		queue.nextBatch = nil
	}
	return queue, b, isFirst
}
