package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

// This file holds a process of very many instances: it is split into parts, processes themselves with Requests and a
// chain of their own, starts some at a time, passes on what people signal, and gathers what they come to.

// runParts is a split process from its first part to its result.
func (p *process) runParts(ctx workflow.Context) (*model.Result, error) {
	for ctx.Err() == nil {
		p.passes++
		p.checkLimit(ctx)
		for _, part := range p.parts.Start() {
			if err := p.startPart(ctx, part); err != nil {
				return nil, err
			}
		}
		p.showParts(ctx, p.partsStatus())
		if p.parts.Over() && p.parts.Paused == nil && p.outputOfParts(ctx) {
			return p.gather(ctx)
		}
		if tooLong(ctx, p.passes, p.start.ContinueEvery) && p.idle() {
			return nil, p.continueParts(ctx)
		}
		p.inbox.wait(ctx)
	}
	return nil, p.cancelParts(ctx)
}

// startPart starts a part and waits until it has started. It outlives this run, and ends with the process all the same.
func (p *process) startPart(ctx workflow.Context, part model.Part) error {
	start := p.start
	start.Idea = part.Source(p.idea.Source)
	start.Delegation.To = nil // the whole tells of it
	start.Part = &PartOf{Number: part.Number, Of: ProcessRef{p.id, p.firstRun}}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: PartID(p.id, part.Number), ParentClosePolicy: parentClosePolicy,
		Memo:          map[string]any{MemoPath: p.idea.Path, MemoVersion: p.idea.Version},
		StaticSummary: fmt.Sprintf("part %d: %d instances", part.Number, len(part.Tokens)),
	})
	f := workflow.ExecuteChildWorkflow(ctx, ProcessType, start)
	if err := f.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		return fmt.Errorf("workflows: start part %d: %w", part.Number, err)
	}
	p.inbox.when(f, func(f workflow.Future) { p.partEnded(part.Number, f.Get(ctx, nil)) })
	return nil
}

// partEnded notes the end of a part that had no time to tell of it: somebody terminated it.
func (p *process) partEnded(number int, err error) {
	if r := p.parts.List[number-1].Report; err != nil && !r.Over() {
		r.Number, r.Status, r.Waits = number, model.StatusFailed, false
		r.Error = &model.Fault{Code: model.CodeLost, Message: "it was ended from outside"}
		p.parts.Heard(r)
	}
}

func (p *process) hearParts(ctx workflow.Context) {
	on(p.inbox, ctx, SignalPart, "From a part: what it has come to.", func(_ workflow.Context, r model.PartReport) {
		for _, refusal := range r.Refusals {
			p.inbox.refusals.Add(refusal)
		}
		p.parts.Heard(r)
	})
	for _, kind := range model.Decisions() {
		onPeople(p.inbox, ctx, kind, describe[kind], func(ctx workflow.Context, payload map[string]any) error {
			return p.passToPart(ctx, kind, payload)
		})
	}
	for _, kind := range steering {
		onPeople(p.inbox, ctx, kind, describe[kind], func(ctx workflow.Context, payload map[string]any) error {
			s, err := model.ReadSteering(kind, payload)
			if err != nil {
				return err
			}
			if err := p.steerParts(ctx, kind, s); err != nil {
				return err
			}
			p.accept(ctx, kind, s)
			return nil
		})
	}
}

// passToPart sends a decision to the instance that it is about.
func (p *process) passToPart(ctx workflow.Context, kind string, payload map[string]any) error {
	d, err := model.ReadDecision(kind, payload)
	if err != nil {
		return err
	}
	token := model.TokenOf(d.Call)
	part := p.parts.Of(token)
	if part == 0 {
		return fmt.Errorf("there is no Call %q", clipBytes(d.Call, 80))
	}
	p.outbox.send(ctx, InstanceID(PartID(p.id, part), token), outgoing{signal: kind, payload: payload, failed: func(error) {
		p.inbox.refuse(ctx, kind, payload, "the instance has not begun or has ended: nothing waits there")
	}})
	return nil
}

