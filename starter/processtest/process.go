package processtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
)

// Process is a process under test. An error in a method fails the test.
type Process struct {
	*client.Process

	t              testing.TB
	restTimeout    time.Duration
	client         *client.Client
	isDelegateTool map[string]bool // Tools that run processes
	doneCh         chan struct{}   // closed at the end, once result and err are set
	result         loop.ProcessResult
	resultErr      error

	mu               sync.Mutex
	recordedRequests []Request
	callAttempts     []CallAttempt
}

// awaitResultInBackground waits for the end of the process.
func (p *Process) awaitResultInBackground() {
	p.doneCh = make(chan struct{})
	ctx, cancel := context.WithCancel(p.t.Context())
	p.t.Cleanup(func() {
		cancel()
		<-p.doneCh
	})
	go func() {
		defer close(p.doneCh)
		p.result, p.resultErr = p.Process.Result(ctx)
	}()
}

// Result waits for the end of the process and returns its Result. A process that pauses, or waits for a person, fails
// the test.
func (p *Process) Result() loop.ProcessResult {
	p.t.Helper()
	r, waiting := p.awaitRest()
	switch {
	case len(waiting) > 0:
		p.t.Fatalf("processtest: process %s does not end: it waits for a person at %s", p.ID(),
			describeApprovals(waiting))
	case r.Status == loop.StatusPaused:
		p.t.Fatalf("processtest: process %s does not end: it is paused: %s", p.ID(), resultErrorText(r))
	}
	return r
}

// ResultAtRest waits until the process has ended, is paused, or waits only for people, and returns its current Result.
func (p *Process) ResultAtRest() loop.ProcessResult {
	p.t.Helper()
	r, _ := p.awaitRest()
	return r
}

// AwaitApprovals waits until the process and its delegates wait only for people, and returns the waiting Calls. A
// process that ends or pauses instead fails the test.
func (p *Process) AwaitApprovals() []client.Approval {
	p.t.Helper()
	r, waiting := p.awaitRest()
	if len(waiting) == 0 {
		p.t.Fatalf("processtest: process %s waits for nobody: it is %s: %s", p.ID(), r.Status, resultErrorText(r))
	}
	return waiting
}

// AwaitApprovalOf returns the one Call of a Tool that waits for a person. Any other number of such Calls fails the
// test.
func (p *Process) AwaitApprovalOf(tool string) client.Approval {
	p.t.Helper()
	waitingApprovals := p.AwaitApprovals()
	matchingApprovals := slices.DeleteFunc(slices.Clone(waitingApprovals),
		func(a client.Approval) bool { return a.Tool != tool })
	if len(matchingApprovals) != 1 {
		p.t.Fatalf("processtest: %d Calls of %s wait for a person, not 1; it waits at %s", len(matchingApprovals), tool,
			describeApprovals(waitingApprovals))
	}
	return matchingApprovals[0]
}

func describeApprovals(waiting []client.Approval) string {
	var texts []string
	for _, a := range waiting {
		texts = append(texts, fmt.Sprintf("%s %s %s", a.CallID, a.Tool, jsonval.Encode(a.Params)))
	}
	return strings.Join(texts, ", ")
}

func resultErrorText(r loop.ProcessResult) string {
	if r.Error == nil {
		return "no error"
	}
	return r.Error.Code + ": " + r.Error.Message
}

// awaitRest waits until the process rests, and returns what waits for people.
func (p *Process) awaitRest() (loop.ProcessResult, []client.Approval) {
	p.t.Helper()
	ctx, cancel := p.context()
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var lastErr error
	for {
		select {
		case <-p.doneCh:
			if p.resultErr != nil {
				p.t.Fatalf("processtest: %v", p.resultErr)
			}
			return p.result, nil
		case <-ctx.Done():
			v, err := p.Process.Status(p.t.Context())
			p.t.Fatalf("processtest: process %s has not come to rest within %s: it is %s, waiting for %q (%v)", p.ID(),
				p.restTimeout, v.Status, v.WaitingFor,
				errors.Join(lastErr, err))
		case <-tick.C:
			r, waiting, isResting, err := p.checkRest(ctx)
			if isResting {
				return r, waiting
			}
			lastErr = err
		}
	}
}

// checkRest reports whether the process, which has not ended, rests.
func (p *Process) checkRest(ctx context.Context) (r loop.ProcessResult, waiting []client.Approval, isResting bool,
	err error) {
	status, err := p.Process.Status(ctx)
	if err != nil {
		return r, nil, false, err
	}
	if status.Status != loop.StatusPaused {
		waiting, isResting, err = p.waitingApprovals(ctx, p.Process, status)
		if !isResting || len(waiting) == 0 {
			return r, nil, false, err
		}
	}
	r, err = p.Process.WithStates(ctx, status)
	return r, waiting, err == nil, err
}

// waitingApprovals returns the Calls of a process and its delegates that wait for people. isResting is false if
// something else goes on. It asks the instances, since the process learns of their Calls later.
func (p *Process) waitingApprovals(ctx context.Context, target *client.Process,
	status client.Status) (waiting []client.Approval, isResting bool, err error) {
	for _, line := range status.WaitingFor {
		if strings.HasPrefix(line, protocol.WaitingForLLMPrefix) {
			return nil, false, nil
		}
	}
	instances, err := target.Instances(ctx)
	if err != nil || len(instances) == 0 {
		return nil, false, err
	}
	expectedCallIDs := map[string]bool{}
	for token, i := range instances {
		for _, c := range i.Calls {
			switch {
			case c.Status == ideafile.CallAwaitingApproval:
				expectedCallIDs[c.ID] = true
			case c.Status == ideafile.CallRunning && !p.isDelegateTool[c.Tool]:
				return nil, false, nil
			case c.Status == ideafile.CallRunning:
				processID, _, _ := protocol.ParseInstanceID(status.InstanceID(token))
				delegateApprovals, isResting, err := p.waitingInDelegate(ctx, protocol.DelegateID(processID, c.ID))
				if !isResting {
					return nil, false, err
				}
				waiting = append(waiting, delegateApprovals...)
			}
		}
	}
	ownApprovals, err := target.Approvals(ctx)
	ownApprovals = slices.DeleteFunc(ownApprovals, func(a client.Approval) bool { return !expectedCallIDs[a.CallID] })
	return append(ownApprovals, waiting...), err == nil && len(ownApprovals) == len(expectedCallIDs), err
}

// waitingInDelegate is waitingApprovals for the process that a Call runs. If that has ended, its Call goes on, so it
// does not rest.
func (p *Process) waitingInDelegate(ctx context.Context,
	delegateID string) (waiting []client.Approval, isResting bool, err error) {
	delegate := p.client.Process(delegateID)
	status, err := delegate.Status(ctx)
	switch {
	case err != nil:
		return nil, false, err
	case status.Status == loop.StatusPaused:
		return nil, true, nil
	case status.Status != loop.StatusRunning:
		return nil, false, nil
	}
	return p.waitingApprovals(ctx, delegate, status)
}
