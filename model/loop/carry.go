package loop

import (
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/quality"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// CarriedLoop is a Loop as data, without what it was started with: its workflow carries it over when it continues as
// new.
type CarriedLoop struct {
	// AddedMessages holds the Messages by which people corrected the process, and those of added instances.
	AddedMessages []any             `json:"context,omitempty"`
	Instances     []CarriedInstance `json:"members"`
	Started       time.Time         `json:"started"`

	PriorRequests     int                  `json:"before,omitempty"`
	Requests          int                  `json:"requests"`
	Turns             int                  `json:"turns"`
	BadRepliesInRow   int                  `json:"badReplies,omitempty"`
	BadOutputsInRow   int                  `json:"badOutputs,omitempty"`
	WorkerLossesInRow int                  `json:"lost,omitempty"`
	Usage             turn.TokenUsage      `json:"usage"`
	UnassignedCalls   int                  `json:"unnamed,omitempty"`
	WiredRequest      *CarriedWiredRequest `json:"wiring,omitempty"`
	ReadySince        time.Time            `json:"readySince,omitzero"`
	PlannedCalls      []PlannedCall        `json:"plan,omitempty"`
	PendingErrors     []PendingError       `json:"troubles,omitempty"`
	LastErrorID       int                  `json:"notes,omitempty"`
	// UnsealedLog is what changed since the last Idea.
	UnsealedLog        []turn.LogEntry `json:"log,omitempty"`
	HasUnsealedChanges bool            `json:"unsealed,omitempty"`
	// AnsweringLLMs are those since the last Idea or, if AnsweringLLMsSealed, those of it.
	AnsweringLLMs       []turn.LLMUsage `json:"answers,omitempty"`
	AnsweringLLMsSealed bool            `json:"answersSealed,omitempty"`
	Output              any             `json:"output,omitempty"`
	HasOutput           bool            `json:"hasOutput,omitempty"`
	// WiredOutput is the output as a reply wrote it, where that is of References alone.
	WiredOutput any `json:"wiredOutput,omitempty"`
	// LLMNotes are what the LLM wants to be shown again.
	LLMNotes []turn.Note `json:"llmNotes,omitempty"`
	// DraftOutput is an output that did not count, and may be put right.
	DraftOutput *turn.DraftOutput `json:"draftOutput,omitempty"`
	// PlanOutputTried and OutputFault: see takeDirectPlanOutput.
	PlanOutputTried bool            `json:"planOutput,omitempty"`
	OutputFault     *diag.Fault     `json:"outputFault,omitempty"`
	PauseReason     *diag.Fault     `json:"paused,omitempty"`
	Limits          ideafile.Limits `json:"limits"`
	SelfPauseCount  int             `json:"ownPauses,omitempty"`
	Progress        StallDetector   `json:"progress,omitzero"`
	// UnassignedFailures: see Loop.Failures.
	UnassignedFailures turn.Failures `json:"unassignedFailures,omitempty"`
	ParentQuota        turn.Quota    `json:"quota"`
	// HeldPlan is the Plan of a Request that waits for a person.
	HeldPlan *CarriedHeldPlan `json:"heldPlan,omitempty"`
	// Rechecked is what it came to that answers were asked for twice.
	Rechecked             quality.Tally `json:"rechecked,omitzero"`
	PausedForDisagreement bool          `json:"disagreed,omitempty"`
}

// CarriedHeldPlan is a Plan that waits for a person, with the Request that made it and the reply.
type CarriedHeldPlan struct {
	Pending approval.Plan     `json:"pending"`
	Input   turn.RequestInput `json:"input"`
	Reply   turn.LLMReply     `json:"reply"`
}

// CarriedInstance is an InstanceProgress, with what of it takes another form when it is carried.
type CarriedInstance struct {
	InstanceProgress
	// InitialState is the initial State of an instance that people added; that of the others follows from the Idea.
	InitialState         any                `json:"start,omitempty"`
	Writes               []statelog.Write   `json:"writes,omitempty"`
	Calls                []turn.CallReport  `json:"calls,omitempty"`
	CallsWithErrorsShown []ideafile.CallKey `json:"told,omitempty"`
	FellBackToLLM        bool               `json:"handed,omitempty"`
	NoPlanMatched        bool               `json:"barred,omitempty"`
}

// CarriedWiredRequest is the Request whose wired output waits for its Calls.
type CarriedWiredRequest struct {
	Request  int  `json:"request"`
	Output   any  `json:"output"`
	Finished bool `json:"finished,omitempty"`
}

// CanCarryIntoNextRun reports whether Carry loses nothing: no Request is in flight but one whose Plan waits for a
// person, and TakeEndedInstances and TakeRestarts have nothing to return.
func (l *Loop) CanCarryIntoNextRun() bool {
	return (l.requestInFlight == nil || l.pendingPlan != nil) && !l.RechecksInFlight() && len(l.newlyEndedInstances) == 0 && len(l.restarts) == 0
}

// CarryIntoNextRun returns the Loop as data for Restore. Invariant: CanCarryIntoNextRun holds.
func (l *Loop) CarryIntoNextRun() CarriedLoop {
	c := CarriedLoop{
		Started: l.startedAt, PriorRequests: l.priorRequests, Requests: l.requestCount, Turns: l.turnCount,
		BadRepliesInRow: l.badRepliesInRow, BadOutputsInRow: l.badOutputsInRow, WorkerLossesInRow: l.workerLossesInRow,
		Usage: l.usage, UnassignedCalls: l.unassignedCalls, ReadySince: l.readySince,
		PendingErrors: l.pendingErrors, LastErrorID: l.lastErrorID, UnsealedLog: l.unsealedLog,
		HasUnsealedChanges: l.hasUnsealedChanges,
		AnsweringLLMs:      l.answeringLLMs, AnsweringLLMsSealed: l.answeringLLMsSealed,
		Output: l.output, HasOutput: l.hasOutput, WiredOutput: l.wiredOutput, DraftOutput: l.draftOutput,
		LLMNotes:        l.notes,
		PlanOutputTried: l.planOutputTried, OutputFault: l.outputFault,
		PauseReason: l.pauseReason, Limits: l.limits, ParentQuota: l.parentQuota, SelfPauseCount: l.selfPauseCount,
		Progress:           l.progress,
		UnassignedFailures: l.unassignedFailures, PlannedCalls: slices.Clone(l.plannedCalls),
		Rechecked: l.rechecked, PausedForDisagreement: l.pausedForDisagreement,
	}
	for _, msg := range l.idea.Context[l.initialMessageCount:] {
		c.AddedMessages = append(c.AddedMessages, msg.Source)
	}
	for i, inst := range l.instances {
		carried := inst.carryIntoNextRun()
		if i >= l.initialInstanceCount {
			carried.InitialState = inst.state.InitialValue
		}
		c.Instances = append(c.Instances, carried)
	}
	if l.pendingPlan != nil && l.requestInFlight != nil {
		c.HeldPlan = &CarriedHeldPlan{*l.pendingPlan, *l.requestInFlight.input, *l.requestInFlight.reply}
	}
	if l.wiredRequest != nil {
		c.WiredRequest = &CarriedWiredRequest{l.wiredRequest.input.RequestNumber, l.wiredRequest.reply.Output,
			l.wiredRequest.reply.Finished}
	}
	return c
}

func (p *InstanceProgress) carryIntoNextRun() CarriedInstance {
	c := CarriedInstance{
		InstanceProgress: *p, Writes: p.state.Writes(), FellBackToLLM: p.plannerKind == fellBackToLLM,
		NoPlanMatched: p.plannerKind == noPlanMatched,
	}
	for _, key := range sortedCallKeys(p.calls) {
		c.Calls = append(c.Calls, p.calls[key])
	}
	c.CallsWithErrorsShown = sortedCallKeys(p.callsWithErrorsShown)
	return c
}

func sortedCallKeys[V any](calls map[ideafile.CallKey]V) []ideafile.CallKey {
	keys := make([]ideafile.CallKey, 0, len(calls))
	//workflowcheck:ignore -- sorted below
	for key := range calls {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, ideafile.CallKey.Compare)
	return keys
}

// Restore rebuilds a Loop from Carried. Idea, process and bindings must be those that it was started with.
func Restore(idea *ideafile.Idea, process string, bindings map[string]ideafile.ToolBinding, c CarriedLoop) *Loop {
	l := New(idea, process, bindings, c.Started)
	l.plannedCalls, l.newlyEndedInstances, l.resumedCalls, l.priorRequests = c.PlannedCalls, nil, nil, c.PriorRequests
	l.idea = l.idea.WithRawMessages(c.AddedMessages)
	for i, carried := range c.Instances {
		if i == len(l.instances) {
			l.registerInstance(&InstanceProgress{state: statelog.NewState(carried.InitialState)}, carried.Token)
		}
		l.instances[i].restore(carried)
	}
	l.requestCount, l.turnCount = c.Requests, c.Turns
	l.badRepliesInRow, l.badOutputsInRow, l.workerLossesInRow = c.BadRepliesInRow, c.BadOutputsInRow,
		c.WorkerLossesInRow
	l.usage, l.unassignedCalls, l.readySince = c.Usage, c.UnassignedCalls, c.ReadySince
	l.pendingErrors, l.lastErrorID, l.unsealedLog, l.hasUnsealedChanges = c.PendingErrors, c.LastErrorID, c.UnsealedLog,
		c.HasUnsealedChanges
	l.output, l.hasOutput, l.wiredOutput, l.planOutputTried, l.outputFault = c.Output, c.HasOutput, c.WiredOutput,
		c.PlanOutputTried, c.OutputFault
	l.draftOutput, l.notes = c.DraftOutput, c.LLMNotes
	l.pauseReason, l.limits, l.parentQuota, l.selfPauseCount = c.PauseReason, c.Limits, c.ParentQuota, c.SelfPauseCount
	l.progress, l.unassignedFailures = c.Progress, c.UnassignedFailures
	l.answeringLLMs, l.answeringLLMsSealed = c.AnsweringLLMs, c.AnsweringLLMsSealed
	l.rechecked, l.pausedForDisagreement = c.Rechecked, c.PausedForDisagreement
	if h := c.HeldPlan; h != nil {
		l.pendingPlan, l.requestInFlight = &h.Pending, &llmRequest{input: &h.Input, reply: &h.Reply}
	}
	if w := c.WiredRequest; w != nil {
		l.wiredRequest = &llmRequest{input: &turn.RequestInput{RequestNumber: w.Request},
			reply: &turn.LLMReply{Output: w.Output, Finished: w.Finished}}
	}
	return l
}

func (p *InstanceProgress) restore(c CarriedInstance) {
	state := statelog.RestoreState(p.state.InitialValue, c.Writes)
	*p = c.InstanceProgress
	p.state, p.calls, p.callsWithErrorsShown = state, map[ideafile.CallKey]turn.CallReport{},
		map[ideafile.CallKey]bool{}
	for _, call := range c.Calls {
		p.calls[call.CallKey()] = call
	}
	for _, key := range c.CallsWithErrorsShown {
		p.callsWithErrorsShown[key] = true
	}
	p.plannerKind = c.restorePlannerKind()
}

func (c CarriedInstance) restorePlannerKind() plannerKind {
	switch {
	case c.NoPlanMatched:
		return noPlanMatched
	case c.FellBackToLLM:
		return fellBackToLLM
	case c.DirectPlanPosition > 0:
		return plannedByDirectPlan
	}
	return plannedByLLM
}
