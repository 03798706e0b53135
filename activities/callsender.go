package activities

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"

	"processidea/internal/pause"
	"processidea/internal/safego"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// maxConcurrentSignals bounds the signals in flight.
const maxConcurrentSignals = 16

// A Call waits a moment for others to close behind it, so that the Calls of one burst go in one signal: until nothing
// has closed for callBatchDelay, at most maxCallBatchDelay, and not at all after the last Call. A batch of
// maxCallsPerSignal is sent immediately, so that it runs while the rest of the reply is still being written.
const (
	callBatchDelay    = time.Millisecond
	maxCallBatchDelay = 10 * time.Millisecond
	maxCallsPerSignal = 100
)

// callSender signals the Calls of one Request to its instances.
//
// Invariants: an instance gets its Calls in the order of addToBatch; at most one signal to an instance is under way,
// and Calls that are added meanwhile go with the next signal.
type callSender struct {
	ctx           context.Context
	client        client.Client
	processID     string
	requestNumber int
	ideaSource    jsonval.Object // the Idea that the Request is made from
	startState    instanceStartState
	signalSlots   chan struct{}
	senderGroup   sync.WaitGroup

	mu           sync.Mutex
	batchByToken map[string]*callBatch // by token
	goneTokens   []string              // tokens of instances whose workflows are gone
	firstErr     error                 // the first
}

// instanceStartState is what is known about the start of the instances. A workflow that is not found has either not
// started or been deleted.
type instanceStartState int

const (
	startStateUnknown         instanceStartState = iota
	startStatePendingChildren                    // instances not started yet are pending children of the process
	startStateAllStarted                         // every instance had started when the Request was made
)

// callBatch is the next signal for one instance.
type callBatch struct {
	pendingSignal  protocol.CallsSignal
	hasPending     bool          // pendingSignal is not empty
	isSending      bool          // a goroutine sends what is pending
	lastAddedAt    time.Time     // when something was added last
	sendNowChannel chan struct{} // signalled when pendingSignal need not wait for more
}

func newCallSender(ctx context.Context, c client.Client, processID string, requestNumber int,
	idea jsonval.Object) *callSender {
	return &callSender{ctx: ctx, client: c, processID: processID, requestNumber: requestNumber, ideaSource: idea,
		signalSlots: make(chan struct{}, maxConcurrentSignals), batchByToken: map[string]*callBatch{}}
}

// addToBatch adds to the next signal for an instance.
func (c *callSender) addToBatch(instanceToken string, changeSignal func(*protocol.CallsSignal)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.batchByToken[instanceToken]
	if b == nil {
		b = &callBatch{sendNowChannel: make(chan struct{}, 1)}
		c.batchByToken[instanceToken] = b
	}
	changeSignal(&b.pendingSignal)
	b.hasPending, b.lastAddedAt = true, time.Now()
	if b.pendingSignal.IsLast || len(b.pendingSignal.Calls) >= maxCallsPerSignal {
		select {
		case b.sendNowChannel <- struct{}{}:
		default: // already signalled
		}
	}
	if !b.isSending {
		b.isSending = true
		c.senderGroup.Add(1)
		safego.Go("activities.callsender", func() error { return c.send(instanceToken, b) },
			func(err error) { c.onSenderEnded(b, err) })
	}
}

// waitUntilBatchDue waits until a batch should be sent. It looks at the clock instead of being woken for each Call,
// which would take longer than reading one.
func (c *callSender) waitUntilBatchDue(b *callBatch) {
	deadline := time.Now().Add(maxCallBatchDelay)
	for {
		c.mu.Lock()
		remaining := min(time.Until(b.lastAddedAt.Add(callBatchDelay)), time.Until(deadline))
		c.mu.Unlock()
		if remaining <= 0 {
			return
		}
		select {
		case <-time.After(remaining):
		case <-b.sendNowChannel:
			return
		case <-c.ctx.Done():
			return
		}
	}
}

