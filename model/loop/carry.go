package loop

import (
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Carried is a Loop as data, without what it was started with: its workflow carries it over when it continues as new.
type Carried struct {
	// Context holds the Messages by which people corrected the process, and those of added instances.
	Context   []any             `json:"context,omitempty"`
	Instances []CarriedInstance `json:"members"`
	Started   time.Time         `json:"started"`

	PriorRequests     int                  `json:"before,omitempty"`
	Requests          int                  `json:"requests"`
	Turns             int                  `json:"turns"`
	BadRepliesInRow   int                  `json:"badReplies,omitempty"`
	BadOutputsInRow   int                  `json:"badOutputs,omitempty"`
	WorkerLossesInRow int                  `json:"lost,omitempty"`
	Usage             turn.Usage           `json:"usage"`
	UnassignedCalls   int                  `json:"unnamed,omitempty"`
	WiredRequest      *CarriedWiredRequest `json:"wiring,omitempty"`
	ReadySince        time.Time            `json:"readySince,omitzero"`
	PlannedCalls      []CarriedPlannedCall `json:"plan,omitempty"`
	PendingErrors     []PendingError       `json:"troubles,omitempty"`
	LastErrorID       int                  `json:"notes,omitempty"`
	// Log is what changed since the last Idea.
	Log       []turn.LogEntry `json:"log,omitempty"`
	Output    any             `json:"output,omitempty"`
	HasOutput bool            `json:"hasOutput,omitempty"`
	// PlanOutputTried and OutputFault: see takeDirectPlanOutput.
	PlanOutputTried bool            `json:"planOutput,omitempty"`
	OutputFault     *diag.Fault     `json:"outputFault,omitempty"`
	Paused          *diag.Fault     `json:"paused,omitempty"`
	Limits          ideafile.Limits `json:"limits"`
}

// CarriedInstance is an InstanceProgress, with what of it takes another form when it is carried.
type CarriedInstance struct {
	InstanceProgress
	// Start is the initial State of an instance that people added; that of the others follows from the Idea.
	Start         any                `json:"start,omitempty"`
	Writes        []statelog.Write   `json:"writes,omitempty"`
	Calls         []turn.CallReport  `json:"calls,omitempty"`
	ErrorsShown   []ideafile.CallKey `json:"told,omitempty"`
	FellBackToLLM bool               `json:"handed,omitempty"`
	NoPlanMatched bool               `json:"barred,omitempty"`
}

// CarriedPlannedCall is a plannedCall.
type CarriedPlannedCall struct {
	Request    int                  `json:"request"`
	Index      int                  `json:"index"`
	Call       ideafile.WrittenCall `json:"call"`
	Unassigned bool                 `json:"nobody,omitempty"`
	DirectPlan int                  `json:"direct,omitempty"`
}

// CarriedWiredRequest is the Request whose wired output waits for its Calls.
type CarriedWiredRequest struct {
	Request int `json:"request"`
	Output  any `json:"output"`
}

// CanCarry reports whether Carry loses nothing: no Request is in flight, and TakeEnded has nothing to return.
func (l *Loop) CanCarry() bool { return l.inFlight == nil && len(l.newlyEnded) == 0 }

// Carry returns the Loop as data for Restore. Invariant: CanCarry holds.
func (l *Loop) Carry() Carried {
	c := Carried{
		Started: l.startedAt, PriorRequests: l.priorRequests, Requests: l.requestCount, Turns: l.turnCount,
		BadRepliesInRow: l.badRepliesInRow, BadOutputsInRow: l.badOutputsInRow, WorkerLossesInRow: l.workerLossesInRow,
		Usage: l.usage, UnassignedCalls: l.unassignedCalls, ReadySince: l.readySince,
		PendingErrors: l.pendingErrors, LastErrorID: l.lastErrorID, Log: l.unsealedLog,
		Output: l.output, HasOutput: l.hasOutput, PlanOutputTried: l.planOutputTried, OutputFault: l.outputFault,
		Paused: l.pauseReason, Limits: l.limits,
	}
	for _, msg := range l.idea.Context[l.baseMessages:] {
		c.Context = append(c.Context, msg.Source)
	}
	for i, inst := range l.instances {
		carried := inst.carry()
		if i >= l.baseInstances {
			carried.Start = inst.state.Initial
		}
		c.Instances = append(c.Instances, carried)
	}
	for _, p := range l.plannedCalls {
		c.PlannedCalls = append(c.PlannedCalls, CarriedPlannedCall{p.Request, p.Index, p.call, p.unassigned, p.directPlan})
	}
	if l.wiredRequest != nil {
		c.WiredRequest = &CarriedWiredRequest{l.wiredRequest.input.Number, l.wiredRequest.reply.Output}
	}
	return c
}

func (p *InstanceProgress) carry() CarriedInstance {
	c := CarriedInstance{
		InstanceProgress: *p, Writes: p.state.Writes(), FellBackToLLM: p.planner == fellBackToLLM, NoPlanMatched: p.planner == noPlanMatched,
	}
	for _, key := range sortedCalls(p.calls) {
		c.Calls = append(c.Calls, p.calls[key])
	}
	c.ErrorsShown = sortedCalls(p.errorsShown)
	return c
}

func sortedCalls[V any](calls map[ideafile.CallKey]V) []ideafile.CallKey {
	keys := make([]ideafile.CallKey, 0, len(calls))
	//workflowcheck:ignore -- sorted below
	for key := range calls {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, ideafile.CallKey.Compare)
	return keys
}

// Restore rebuilds a Loop from Carried. Idea, process and bindings must be those that it was started with.
func Restore(idea *ideafile.Idea, process string, bindings map[string]ideafile.Binding, c Carried) *Loop {
	l := New(idea, process, bindings, c.Started)
	l.plannedCalls, l.newlyEnded, l.resumedCalls, l.priorRequests = nil, nil, nil, c.PriorRequests
	l.idea = l.idea.WithRawMessages(c.Context)
	for i, carried := range c.Instances {
		if i == len(l.instances) {
			l.registerInstance(&InstanceProgress{state: statelog.New(carried.Start)}, carried.Token)
		}
		l.instances[i].restore(carried)
	}
	l.requestCount, l.turnCount = c.Requests, c.Turns
	l.badRepliesInRow, l.badOutputsInRow, l.workerLossesInRow = c.BadRepliesInRow, c.BadOutputsInRow, c.WorkerLossesInRow
	l.usage, l.unassignedCalls, l.readySince = c.Usage, c.UnassignedCalls, c.ReadySince
	l.pendingErrors, l.lastErrorID, l.unsealedLog = c.PendingErrors, c.LastErrorID, c.Log
	l.output, l.hasOutput, l.planOutputTried, l.outputFault = c.Output, c.HasOutput, c.PlanOutputTried, c.OutputFault
	l.pauseReason, l.limits = c.Paused, c.Limits
	for _, p := range c.PlannedCalls {
		key := ideafile.CallKey{Request: p.Request, Index: p.Index}
		l.plannedCalls = append(l.plannedCalls, plannedCall{CallKey: key, call: p.Call, unassigned: p.Unassigned, directPlan: p.DirectPlan})
	}
	if w := c.WiredRequest; w != nil {
		l.wiredRequest = &llmRequest{input: &turn.RequestInput{Number: w.Request}, reply: &turn.Reply{Output: w.Output}}
	}
	return l
}

func (p *InstanceProgress) restore(c CarriedInstance) {
	state := statelog.Resume(p.state.Initial, c.Writes)
	*p = c.InstanceProgress
	p.state, p.calls, p.errorsShown = state, map[ideafile.CallKey]turn.CallReport{}, map[ideafile.CallKey]bool{}
	for _, call := range c.Calls {
		p.calls[call.Key()] = call
	}
	for _, key := range c.ErrorsShown {
		p.errorsShown[key] = true
	}
	p.planner = c.planner()
}

func (c CarriedInstance) planner() planner {
	switch {
	case c.NoPlanMatched:
		return noPlanMatched
	case c.FellBackToLLM:
		return fellBackToLLM
	case c.DirectPlan > 0:
		return plannedByDirectPlan
	}
	return plannedByLLM
}
