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

// Temporal advises at most five signals a second for one workflow. A worker sends a process one signal with the reports
// of several instances where that would be exceeded, also by two workers together.
const (
	gatherFor       = 400 * time.Millisecond // between two signals to a process
	beforeGathering = 5                      // signals go out at once
	maxGathered     = 500_000                // bytes in one signal, about
)

// gatherer gathers the reports of instances, by the ids of their processes.
type gatherer struct {
	mu   sync.Mutex
	byID map[string]*gathering
}

type gathering struct {
	pace *rate.Limiter
	next *bundle // that others may join; nil: none
}

// reportsSignal is turn.ReportSignal with reports that are left as they are.
type reportsSignal struct {
	Reports []json.RawMessage `json:"reports"`
}

// bundle is the reports in one signal. Whoever makes it sends it; err is there once done is closed.
type bundle struct {
	reportsSignal
	bytes int
	done  chan struct{}
	err   error
}

var errNotSent = errors.New("the worker's other activity that would send it has ended")

// send sends reports to a process, perhaps together with others, and returns when that is done.
func (g *gatherer) send(ctx context.Context, to string, s reportsSignal,
	signal func(ctx context.Context, s reportsSignal) error) error {
	of, b, isFirst := g.join(to, s)
	if !isFirst {
		select {
		case <-b.done:
			return b.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.err = errNotSent
	defer close(b.done)
	err := of.pace.Wait(ctx)
	g.mu.Lock()
	if of.next == b {
		of.next = nil
	}
	s = b.reportsSignal
	g.mu.Unlock()
	if err == nil {
		err = signal(ctx, s)
	}
	b.err = err
	return err
}

// join adds reports to the next bundle to a process. isFirst: it is a new one.
func (g *gatherer) join(to string, s reportsSignal) (of *gathering, b *bundle, isFirst bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	of = g.byID[to]
	if of == nil {
		maps.DeleteFunc(g.byID, func(_ string, old *gathering) bool {
			return old.next == nil && old.pace.Tokens() >= beforeGathering
		})
		if g.byID == nil {
			g.byID = map[string]*gathering{}
		}
		of = &gathering{pace: rate.NewLimiter(rate.Every(gatherFor), beforeGathering)}
		g.byID[to] = of
	}
	b = of.next
	if isFirst = b == nil; isFirst {
		b = &bundle{done: make(chan struct{})}
		of.next = b
	}
	b.Reports = append(b.Reports, s.Reports...)
	for _, r := range s.Reports {
		b.bytes += len(r)
	}
	if b.bytes >= maxGathered {
		of.next = nil
	}
	return of, b, isFirst
}