// takePending empties a batch, and resets its signal full.
func (b *callBatch) takePending() protocol.CallsSignal {
	s := b.pendingSignal
	b.pendingSignal, b.hasPending = protocol.CallsSignal{}, false
	select {
	case <-b.sendNowChannel:
	default:
	}
	return s
}

// send sends to one instance until nothing is left for it.
func (c *callSender) send(instanceToken string, b *callBatch) error {
	for {
		c.waitUntilBatchDue(b)
		if err := c.sendBatch(instanceToken, b); err != nil {
			return err
		}
		c.mu.Lock()
		b.isSending = b.hasPending
		hasMore := b.isSending
		c.mu.Unlock()
		if !hasMore {
			return nil
		}
	}
}

func (c *callSender) sendBatch(instanceToken string, b *callBatch) error {
	c.signalSlots <- struct{}{}
	defer func() { <-c.signalSlots }()
	c.mu.Lock()
	s := b.takePending()
	c.mu.Unlock()
	s.RequestNumber, s.CausedBy = c.requestNumber, policy.ReadCausers(c.ideaSource, instanceToken)
	return c.deliver(instanceToken, s)
}

// onSenderEnded handles the end of send. After an error another goroutine may send what is added to the batch.
func (c *callSender) onSenderEnded(b *callBatch, err error) {
	defer c.senderGroup.Done()
	if err == nil {
		return // another goroutine may be sending by now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b.isSending = false
	if c.firstErr == nil {
		c.firstErr = err
	}
}

const (
	signalRetryDelay          = 200 * time.Millisecond
	instanceStartPollInterval = 20 * time.Millisecond // until an instance has started
	instanceStartGracePeriod  = time.Second           // an instance that takes longer to start may have been deleted
)

// deliver sends one signal, and tries for as long as the Request may take. It waits for an instance that has not
// started yet. An instance that is gone is noted, and is no error.
func (c *callSender) deliver(instanceToken string, s protocol.CallsSignal) error {
	workflowID, startedAt := protocol.InstanceID(c.processID, instanceToken), time.Now()
	for {
		err := c.client.SignalWorkflow(c.ctx, workflowID, "", protocol.SignalCalls, s)
		if err == nil {
			return nil
		}
		delay := signalRetryDelay
		if isNotFound(err) {
			if c.isInstanceWorkflowGone(workflowID, time.Since(startedAt) > instanceStartGracePeriod) {
				c.markGone(instanceToken)
				return nil
			}
			delay = instanceStartPollInterval
		}
		if pause.For(c.ctx, delay) != nil {
			return c.ctx.Err()
		}
	}
}

// isInstanceWorkflowGone reports whether a workflow that could not be signalled has ended, or was deleted. isOverdue:
// it should have started by now.
func (c *callSender) isInstanceWorkflowGone(workflowID string, isOverdue bool) bool {
	d, err := c.client.DescribeWorkflowExecution(c.ctx, workflowID, "")
	switch {
	case err == nil:
		return !protocol.IsOpen(d.GetWorkflowExecutionInfo().GetStatus())
	case !isNotFound(err) || c.startState == startStateUnknown:
		return false
	case c.startState == startStateAllStarted:
		return true
	}
	return isOverdue && !c.isPendingChild(workflowID)
}

// isPendingChild reports whether the process may still be starting a workflow; true if the process cannot be described.
func (c *callSender) isPendingChild(workflowID string) bool {
	d, err := c.client.DescribeWorkflowExecution(c.ctx, c.processID, "")
	return err != nil || slices.ContainsFunc(d.GetPendingChildren(),
		func(p *workflowpb.PendingChildExecutionInfo) bool { return p.GetWorkflowId() == workflowID })
}

func (c *callSender) markGone(instanceToken string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goneTokens = jsonval.AppendNew(c.goneTokens, instanceToken)
}

func isNotFound(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

// waitUntilDelivered waits until everything was delivered, and returns the tokens of instances that are gone, sorted.
func (c *callSender) waitUntilDelivered() (goneTokens []string, err error) {
	c.senderGroup.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.goneTokens)), c.firstErr
}
