package model

import (
	"cmp"
	"slices"
	"time"
)

// CarriedMind is all that a Mind is beyond what it began with, in a form that JSON keeps: its workflow begins again from
// it where its history has grown long.
type CarriedMind struct {
	// Context is the Messages that people corrected the process by, and added.
	Context []any           `json:"context,omitempty"`
	Members []CarriedMember `json:"members"`
	Started time.Time       `json:"started"`

	Before     int            `json:"before,omitempty"`
	Requests   int            `json:"requests"`
	Turns      int            `json:"turns"`
	BadReplies int            `json:"badReplies,omitempty"`
	BadOutputs int            `json:"badOutputs,omitempty"`
	Lost       int            `json:"lost,omitempty"`
	Usage      Usage          `json:"usage"`
	Unnamed    int            `json:"unnamed,omitempty"`
	Wiring     *CarriedWiring `json:"wiring,omitempty"`
	ReadySince time.Time      `json:"readySince,omitzero"`
	Plan       []CarriedPlan  `json:"plan,omitempty"`
	Troubles   []Untold       `json:"troubles,omitempty"`
	Notes      int            `json:"notes,omitempty"`
	// Log is what changed since the last Idea.
	Log       []LogEntry `json:"log,omitempty"`
	Output    any        `json:"output,omitempty"`
	HasOutput bool       `json:"hasOutput,omitempty"`
	// PlanOutput and OutputFault say what became of the output of Plans that ran directly.
	PlanOutput  bool   `json:"planOutput,omitempty"`
	OutputFault *Fault `json:"outputFault,omitempty"`
	Paused      *Fault `json:"paused,omitempty"`
	Limits      Limits `json:"limits"`
}

// CarriedMember is one instance as its process knows it.
type CarriedMember struct {
	Member
	// Start is the State that an instance began with which people added.
	Start     any          `json:"start,omitempty"`
	Writes    []Write      `json:"writes,omitempty"`
	Calls     []CallReport `json:"calls,omitempty"`
	Told      []CallKey    `json:"told,omitempty"`
	Untold    []int        `json:"untold,omitempty"`
	Covered   int          `json:"covered,omitempty"`
	Planned   int          `json:"planned,omitempty"`
	Closed    int          `json:"closed,omitempty"`
	Quiet     bool         `json:"quiet,omitempty"`
	Lacks     int          `json:"lacks,omitempty"`
	Corrected int          `json:"corrected,omitempty"`
	Taken     int          `json:"taken,omitempty"`
	Back      bool         `json:"back,omitempty"`
	Revised   bool         `json:"revised,omitempty"`
	Asking    []Asked      `json:"asking,omitempty"`
	Direct    int          `json:"direct,omitempty"`
	Report    [2]int       `json:"report,omitzero"` // the last one taken: its number, and what its sender had heard
	Handed    bool         `json:"handed,omitempty"`
	Barred    bool         `json:"barred,omitempty"`
	Unmet     *Fault       `json:"unmet,omitempty"`
}

// CallKey names a Call within an instance: Request and index.
type CallKey [2]int

// CarriedPlan is a Call of an earlier Request, as written.
type CarriedPlan struct {
	Request int  `json:"request"`
	Index   int  `json:"index"`
	Call    any  `json:"call"`
	Nobody  bool `json:"nobody,omitempty"`
	Direct  int  `json:"direct,omitempty"`
}

// CarriedWiring is a Request that wired its result.
type CarriedWiring struct {
	Request int `json:"request"`
	Output  any `json:"output"`
}

// MayCarry reports whether Carry loses nothing: no Request is under way, and who has ended was told.
func (m *Mind) MayCarry() bool { return m.asked == nil && len(m.ended) == 0 }

// Process gives the id of the process.
func (m *Mind) Process() string { return m.process }

