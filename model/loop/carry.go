package loop

import (
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// CarriedMind is all that a Mind is beyond what it began with, in a form that JSON keeps: its workflow begins again from
// it where its history has grown long.
type Carried struct {
	// Context is the Messages that people corrected the process by, and added.
	Context []any             `json:"context,omitempty"`
	Instances []CarriedInstance `json:"members"`
	Started time.Time         `json:"started"`

	PriorRequests   int            `json:"before,omitempty"`
	Requests        int            `json:"requests"`
	Turns           int            `json:"turns"`
	BadRepliesInRow      int            `json:"badReplies,omitempty"`
	BadOutputsInRow      int            `json:"badOutputs,omitempty"`
	WorkerLossesInRow    int            `json:"lost,omitempty"`
	Usage           turn.Usage     `json:"usage"`
	UnassignedCalls int            `json:"unnamed,omitempty"`
	WiredRequest          *CarriedWiredRequest `json:"wiring,omitempty"`
	ReadySince      time.Time      `json:"readySince,omitzero"`
	PlannedCalls            []CarriedPlannedCall  `json:"plan,omitempty"`
	PendingErrors   []PendingError `json:"troubles,omitempty"`
	LastErrorID     int            `json:"notes,omitempty"`
	// Log is what changed since the last Idea.
	Log       []turn.LogEntry `json:"log,omitempty"`
	Output    any             `json:"output,omitempty"`
	HasOutput bool            `json:"hasOutput,omitempty"`
	// PlanOutputTried and OutputFault say what became of the output of Plans that ran directly.
	PlanOutputTried  bool            `json:"planOutput,omitempty"`
	OutputFault *diag.Fault     `json:"outputFault,omitempty"`
	Paused      *diag.Fault     `json:"paused,omitempty"`
	Limits      ideafile.Limits `json:"limits"`
}

// CarriedMember is one instance as its process knows it.
type CarriedInstance struct {
	InstanceProgress
	// Start is the State that an instance began with which people added.
	Start               any                `json:"start,omitempty"`
	Writes              []statelog.Write   `json:"writes,omitempty"`
	Calls               []turn.CallReport  `json:"calls,omitempty"`
	ErrorsShown         []ideafile.CallKey `json:"told,omitempty"`
	PendingErrors       []int              `json:"untold,omitempty"`
	LastRequest         int                `json:"covered,omitempty"`
	LastPlanned         int                `json:"planned,omitempty"`
	ClosedThrough       int                `json:"closed,omitempty"`
	Idle                bool               `json:"quiet,omitempty"`
	MissingRetries      int                `json:"lacks,omitempty"`
	CorrectionsSent     int                `json:"corrected,omitempty"`
	CorrectionsAcked    int                `json:"taken,omitempty"`
	DecidedSinceRequest bool               `json:"back,omitempty"`
	RevisedSinceRequest bool               `json:"revised,omitempty"`
	Questions           []turn.Question    `json:"asking,omitempty"`
	DirectPlan              int                `json:"direct,omitempty"`
	Report              [2]int             `json:"report,omitzero"` // the last one taken: its number, and what its sender had heard
	FellBackToLLM       bool               `json:"handed,omitempty"`
	NoPlanMatched       bool               `json:"barred,omitempty"`
	PlanFailure         *diag.Fault        `json:"unmet,omitempty"`
}

// CarriedPlannedCall is a Call of an earlier Request, as written.
type CarriedPlannedCall struct {
	Request int                  `json:"request"`
	Index   int                  `json:"index"`
	Call    ideafile.WrittenCall `json:"call"`
	Unassigned  bool                 `json:"nobody,omitempty"`
	DirectPlan  int                  `json:"direct,omitempty"`
}

// CarriedWiredRequest is a Request that wired its result.
type CarriedWiredRequest struct {
	Request int `json:"request"`
	Output  any `json:"output"`
}

// CanCarry reports whether Carry loses nothing: no Request is under way, and who has ended was told.
func (m *Loop) CanCarry() bool { return m.inFlight == nil && len(m.newlyEnded) == 0 }

// ProcessID gives the id of the process.
func (m *Loop) ProcessID() string { return m.process }

// Carry gives the Mind in a form that ResumeMind takes. MayCarry must hold.
func (m *Loop) Carry() Carried {
	c := Carried{
		Started: m.started, PriorRequests: m.priorRequests, Requests: m.requests, Turns: m.turns, BadRepliesInRow: m.badReplies, BadOutputsInRow: m.badOutputs, WorkerLossesInRow: m.workerLosses,
		Usage: m.usage, UnassignedCalls: m.unassignedCalls, ReadySince: m.readySince, PendingErrors: m.pendingErrors, LastErrorID: m.nextErrorID, Log: m.log, Output: m.output,
		HasOutput: m.hasOutput, PlanOutputTried: m.planOutput, OutputFault: m.outputFault, Paused: m.paused, Limits: m.limits,
	}
	for _, msg := range m.idea.Context[m.baseMessages:] {
		c.Context = append(c.Context, msg.Source)
	}
	for i, mem := range m.members {
		carried := mem.carry()
		if i >= m.baseInstances {
			carried.Start = mem.state.Initial
		}
		c.Instances = append(c.Instances, carried)
	}
	for _, p := range m.plannedCalls {
		c.PlannedCalls = append(c.PlannedCalls, CarriedPlannedCall{p.request, p.index, p.call, p.nobody, p.direct})
	}
	if m.wiredCall != nil {
		c.WiredRequest = &CarriedWiredRequest{m.wiredCall.brief.Number, m.wiredCall.reply.Output}
	}
	return c
}

func (mem *InstanceProgress) carry() CarriedInstance {
	c := CarriedInstance{
		InstanceProgress: *mem, Writes: mem.state.Writes(), LastRequest: mem.lastRequest, LastPlanned: mem.lastPlanned, ClosedThrough: mem.closedThrough, Idle: mem.idle,
		MissingRetries: mem.missingRetries, CorrectionsSent: mem.correctionsSent, CorrectionsAcked: mem.correctionsAcked, DecidedSinceRequest: mem.decidedSinceRequest, RevisedSinceRequest: mem.revisedSinceRequest, Questions: mem.questions,
		DirectPlan: mem.direct, FellBackToLLM: mem.planner == plannedByLLMAfterPlan, NoPlanMatched: mem.planner == plannedByNobody, PlanFailure: mem.planFailure, Report: mem.report, PendingErrors: mem.pendingErrors,
	}
	for _, key := range sortedCalls(mem.calls) {
		c.Calls = append(c.Calls, mem.calls[key])
	}
	c.ErrorsShown = sortedCalls(mem.errorsShown)
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

// ResumeMind goes on with a Mind. Idea, process and bindings are those that it began with.
func Restore(idea *ideafile.Idea, process string, bindings map[string]ideafile.Binding, c Carried) *Loop {
	m := New(idea, process, bindings, c.Started)
	m.plannedCalls, m.newlyEnded, m.resumed, m.priorRequests = nil, nil, nil, c.PriorRequests
	m.idea = m.idea.WithRawMessages(c.Context)
	for i, carried := range c.Instances {
		if i == len(m.members) {
			m.enter(&InstanceProgress{state: statelog.New(carried.Start)}, carried.Token)
		}
		m.members[i].resume(carried)
	}
	m.requests, m.turns, m.badReplies, m.badOutputs, m.workerLosses = c.Requests, c.Turns, c.BadRepliesInRow, c.BadOutputsInRow, c.WorkerLossesInRow
	m.usage, m.unassignedCalls, m.readySince, m.pendingErrors, m.nextErrorID, m.log = c.Usage, c.UnassignedCalls, c.ReadySince, c.PendingErrors, c.LastErrorID, c.Log
	m.output, m.hasOutput, m.planOutput, m.outputFault = c.Output, c.HasOutput, c.PlanOutputTried, c.OutputFault
	m.paused, m.limits = c.Paused, c.Limits
	for _, p := range c.PlannedCalls {
		m.plannedCalls = append(m.plannedCalls, planned{request: p.Request, index: p.Index, call: p.Call, nobody: p.Unassigned, direct: p.DirectPlan})
	}
	if w := c.WiredRequest; w != nil {
		m.wiredCall = &llmCall{brief: &turn.RequestInput{Number: w.Request}, reply: &turn.Reply{Output: w.Output}}
	}
	return m
}

func (mem *InstanceProgress) resume(c CarriedInstance) {
	state := statelog.Resume(mem.state.Initial, c.Writes)
	*mem = c.InstanceProgress
	mem.state, mem.calls, mem.errorsShown = state, map[ideafile.CallKey]turn.CallReport{}, map[ideafile.CallKey]bool{}
	for _, call := range c.Calls {
		mem.calls[call.Key()] = call
	}
	for _, key := range c.ErrorsShown {
		mem.errorsShown[key] = true
	}
	mem.lastRequest, mem.lastPlanned, mem.closedThrough, mem.idle, mem.missingRetries = c.LastRequest, c.LastPlanned, c.ClosedThrough, c.Idle, c.MissingRetries
	mem.correctionsSent, mem.correctionsAcked, mem.decidedSinceRequest, mem.revisedSinceRequest, mem.questions = c.CorrectionsSent, c.CorrectionsAcked, c.DecidedSinceRequest, c.RevisedSinceRequest, c.Questions
	mem.direct, mem.planner, mem.planFailure, mem.report = c.DirectPlan, c.planner(), c.PlanFailure, c.Report
	mem.pendingErrors = c.PendingErrors
}

func (c CarriedInstance) planner() planner {
	switch {
	case c.NoPlanMatched:
		return plannedByNobody
	case c.FellBackToLLM:
		return plannedByLLMAfterPlan
	case c.DirectPlan > 0:
		return plannedByPlan
	}
	return plannedByLLM
}