func (p *process) steerParts(ctx workflow.Context, kind string, s model.Steering) error {
	switch paused := p.parts.Paused != nil; {
	case kind == model.SteerPause && paused:
		return fmt.Errorf("the process is paused already: %s", p.parts.Paused.Message)
	case kind == model.SteerPause:
		p.parts.Paused = model.PausedBy(s.By, s.Reason)
	case kind == model.SteerResume:
		p.parts.Paused = nil
		p.parts.Limits = p.parts.Limits.With(s.Limits)
	case kind == model.SteerRevise:
		p.parts.Limits = p.parts.Limits.With(s.Limits)
		return p.reviseParts(ctx, s)
	case kind == model.SteerAdd:
		return p.addParts(s)
	}
	p.toParts(ctx, kind, map[string]any{"by": s.By, "reason": s.Reason})
	return nil
}

// toParts sends a signal to every part that has begun.
func (p *process) toParts(ctx workflow.Context, kind string, payload any) {
	for _, number := range p.parts.Running() {
		p.outbox.send(ctx, PartID(p.id, number), outgoing{signal: kind, payload: payload})
	}
}

// reviseParts gives each part what concerns it. Those that have not begun begin with it.
func (p *process) reviseParts(ctx workflow.Context, s model.Steering) error {
	if err := p.checkMessages(s.Context, false); err != nil {
		return err
	}
	p.setIdea(p.idea.With(s.Context))
	for _, number := range p.parts.Running() {
		if list := p.parts.List[number-1].Concerning(s.Context); len(list) > 0 {
			p.outbox.send(ctx, PartID(p.id, number), outgoing{signal: model.SteerRevise, payload: map[string]any{
				"context": list, "by": s.By, "reason": s.Reason,
			}})
		}
	}
	return nil
}

func (p *process) addParts(s model.Steering) error {
	if err := p.checkMessages(s.Context, true); err != nil {
		return err
	}
	p.setIdea(p.idea.With(s.Context))
	p.parts.Add(model.OwnersOf(s.Context).Tokens)
	return nil
}

// checkMessages says what is wrong with messages of people: whether they can be read, and whom they are about.
func (p *process) checkMessages(context []any, fresh bool) error {
	for n, raw := range context {
		var problems model.Problems
		m, ok := model.ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &problems)
		known := p.parts.Of(m.Instance) > 0
		switch {
		case !ok || len(problems.Errors()) > 0:
			return problems
		case fresh && m.Instance == "":
			return fmt.Errorf("$.context[%d]: it names no new instance", n)
		case fresh && known:
			return fmt.Errorf("$.context[%d]: there is an instance %s already", n, m.Instance)
		case !fresh && m.Instance != "" && !known:
			return fmt.Errorf("$.context[%d]: there is no instance %s; add makes new ones", n, m.Instance)
		}
	}
	return nil
}

// checkLimit pauses the parts when together they have reached a limit of the process.
func (p *process) checkLimit(ctx workflow.Context) {
	if p.parts.Paused != nil || p.parts.Over() {
		p.inbox.wakeAt(ctx, time.Time{}, "")
		return
	}
	reached, until := p.parts.Limit(workflow.Now(ctx))
	p.inbox.wakeAt(ctx, until, "until the process has run for as long as it may")
	if reached != nil {
		p.parts.Paused = reached
		p.inbox.wakeAt(ctx, time.Time{}, "")
		p.toParts(ctx, model.SteerPause, map[string]any{"by": "the limit", "reason": reached.Message})
	}
}

