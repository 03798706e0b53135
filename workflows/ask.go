package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// parentClosePolicy lets instances outlive a run of their process: Temporal applies it at continue-as-new too. The
// process ends them itself.
const parentClosePolicy = enumspb.PARENT_CLOSE_POLICY_ABANDON

const (
	requestAttempts = 5 // until the stream's first byte
	startToCloseOut = "TemporalTimeout:StartToClose"
)

// ask makes one Request. The activity hands each Call on to its instance as it closes in the stream.
func (p *process) ask(ctx workflow.Context, brief *turn.RequestInput) {
	p.asked = p.idea
	ctx = p.requestOptions(ctx, brief)
	bare, changes := brief.WithoutStates(p.known())
	f := workflow.ExecuteActivity(ctx, protocol.ActivityRequest, p.setup, bare, protocol.RequestStates{Base: p.base, Changes: changes})
	p.inbox.when(f, func(f workflow.Future) { p.replied(ctx, brief, f) })
}

func (p *process) requestOptions(ctx workflow.Context, brief *turn.RequestInput) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: p.idea.Config.LLM.Timeout,
		HeartbeatTimeout:    protocol.HeartbeatTimeout,
		Summary:             askSummary(brief),
		// Only what goes wrong before the first byte is tried again: after it, a second answer would be a different Plan
		// on top of the first.
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			MaximumAttempts: requestAttempts, NonRetryableErrorTypes: []string{protocol.HeartbeatLost, startToCloseOut},
		},
	})
}

// known gives the States that a Request's activity can read: those of the last Idea of the chain, or, where there is none,
// those that the process's own Idea begins with.
func (p *process) known() map[string]any {
	if p.base.At > 0 {
		return p.states
	}
	return turn.InitialStates(p.idea.Context, p.mind.Tokens())
}

func askSummary(b *turn.RequestInput) string {
	switch {
	case len(b.Questions) > 0:
		return fmt.Sprintf("Request %d: %s", b.Number, b.QuestionSummary())
	case b.OutputOnly:
		return fmt.Sprintf("Request %d: the output", b.Number)
	case len(b.Instances) == 1:
		return fmt.Sprintf("Request %d: ask for a Plan", b.Number)
	}
	return fmt.Sprintf("Request %d: ask for a Plan for %d instances", b.Number, len(b.Instances))
}

// replied takes the end of a Request. One that did not end by itself is closed at every instance it covered: what they
// accepted until then is the solution, and nothing more of it is taken from a worker that was only thought dead.
func (p *process) replied(ctx workflow.Context, brief *turn.RequestInput, f workflow.Future) {
	var r turn.Reply
	if err := f.Get(ctx, &r); err != nil {
		r = brokenReply(err)
	}
	if !r.Complete {
		p.closeEverywhere(ctx, brief)
	}
	p.mind.ApplyReply(r)
}

func brokenReply(err error) turn.Reply {
	if protocol.WorkerLost(err) {
		return turn.Reply{WorkerLost: true, Fault: &diag.Fault{Code: turn.CodeWorkerLost, Message: "the worker that listened was lost"}}
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return turn.Reply{Fault: &diag.Fault{Code: turn.CodeEndlessReply, Message: "the reply took longer than a Request may"}}
	}
	f := protocol.FaultOf(err)
	return turn.Reply{NotRetryable: true, Fault: f}
}

func (p *process) closeEverywhere(ctx workflow.Context, brief *turn.RequestInput) {
	if brief.OutputOnly {
		return
	}
	var list []protocol.Delivery
	for _, c := range brief.Instances {
		list = append(list, protocol.NewDelivery(protocol.InstanceID(p.id, c.Token), protocol.SignalClose, protocol.CloseSignal{Request: brief.Number}))
	}
	p.tell(ctx, list)
}

// conclude closes the Request under way once it has ended, and seals its Idea.
func (p *process) conclude(ctx workflow.Context) {
	c := p.mind.Conclude()
	if c == nil {
		return
	}
	if len(c.Input.Questions) == 0 {
		p.seal(ctx, sealing{idea: p.asked, brief: c.FullInput, request: c.Input.Number, log: c.Log, calls: c.Calls, output: c.Reply.Output})
	}
}

// sealing is one Idea to be put on the chain.
type sealing struct {
	idea    *ideafile.Idea
	brief   *turn.RequestInput
	request int // the Request that it is of; 0: of none
	log     []turn.LogEntry
	calls   []ideafile.WrittenCall
	output  any
}

// sealNow puts the process as it stands on the chain.
func (p *process) sealNow(ctx workflow.Context, output any) {
	p.seal(ctx, sealing{idea: p.idea, brief: p.mind.FullInput(), log: p.mind.TakeLog(), calls: []ideafile.WrittenCall{}, output: output})
}

// seal puts one Idea on the chain. Sealing is content-addressed, so that doing it twice is doing it once.
func (p *process) seal(ctx workflow.Context, what sealing) {
	in := protocol.SealInput{
		Process: p.id, At: p.last.At + 1, Parent: p.last.Digest,
		Idea: what.idea.Source, Brief: what.brief, Calls: what.calls, Output: what.output, Request: what.request, Log: what.log,
	}
	s, err := putOnChain(ctx, in)
	if err != nil {
		workflow.GetLogger(ctx).Error("an Idea could not be sealed", "error", err)
		p.base = protocol.Sealed{}
		return
	}
	p.last, p.base, p.states = s, s, what.brief.States()
}

// putOnChain seals in the workflow task where it can. Where the store does not answer it waits in an activity, which an
// operator sees, for as long as it takes.
func putOnChain(ctx workflow.Context, in protocol.SealInput) (s protocol.Sealed, err error) {
	summary := fmt.Sprintf("seal Idea %d", in.At)
	err = workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2}, Summary: summary,
	}), protocol.ActivitySeal, in).Get(ctx, &s)
	if err == nil || ctx.Err() != nil {
		return s, err
	}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: summary,
	}), protocol.ActivitySeal, in).Get(ctx, &s)
	return s, err
}

// sealEnd seals the final States, if anything changed since the last Idea.
func (p *process) sealEnd(ctx workflow.Context) {
	if _, changed := jsonval.Delta(p.states, p.mind.FullInput().States()); changed || p.last.At == 0 {
		p.sealNow(ctx, p.mind.Output())
	}
}
