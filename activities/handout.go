package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"processidea/protocol"
)

// signalsAtOnce bounds the signals that are under way together.
const signalsAtOnce = 16

// A Call waits for what closes right behind it, so that the Calls of one burst go in one signal: until nothing has closed
// for linger, but for lingerAtMost altogether, and neither behind the last one nor with a crowd: that is run while the rest
// closes.
const (
	linger       = time.Millisecond
	lingerAtMost = 10 * time.Millisecond
	crowd        = 100
)

// handout hands the Calls of one Request to its instances, each in order. What comes for an instance while a signal to it
// is under way goes with the next one.
type handout struct {
	ctx     context.Context
	client  client.Client
	process string
	request int
	slots   chan struct{}
	wait    sync.WaitGroup

	mu     sync.Mutex
	queues map[string]*queue
	err    error
}

type queue struct {
	pending protocol.CallsSignal
	waiting bool // there is something in pending
	sending bool
	came    time.Time     // when the last of it did
	full    chan struct{} // it need not wait for more
}

func newHandout(ctx context.Context, c client.Client, process string, request int) *handout {
	return &handout{ctx: ctx, client: c, process: process, request: request,
		slots: make(chan struct{}, signalsAtOnce), queues: map[string]*queue{}}
}

// give queues something for one instance and sees to it that it is sent.
func (h *handout) give(token string, add func(*protocol.CallsSignal)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.queues[token]
	if q == nil {
		q = &queue{full: make(chan struct{}, 1)}
		h.queues[token] = q
	}
	add(&q.pending)
	q.waiting, q.came = true, time.Now()
	if q.pending.Last || len(q.pending.Calls) >= crowd {
		select {
		case q.full <- struct{}{}:
		default: // it is told already
		}
	}
	if !q.sending {
		q.sending = true
		h.wait.Add(1)
		go h.send(token, q)
	}
}

// gather waits for what comes right behind. It is not woken for each Call: that would take longer than to read one.
func (h *handout) gather(q *queue) {
	enough := time.Now().Add(lingerAtMost)
	for {
		h.mu.Lock()
		left := min(time.Until(q.came.Add(linger)), time.Until(enough))
		h.mu.Unlock()
		if left <= 0 {
			return
		}
		select {
		case <-time.After(left):
		case <-q.full:
			return
		case <-h.ctx.Done():
			return
		}
	}
}

// take takes all that waits, and with it the word that it is enough.
func (q *queue) take() protocol.CallsSignal {
	s := q.pending
	q.pending, q.waiting = protocol.CallsSignal{}, false
	select {
	case <-q.full:
	default:
	}
	return s
}

// send sends until nothing is left in an instance's queue.
func (h *handout) send(token string, q *queue) {
	defer h.wait.Done()
	for {
		h.gather(q)
		h.slots <- struct{}{}
		h.mu.Lock()
		s := q.take()
		h.mu.Unlock()
		s.Request = h.request
		err := h.deliver(token, s)
		<-h.slots
		h.mu.Lock()
		if h.err == nil {
			h.err = err
		}
		q.sending = q.waiting && err == nil
		again := q.sending
		h.mu.Unlock()
		if !again {
			return
		}
	}
}

const (
	redeliver = 200 * time.Millisecond
	lookAgain = 20 * time.Millisecond
)

// deliver sends one signal, for as long as the Request may take. An instance that is gone takes no Calls; for one that has
// not started yet it waits.
func (h *handout) deliver(token string, s protocol.CallsSignal) error {
	id := protocol.InstanceID(h.process, token)
	for {
		err := h.client.SignalWorkflow(h.ctx, id, "", protocol.SignalCalls, s)
		if err == nil || notFound(err) && h.ended(id) {
			return nil
		}
		again := redeliver
		if notFound(err) {
			again = lookAgain
		}
		select {
		case <-h.ctx.Done():
			return h.ctx.Err()
		case <-time.After(again):
		}
	}
}

// ended says whether a workflow is there and has ended.
func (h *handout) ended(id string) bool {
	d, err := h.client.DescribeWorkflowExecution(h.ctx, id, "")
	return err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

func notFound(err error) bool {
	var none *serviceerror.NotFound
	return errors.As(err, &none)
}

// finish waits until everything was delivered.
func (h *handout) finish() error {
	h.wait.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}