// outputOfParts asks for one output over those of the parts, where the Idea wants one. It says whether the process is
// over then.
func (p *process) outputOfParts(ctx workflow.Context) bool {
	if p.idea.Output == nil || p.parts.Extra.Output != nil || p.parts.Outcome() != model.StatusCompleted {
		return true
	}
	brief := &model.Brief{Process: p.id, Number: p.parts.Extra.Requests + 1, Turn: p.parts.Turn(), Covered: p.parts.Outputs(), Closing: true}
	var r model.Reply
	states := RequestStates{Changes: brief.Changes()}
	if err := workflow.ExecuteActivity(p.requestOptions(ctx, brief), ActivityRequest, p.setup, brief, states).Get(ctx, &r); err != nil {
		if ctx.Err() != nil {
			return false
		}
		r = brokenReply(err)
	}
	p.parts.Answered(p.idea, r)
	return p.parts.Extra.Output != nil
}

// gather ends the process: its last Idea is sealed over everybody's State.
func (p *process) gather(ctx workflow.Context) (*model.Result, error) {
	in := GatherInput{Process: p.id, Idea: p.idea.Source, Parent: p.last.Digest, At: p.last.At + 1, Output: p.parts.Extra.Output}
	for _, part := range p.parts.List {
		id := PartID(p.id, part.Number)
		in.Parts = append(in.Parts, GatherPart{Process: id, Last: Sealed{At: part.Report.Ideas, Digest: part.Report.Digest}, Tokens: part.Tokens, Statuses: part.Report.Instances})
	}
	var g Gathered
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: heartbeatTimeout, Summary: "gather what the parts came to",
	}), ActivityGather, in).Get(ctx, &g)
	if err != nil {
		return nil, err
	}
	p.last = g.Last
	p.parts.Extra.Ideas = g.Last.At
	status := p.parts.Outcome()
	p.showParts(ctx, status)
	r := p.parts.Result(p.id, status)
	for token, i := range r.Instances {
		i.State = g.States[token]
		r.Instances[token] = i
	}
	p.inbox.drain(ctx)
	p.tellCaller(ctx, r)
	return ended(r)
}

func (p *process) cancelParts(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	for _, number := range p.parts.Running() {
		_ = workflow.RequestCancelExternalWorkflow(ctx, PartID(p.id, number), "").Get(ctx, nil)
	}
	p.attribute(ctx, string(model.StatusCancelled), 0)
	p.tellCaller(ctx, p.parts.Result(p.id, model.StatusCancelled))
	return temporal.NewCanceledError(p.parts.Result(p.id, model.StatusCancelled))
}

// CarriedParts is what a split process carries from one run to the next.
type CarriedParts struct {
	model.Parts
	Context []any `json:"context,omitempty"` // the messages that people corrected it by, and added
}

func (p *process) continueParts(ctx workflow.Context) error {
	p.attribute(ctx, continued, 0)
	given, _ := p.start.Idea["context"].([]any)
	now, _ := p.idea.Source["context"].([]any)
	return workflow.NewContinueAsNewError(ctx, ProcessType, p.start, CarriedProcess{
		Parts: &CarriedParts{*p.parts, now[len(given):]}, Bindings: p.setup.Bindings, Last: p.last, Accepted: p.accepted,
		Refusals: p.inbox.refusals,
	})
}

// answerForParts sets up what a split process answers to queries: the same as any process.
func (p *process) answerForParts(ctx workflow.Context) error {
	return answers(ctx, []query{
		{QueryStatus, func() (ProcessView, error) { return p.viewOfParts(), nil },
			"Where the process stands: as `run --json` prints it, without States, and what it waits for."},
		{QueryIdea, func() (Sealed, error) { return p.last, nil }, "The latest Idea of the chain: {at, digest, place}. Each part has a chain of its own."},
		{QueryApprovals, func() (ProcessApprovals, error) { return p.approvalsOfParts(), nil },
			"What waits for a person, in all parts: {approvals}."},
	})
}

// pausedParts says why the process is paused: also before it has any part, where its Tools cannot be found out.
func (p *process) pausedParts() *model.Fault {
	if p.parts.Paused == nil && p.mind != nil {
		return p.mind.Paused()
	}
	return p.parts.Paused
}

func (p *process) partsStatus() model.ProcessStatus {
	if p.pausedParts() != nil {
		return model.StatusPaused
	}
	return model.StatusRunning
}