// Carry gives the Mind in a form that ResumeMind takes. MayCarry must hold.
func (m *Mind) Carry() CarriedMind {
	c := CarriedMind{
		Started: m.started, Before: m.before, Requests: m.requests, Turns: m.turns, BadReplies: m.badReplies, BadOutputs: m.badOutputs, Lost: m.lost,
		Usage: m.usage, Unnamed: m.unnamed, ReadySince: m.readySince, Troubles: m.troubles, Notes: m.notes, Log: m.log, Output: m.output,
		HasOutput: m.hasOutput, PlanOutput: m.planOutput, OutputFault: m.outputFault, Paused: m.paused, Limits: m.limits,
	}
	for _, msg := range m.idea.Context[m.given:] {
		c.Context = append(c.Context, msg.Source)
	}
	for i, mem := range m.members {
		carried := mem.carry()
		if i >= m.first {
			carried.Start = mem.state.start
		}
		c.Members = append(c.Members, carried)
	}
	for _, p := range m.plan {
		c.Plan = append(c.Plan, CarriedPlan{p.request, p.index, p.call, p.nobody, p.direct})
	}
	if m.wiring != nil {
		c.Wiring = &CarriedWiring{m.wiring.brief.Number, m.wiring.reply.Output}
	}
	return c
}

func (mem *Member) carry() CarriedMember {
	c := CarriedMember{
		Member: *mem, Writes: mem.state.Writes(), Covered: mem.covered, Planned: mem.planned, Closed: mem.closed, Quiet: mem.quiet,
		Lacks: mem.lacks, Corrected: mem.corrected, Taken: mem.taken, Back: mem.back, Revised: mem.revised, Asking: mem.asking,
		Direct: mem.direct, Handed: mem.handed, Barred: mem.barred, Unmet: mem.unmet, Report: mem.report, Untold: mem.untold,
	}
	for _, key := range sortedCalls(mem.calls) {
		c.Calls = append(c.Calls, mem.calls[key])
	}
	c.Told = sortedCalls(mem.told)
	return c
}

func sortedCalls[V any](calls map[[2]int]V) []CallKey {
	keys := make([]CallKey, 0, len(calls))
	//workflowcheck:ignore -- sorted below
	for key := range calls {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b CallKey) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return keys
}

// ResumeMind goes on with a Mind. Idea, process and bindings are those that it began with.
func ResumeMind(idea *Idea, process string, bindings map[string]Binding, c CarriedMind) *Mind {
	m := NewMind(idea, process, bindings, c.Started)
	m.plan, m.ended, m.taken, m.before = nil, nil, nil, c.Before
	m.idea = m.idea.With(c.Context)
	for i, carried := range c.Members {
		if i == len(m.members) {
			m.enter(&Member{state: NewState(carried.Start)}, carried.Token)
		}
		m.members[i].resume(carried)
	}
	m.requests, m.turns, m.badReplies, m.badOutputs, m.lost = c.Requests, c.Turns, c.BadReplies, c.BadOutputs, c.Lost
	m.usage, m.unnamed, m.readySince, m.troubles, m.notes, m.log = c.Usage, c.Unnamed, c.ReadySince, c.Troubles, c.Notes, c.Log
	m.output, m.hasOutput, m.planOutput, m.outputFault = c.Output, c.HasOutput, c.PlanOutput, c.OutputFault
	m.paused, m.limits = c.Paused, c.Limits
	for _, p := range c.Plan {
		m.plan = append(m.plan, planned{request: p.Request, index: p.Index, call: p.Call, nobody: p.Nobody, direct: p.Direct})
	}
	if w := c.Wiring; w != nil {
		m.wiring = &asked{brief: &Brief{Number: w.Request}, reply: &Reply{Output: w.Output}}
	}
	return m
}

func (mem *Member) resume(c CarriedMember) {
	state := resumeState(mem.state.start, c.Writes)
	*mem = c.Member
	mem.state, mem.calls, mem.told = state, map[[2]int]CallReport{}, map[[2]int]bool{}
	for _, call := range c.Calls {
		mem.calls[[2]int{call.Request, call.Index}] = call
	}
	for _, key := range c.Told {
		mem.told[key] = true
	}
	mem.covered, mem.planned, mem.closed, mem.quiet, mem.lacks = c.Covered, c.Planned, c.Closed, c.Quiet, c.Lacks
	mem.corrected, mem.taken, mem.back, mem.revised, mem.asking = c.Corrected, c.Taken, c.Back, c.Revised, c.Asking
	mem.direct, mem.handed, mem.barred, mem.unmet, mem.report = c.Direct, c.Handed, c.Barred, c.Unmet, c.Report
	mem.untold = c.Untold
}
