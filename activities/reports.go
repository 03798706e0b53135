package activities

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Temporal advises at most five signals a second for one workflow. To stay below that, a worker sends a process one
// signal with the reports of several instances, and the more workers there are, the fewer signals each of them.
const (
	reportSignalInterval = 200 * time.Millisecond // between two signals to a process, of all workers
	// maxReportInterval bounds how long one worker waits: an instance's next step may wait for its report. More than
	// ten workers that all have reports may together send more than five signals a second.
	maxReportInterval   = 2 * time.Second
	maxReportBatchBytes = 500_000 // bytes in one signal, about
	// workerCountTTL is how long a count of the workers is used: for so long a new worker's signals come in addition.
	workerCountTTL     = 2 * time.Second
	workerCountTimeout = time.Second
)

// reportBatcher gathers the reports of instances, by the ids of their processes.
type reportBatcher struct {
	mu             sync.Mutex
	queueByProcess map[string]*reportQueue

	countMu     sync.Mutex // of who counts the workers
	countedAt   time.Time
	workerCount atomic.Int64
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
	countWorkers func(context.Context) (int, error),
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
	queue.limiter.SetLimit(rate.Every(g.interval(ctx, countWorkers)))
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

// interval is how long this worker waits between two signals to a process. A count that fails changes nothing, and
// nobody waits for one that others make.
func (g *reportBatcher) interval(ctx context.Context, countWorkers func(context.Context) (int, error)) time.Duration {
	if g.countMu.TryLock() {
		g.updateWorkerCount(ctx, countWorkers)
		g.countMu.Unlock()
	}
	return min(reportSignalInterval*time.Duration(max(g.workerCount.Load(), 1)), maxReportInterval)
}

func (g *reportBatcher) updateWorkerCount(ctx context.Context, countWorkers func(context.Context) (int, error)) {
	if time.Since(g.countedAt) < workerCountTTL {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, workerCountTimeout)
	defer cancel()
	if count, err := countWorkers(ctx); err == nil {
		g.workerCount.Store(int64(count))
	}
	g.countedAt = time.Now()
}

// joinBatch adds reports to the next batch for a process. isFirst: the batch is new.
func (g *reportBatcher) joinBatch(processID string,
	s rawReportsSignal) (queue *reportQueue, b *reportBatch, isFirst bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue = g.queueByProcess[processID]
	if queue == nil {
		maps.DeleteFunc(g.queueByProcess, func(_ string, otherQueue *reportQueue) bool {
			return otherQueue.nextBatch == nil && otherQueue.limiter.Tokens() >= 1
		})
		if g.queueByProcess == nil {
			g.queueByProcess = map[string]*reportQueue{}
		}
		queue = &reportQueue{limiter: rate.NewLimiter(rate.Every(reportSignalInterval), 1)}
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
