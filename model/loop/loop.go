package loop

import (
	"cmp"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Mind is a process at work: which instances there are, what was asked, what came of it, and whether to go on. It is told
// what happened (Replied, Heard, Pause, …) and answers what is to be done (Next); it does nothing by itself.
type Loop struct {
	idea          *ideafile.Idea
	baseMessages  int // Messages of its context, and instances, that it began with
	baseInstances int
	process       string
	bindings      map[string]ideafile.Binding
	members       []*InstanceProgress // in the order of their tokens
	byToken       map[string]*InstanceProgress
	started       time.Time

	requests, turns        int
	priorRequests          int // Requests of the process whose Idea this one goes on from
	badReplies, badOutputs int
	workerLosses           int // workers, under one Request after the other
	usage                  turn.Usage
	unassignedCalls        int // broken Calls that no instance knows of
	inFlight               *llmCall
	wiredCall              *llmCall  // an answered Request that wired its result, while its Calls run
	readySince             time.Time // since when somebody could be asked about
	wake                   time.Time
	plannedCalls           []planned // the Calls that a Request is still to be shown
	pendingErrors          []PendingError
	nextErrorID            int // of Troubles, that were made for instances
	newlyEnded             []*InstanceProgress
	log                    []turn.LogEntry // what changed since the last Idea
	output                 any
	hasOutput              bool
	planOutput             bool        // it was tried to take the output from the Plans that ran directly
	outputFault            *diag.Fault // why there is none, where nobody may be asked for it
	paused                 *diag.Fault
	limits                 ideafile.Limits
	resumed                []ResumedCalls
}

// asked is the Request under way, or just answered.
type llmCall struct {
	brief *turn.RequestInput
	seen  *turn.RequestInput // every instance as it was then, for the chain
	log   []turn.LogEntry    // what changed until then, since the Idea before
	reply *turn.Reply
}

// planned is a Call of an earlier Request, as written.
type planned struct {
	request, index int
	call           ideafile.WrittenCall
	nobody         bool // it names no instance that was covered
	direct         int  // of Request 0: the place of its Plan in the context, from 1
}

func (p planned) key() ideafile.CallKey {
	return ideafile.CallKey{Request: p.request, Index: p.index}
}

const (
	maxBadInRow = 3 // bad replies, or bad outputs, before the process pauses
	// maxLostInRow is far above what deploys and crashes do by chance: a Request that takes its worker down every time
	// would be paid for without end.
	maxLostInRow = 10
	maxLacks     = 3 // Requests that are told what is missing
)

// NewMind begins a process. now is when it started.
func New(idea *ideafile.Idea, process string, bindings map[string]ideafile.Binding, now time.Time) *Loop {
	m := &Loop{
		idea: idea, process: process, bindings: bindings, byToken: map[string]*InstanceProgress{}, started: now,
		limits: idea.Config.Limits,
	}
	m.dropPast()
	m.baseMessages = len(m.idea.Context)
	m.join(idea.Tokens())
	m.baseInstances = len(m.members)
	m.takePast(idea.Context)
	return m
}

// Equip tells which Tools there are and what runs them, before the first Request is made.
func (m *Loop) BindTools(idea *ideafile.Idea, bindings map[string]ideafile.Binding) {
	m.idea, m.bindings = idea, bindings
}

// join takes instances in. They are ready for a Request at once.
func (m *Loop) join(tokens []string) {
	views, plans := ideafile.ViewsOf(m.idea.Context, tokens), ideafile.FindDirectPlans(m.idea.Context)
	for _, token := range tokens {
		view := views[token]
		member := &InstanceProgress{Token: token, Status: ideafile.InstanceWorking, idle: true, calls: map[ideafile.CallKey]turn.CallReport{}, errorsShown: map[ideafile.CallKey]bool{}}
		member.state = statelog.New(view.Payload[ideafile.TypeState])
		member.Missing = statelog.MissingRequired(view.Schema[ideafile.TypeState], member.state.Current)
		m.enter(member, token)
		m.assign(plans, member, view)
	}
}

func (m *Loop) enter(mem *InstanceProgress, token string) {
	m.members = append(m.members, mem)
	m.byToken[token] = mem
}

// Instances lists the instances in order.
func (m *Loop) Instances() []*InstanceProgress { return m.members }

// Tokens lists the instances in order.
func (m *Loop) Tokens() []string {
	tokens := make([]string, len(m.members))
	for i, mem := range m.members {
		tokens[i] = mem.Token
	}
	return tokens
}

// HasInstance says whether the process has an instance of a token.
func (m *Loop) HasInstance(token string) bool { return m.byToken[token] != nil }

func (m *Loop) member(token string) *InstanceProgress { return m.byToken[token] }

// Step is what a process does next.
type Step string

// The steps of a process.
const (
	StepRequest    Step = "ask"    // make the Request of Brief
	StepWait   Step = "wait"   // until a reply or a report comes
	StepPaused Step = "paused" // until somebody resumes it
	StepFinished   Step = "over"
)

// Advance says what to do now, and the Request to make. Wake says until when it may wait.
func (m *Loop) Advance(now time.Time) (Step, *turn.RequestInput) {
	m.wake = time.Time{}
	m.settleDirect()
	m.tryWiring()
	m.takePlanOutput()
	if m.Finished() {
		return StepFinished, nil
	}
	if m.paused == nil {
		m.paused = m.durationLimit(now)
	}
	switch {
	case m.paused != nil:
		return StepPaused, nil
	case m.inFlight != nil || !m.due(now):
		return StepWait, nil
	}
	if m.paused = m.reachedLimit(); m.paused != nil {
		return StepPaused, nil
	}
	b := m.nextRequest()
	m.inFlight = &llmCall{brief: b, seen: m.FullInput(), log: m.TakeLog()}
	m.readySince = time.Time{}
	for _, mem := range m.covered(b) {
		mem.lastRequest, mem.idle, mem.decidedSinceRequest, mem.revisedSinceRequest = b.Number, b.OutputOnly, false, false
	}
	return StepRequest, b
}

// Finished says whether nothing is left to do.
func (m *Loop) Finished() bool { return m.inFlight == nil && m.paused == nil && m.over() }

// over says whether every instance has ended and the output, where one is wanted, is there.
func (m *Loop) over() bool {
	settled := 0
	for _, mem := range m.members {
		switch mem.Status {
		case ideafile.InstanceSettled:
			settled++
		case ideafile.InstanceFailed:
		default:
			return false
		}
	}
	return m.idea.Output == nil || m.hasOutput || settled == 0 || !m.mayAsk()
}

// limit says which limit the next Request would break.
func (m *Loop) reachedLimit() *diag.Fault {
	tokens, ended := m.usage.PromptTokens+m.usage.CompletionTokens, m.Counts().Total()
	switch l := m.limits; {
	case l.Requests > 0 && m.requests >= l.Requests:
		return diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit", m.requests)
	case l.Tokens > 0 && tokens >= l.Tokens:
		return diag.Faultf(turn.CodeLimitReached, "%d tokens were used; the limit is %d", tokens, l.Tokens)
	case l.Calls > 0 && ended >= l.Calls:
		return diag.Faultf(turn.CodeLimitReached, "%d Calls were made; the limit is %d", ended, l.Calls)
	}
	return nil
}

// late says that the process has run for as long as it may.
func (m *Loop) durationLimit(now time.Time) *diag.Fault {
	l := m.limits.Duration
	if l <= 0 {
		return nil
	}
	if now.Sub(m.started) >= l {
		return diag.Faultf(turn.CodeLimitReached, "the process has run for %s, the limit", l)
	}
	m.wakeAt(m.started.Add(l))
	return nil
}

// brief composes the next Request: for latent results where some are waited for, for the output alone where every
// instance has settled, for all instances that are ready for one otherwise.
func (m *Loop) nextRequest() *turn.RequestInput {
	b := &turn.RequestInput{Process: m.process, Number: m.priorRequests + m.requests + 1, Turn: m.turns + 1, OutputOnly: m.closing()}
	members := m.ready()
	for _, mem := range members {
		b.Questions = append(b.Questions, mem.questions...)
	}
	if b.OutputOnly {
		members = m.members
	}
	for _, mem := range members {
		if len(b.Questions) == 0 || len(mem.questions) > 0 {
			b.Instances = append(b.Instances, turn.InstanceInput{Token: mem.Token, State: mem.state.Value(), Missing: mem.reportedMissing()})
		}
	}
	about := m.covered(b)
	b.Plan, b.Errors = m.planEntries(about), m.errorsFor(about)
	return b
}

func (m *Loop) covered(b *turn.RequestInput) []*InstanceProgress {
	var list []*InstanceProgress
	for _, c := range b.Instances {
		list = append(list, m.member(c.Token))
	}
	return list
}

// Asked is the Request under way; nil where there is none.
func (m *Loop) InFlight() *turn.RequestInput {
	if m.inFlight == nil {
		return nil
	}
	return m.inFlight.brief
}

// Replied takes what became of the Request under way at the LLM's side.
func (m *Loop) ApplyReply(r turn.Reply) {
	if m.inFlight == nil || m.inFlight.reply != nil {
		return
	}
	m.inFlight.reply = &r
	m.requests++
	m.usage.Add(r.Usage)
}

// Heard takes an instance's report. It says false of one that is not taken: it came already, or a later one did.
func (m *Loop) ApplyReport(r turn.Report) bool {
	mem := m.member(r.Token)
	if mem == nil || !mem.isNew(r) {
		return false
	}
	for _, c := range r.Calls {
		mem.calls[c.Key()] = c
	}
	for _, w := range r.Writes {
		if mem.state.Has(w) {
			continue // from a report that was made twice
		}
		mem.state.Apply(w)
		e := mem.logged(w)
		if w.Request <= m.priorRequests {
			e.Call = m.writtenBefore(w) // no Idea of this chain has it in its solution
		}
		m.log = append(m.log, e)
	}
	if r.ClosedThrough > mem.closedThrough {
		mem.closedThrough = r.ClosedThrough
	}
	mem.correctionsAcked = max(mem.correctionsAcked, r.CorrectionsAcked)
	mem.decidedSinceRequest = mem.decidedSinceRequest || len(mem.Pending) > 0 && len(r.PendingApprovals) == 0
	mem.idle, mem.Missing, mem.questions, mem.Pending, mem.planFailure = r.Idle, r.Missing, r.Questions, r.PendingApprovals, r.PlanFailure
	if r.ApprovalOverdue != nil && m.paused == nil {
		m.paused = r.ApprovalOverdue
	}
	return true
}

// TakeLog gives what changed since it was asked last: for the Idea that is sealed now.
func (m *Loop) TakeLog() []turn.LogEntry {
	log := m.log
	m.log = nil
	return log
}

// TakeEnded gives the instances that have settled or failed since it was asked last.
func (m *Loop) TakeEnded() []*InstanceProgress {
	ended := m.newlyEnded
	m.newlyEnded = nil
	return ended
}

// Pause lets what runs come to its end and starts nothing new.
func (m *Loop) Pause(by, reason string) { m.paused = PauseFault(by, reason) }

// PauseFault is why a process is paused that somebody paused.
func PauseFault(by, reason string) *diag.Fault {
	f := diag.Faultf(turn.CodePaused, "paused by %s", cmp.Or(by, "a person"))
	if reason != "" {
		f.Message += ": " + reason
	}
	return f
}

// Turns counts the Requests that were answered.
func (m *Loop) Turns() int { return m.turns }

// AwaitsOnlyPeople says whether people are waited for, and nothing else.
func (m *Loop) AwaitsOnlyPeople() bool {
	running, waiting := m.others()
	return waiting && !running && m.inFlight == nil && len(m.ready()) == 0
}

// PauseFor pauses the process for a reason of its own.
func (m *Loop) PauseFor(f *diag.Fault) { m.paused = f }

// Resume lets a paused process go on, with other limits where they are given (0 keeps one).
func (m *Loop) Resume(l ideafile.Limits) {
	m.paused, m.badReplies, m.badOutputs, m.workerLosses = nil, 0, 0, 0
	m.setLimits(l)
}

func (m *Loop) setLimits(l ideafile.Limits) { m.limits = m.limits.Override(l) }

// PauseReason says why the process is paused; nil where it is not.
func (m *Loop) PauseReason() *diag.Fault { return m.paused }

// FullInput is the process as it ended, in the form of a Request that covers every instance: for the last Idea.
func (m *Loop) FullInput() *turn.RequestInput {
	b := &turn.RequestInput{Process: m.process, Number: m.priorRequests + m.requests, Turn: m.turns, Plan: m.planEntries(m.members), Errors: m.errorsFor(m.members)}
	for _, mem := range m.members {
		c := turn.InstanceInput{Token: mem.Token, State: mem.state.Value(), Missing: mem.Missing}
		if mem.Status != ideafile.InstanceWorking {
			c.Status, c.Fault = mem.Status, mem.Fault
		}
		b.Instances = append(b.Instances, c)
	}
	return b
}

// Output is the process's output, null while there is none.
func (m *Loop) Output() any { return m.output }