func (p *process) viewOfParts() ProcessView {
	pending := p.approvalsOfParts().Approvals
	v := ProcessView{
		Result: p.parts.Result(p.id, p.partsStatus()), Waiting: []string{}, Refusals: p.inbox.refused(), Refused: p.inbox.refusals.Count,
		Accepted: append([]Accepted{}, p.accepted...), Awaiting: len(pending),
	}
	for _, part := range p.parts.List {
		v.Parts = append(v.Parts, PartView{PartID(p.id, part.Number), part.Report.Status, part.Tokens})
	}
	if f := p.pausedParts(); f != nil {
		v.Waiting = append(v.Waiting, "paused: "+f.Message)
	}
	for _, a := range pending {
		v.Waiting = append(v.Waiting, waitingFor(a))
	}
	return v
}

func (p *process) approvalsOfParts() ProcessApprovals {
	v := ProcessApprovals{Approvals: []Approval{}}
	for _, part := range p.parts.List {
		for _, a := range part.Report.Pending {
			v.Approvals = append(v.Approvals, Approval{Process: PartID(p.id, part.Number), Instance: model.TokenOf(a.Call), Pending: a})
		}
	}
	return v
}

const shownParts = 50 // each is a workflow of its own

// showParts says in the Temporal UI how far the parts are.
func (p *process) showParts(ctx workflow.Context, status model.ProcessStatus) {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s, in %d parts\n\n| Part | Instances | Status | Requests | Calls done | failed |\n| --- | --- | --- | --- | --- | --- |\n",
		mdText(p.title()), status, len(p.parts.List))
	shown := 0
	for _, part := range p.parts.List {
		if r := part.Report; part.Started && (!r.Over() || r.Status != model.StatusCompleted) && shown < shownParts {
			shown++
			fmt.Fprintf(&b, "| `%s` | %d | %s | %d | %d | %d |\n", PartID(p.id, part.Number), len(part.Tokens), r.Status, r.Requests, r.Calls.Done, r.Calls.Failed)
		}
	}
	pending := p.approvalsOfParts().Approvals
	showPending(&b, pending)
	showRefusals(&b, p.inbox.refusals)
	workflow.SetCurrentDetails(ctx, clipBytes(b.String(), maxDetails))
	p.attribute(ctx, string(status), len(pending))
}

// tellWhole tells the process that this one is a part of what has changed. One report is on its way at most, but for the
// last: reports are numbered, so that none is taken for a later one.
func (p *process) tellWhole(ctx workflow.Context, status model.ProcessStatus, last bool) {
	if p.start.Part == nil || !last && p.outbox.busy(p.start.Part.Of.ID) {
		return
	}
	r := p.partReport(status, last)
	now := string(model.Encode(model.Normal(r)))
	if now == p.told && !last {
		return
	}
	p.told = now
	p.reports++
	r.Seq, r.Refusals = p.reports, p.inbox.takeUntold()
	if !last {
		p.outbox.send(ctx, p.start.Part.Of.ID, outgoing{signal: SignalPart, payload: r})
		return
	}
	if err := workflow.SignalExternalWorkflow(ctx, p.start.Part.Of.ID, "", SignalPart, r).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("the whole process could not be told", "error", err)
	}
}

func (p *process) partReport(status model.ProcessStatus, last bool) model.PartReport {
	whole := p.result(status, false)
	r := model.PartReport{
		Number: p.start.Part.Number, Status: status, Requests: whole.Requests, Turns: p.mind.Turns(), Ideas: p.last.At, Calls: whole.Calls,
		Usage: whole.Usage, Digest: p.last.Digest,
	}
	for _, m := range p.mind.Members() {
		r.Pending = append(r.Pending, m.Pending...)
	}
	r.Waits = len(r.Pending) > 0 && p.mind.OnlyWaits()
	if last {
		r.Error, r.Output, r.Instances = whole.Error, whole.Output, map[string]model.InstanceStatus{}
		for _, m := range p.mind.Members() {
			r.Instances[m.Token] = m.Standing()
		}
	}
	return r
}
