package process

import (
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file lets instances that a person has reopened work again. If the instance's workflow was not notified of its
// end yet, it goes on. Otherwise the workflow is started anew, with what the instance had reported.

// instanceRestart is an instance whose workflow is started anew, with the corrections that it is sent then.
type instanceRestart struct {
	instance    *loop.InstanceProgress
	corrections []protocol.CorrectInstanceSignal
}

// continueReopenedInstances removes reopened instances from the pending notifications of ends, and starts the others
// anew.
func (p *unsplitProcess) continueReopenedInstances(ctx workflow.Context) {
	restarts := p.loop.TakeInstancesToRestart()
	p.endQueue.instanceEnds = slices.DeleteFunc(p.endQueue.instanceEnds, func(e instanceEnd) bool {
		index := slices.IndexFunc(restarts, func(m *loop.InstanceProgress) bool { return m.Token == e.instanceToken })
		if index < 0 {
			return false
		}
		restarts = slices.Delete(restarts, index, index+1)
		if p.AreInstancesHeld {
			p.sendHoldSignal(ctx, e.instanceToken, protocol.HoldInstanceSignal{IsHeld: true,
				Reason: p.pauseReason().Message})
		}
		return true
	})
	for _, m := range restarts {
		p.pendingStarts = append(p.pendingStarts,
			pendingInstanceStart{instanceTokens: []string{m.Token}, restart: &instanceRestart{instance: m}})
	}
}

// findRestart returns the restart of an instance that has not begun again yet; nil if there is none.
func (p *unsplitProcess) findRestart(instanceToken string) *instanceRestart {
	for _, j := range p.pendingStarts {
		if j.restart != nil && j.restart.instance.Token == instanceToken {
			return j.restart
		}
	}
	return nil
}

func (p *unsplitProcess) isRestarting(instanceToken string) bool {
	return p.findRestart(instanceToken) != nil
}

// sendCorrection sends an instance a person's correction. An instance that is started anew gets it after its start.
func (p *unsplitProcess) sendCorrection(ctx workflow.Context, instanceToken string, s protocol.CorrectInstanceSignal) {
	if r := p.findRestart(instanceToken); r != nil {
		r.corrections = append(r.corrections, s)
		return
	}
	p.outbox.Send(ctx, protocol.InstanceID(p.processID, instanceToken),
		mailbox.OutgoingSignal{SignalName: protocol.SignalCorrectInstance, Payload: s})
}

const (
	firstRestartDelay = 50 * time.Millisecond // until the workflow that had ended has closed
	maxRestartDelay   = 5 * time.Second
)

// startFunc returns a function that starts the instance's workflow anew. It waits until the previous workflow, which
// was notified of its end, has closed.
func (r *instanceRestart) startFunc(p *unsplitProcess) func(workflow.Context, []string) error {
	return func(ctx workflow.Context, _ []string) error {
		initialState, writes := r.instance.StateHistory()
		setup := p.instanceSetup()
		setup.Context = ideafile.ContextForRestartedInstance(p.idea.Context, r.instance.Token, initialState)
		reopened := &protocol.ReopenedInstance{
			Writes: writes, Calls: r.instance.CallReports(), ClosedThroughRequest: r.instance.ClosedThroughRequest,
			LastReportNumber: r.instance.LastReportVersion[0], HistoryLength: r.instance.LastReportVersion[1],
			CorrectionCount: r.instance.AckedCorrectionCount, ResumeNumber: r.instance.ResumeCount,
			QuotaUse: r.instance.QuotaAllocation.UseWithoutNeeds(),
		}
		for delay := firstRestartDelay; ; delay = min(2*delay, maxRestartDelay) {
			childFuture := p.startInstance(ctx, setup,
				protocol.InstanceStart{InstanceToken: r.instance.Token, Reopened: reopened})
			err := childFuture.GetChildWorkflowExecution().Get(ctx, nil)
			if err == nil {
				p.watchInstances(ctx, []string{r.instance.Token}, []workflow.ChildWorkflowFuture{childFuture})
				break
			}
			var alreadyStarted *temporal.ChildWorkflowExecutionAlreadyStartedError
			if !errors.As(err, &alreadyStarted) {
				return err
			}
			if err := workflow.Sleep(ctx, delay); err != nil {
				return err
			}
		}
		for _, s := range r.corrections {
			p.sendCorrection(ctx, r.instance.Token, s)
		}
		return nil
	}
}
