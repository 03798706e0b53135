package model

import (
	"cmp"
	"slices"
	"time"
)

// Mind is a process at work: which instances there are, what was asked, what came of it, and whether to go on. It is told
// what happened (Replied, Heard, Pause, …) and answers what is to be done (Next); it does nothing by itself.
type Mind struct {
	idea     *Idea
	given    int // Messages of its context, and instances, that it began with
	first    int
	process  string
	bindings map[string]Binding
	members  []*Member // in the order of their tokens
	byToken  map[string]*Member
	started  time.Time

	requests, turns        int
	before                 int // Requests of the process whose Idea this one goes on from
	badReplies, badOutputs int
	lost                   int // workers, under one Request after the other
	usage                  Usage
	unnamed                int // broken Calls that no instance knows of
	asked                  *asked
	wiring                 *asked    // an answered Request that wired its result, while its Calls run
	readySince             time.Time // since when somebody could be asked about
	wake                   time.Time
	plan                   []planned // the Calls that a Request is still to be shown
	troubles               []Untold
	notes                  int // of Troubles, that were made for instances
	ended                  []*Member
	log                    []LogEntry // what changed since the last Idea
	output                 any
	hasOutput              bool
	planOutput             bool   // it was tried to take the output from the Plans that ran directly
	outputFault            *Fault // why there is none, where nobody may be asked for it
	paused                 *Fault
	limits                 Limits
	taken                  []TakenUp
}

// Member is one instance, as its process knows it.
type Member struct {
	Token  string         `json:"token"`
	Status InstanceStatus `json:"status"`
	Fault  *Fault         `json:"error,omitempty"` // why it failed
	// Missing is what its State schema requires and State has not.
	Missing []string `json:"missing,omitempty"`
	// Pending is what waits for a person there.
	Pending []Pending `json:"pending,omitempty"`

	state   *State
	calls   map[[2]int]CallReport
	covered int // the last Request that was about it
	planned int // the last Request that planned for it
	closed  int
	quiet   bool
	told    map[[2]int]bool // Calls whose fault the LLM was told
	untold  []int           // notes of Troubles that its next Request is to tell
	lacks   int             // Requests that would have settled it, had nothing been missing
	// corrected counts the corrections that it was sent, taken those that it has reported.
	corrected, taken int
	back             bool // a person has decided, and nobody has been asked about it since
	revised          bool // a person has corrected what it sees, and nobody has been asked about it since
	asking           []Asked

	direct int    // the place of its Plan that runs directly in the context, from 1; 0: there is none
	handed bool   // its Plan did not suffice: it goes to the LLM
	barred bool   // no Plan holds for it, and nobody may be asked
	unmet  *Fault // what went wrong with its Plan and is covered by no alternative

	report [2]int // the last one taken: its number, and what its sender had heard
}

// InstanceStatus is where an instance stands.
type InstanceStatus string

// The statuses of an instance.
const (
	InstanceWorking InstanceStatus = "working"
	InstanceWaiting InstanceStatus = "waiting"
	InstanceSettled InstanceStatus = "settled"
	InstanceFailed  InstanceStatus = "failed"
)

// asked is the Request under way, or just answered.
type asked struct {
	brief *Brief
	seen  *Brief     // every instance as it was then, for the chain
	log   []LogEntry // what changed until then, since the Idea before
	reply *Reply
}

// planned is a Call of an earlier Request, as written.
type planned struct {
	request, index int
	call           any
	nobody         bool // it names no instance that was covered
	direct         int  // of Request 0: the place of its Plan in the context, from 1
}

const (
	maxBadInRow = 3 // bad replies, or bad outputs, before the process pauses
	// maxLostInRow is far above what deploys and crashes do by chance: a Request that takes its worker down every time
	// would be paid for without end.
	maxLostInRow = 10
	maxLacks     = 3 // Requests that are told what is missing
)

// NewMind begins a process. now is when it started.
func NewMind(idea *Idea, process string, bindings map[string]Binding, now time.Time) *Mind {
	m := &Mind{
		idea: idea, process: process, bindings: bindings, byToken: map[string]*Member{}, started: now,
		limits: idea.Config.Limits,
	}
	m.dropPast()
	m.given = len(m.idea.Context)
	m.join(idea.Tokens())
	m.first = len(m.members)
	m.takePast(idea.Context)
	return m
}

// Equip tells which Tools there are and what runs them, before the first Request is made.
func (m *Mind) Equip(idea *Idea, bindings map[string]Binding) { m.idea, m.bindings = idea, bindings }

// join takes instances in. They are ready for a Request at once.
func (m *Mind) join(tokens []string) {
	views, plans := viewsOf(m.idea.Context, tokens), directPlansOf(m.idea.Context)
	for _, token := range tokens {
		view := views[token]
		member := &Member{Token: token, Status: InstanceWorking, quiet: true, calls: map[[2]int]CallReport{}, told: map[[2]int]bool{}}
		member.state = NewState(view.Payload[TypeState])
		member.Missing = MissingRequired(view.Schema[TypeState], member.state.now)
		m.enter(member, token)
		m.assign(plans, member, view)
	}
}

func (m *Mind) enter(mem *Member, token string) {
	m.members = append(m.members, mem)
	m.byToken[token] = mem
}

// viewsOf is ViewOf for many instances: each is shown the shared messages and its own alone, as ten thousand times ten
// thousand would take too long.
func viewsOf(context []Message, tokens []string) map[string]View {
	owned := map[string][]Message{}
	for _, m := range context {
		owned[m.Instance] = append(owned[m.Instance], m)
	}
	views := make(map[string]View, len(tokens))
	shared := owned[""]
	for _, token := range tokens {
		seen := shared
		if token != "" {
			seen = append(shared[:len(shared):len(shared)], owned[token]...)
		}
		views[token] = ViewOf(seen, token)
	}
	return views
}

// Members lists the instances in order.
func (m *Mind) Members() []*Member { return m.members }

// Tokens lists the instances in order.
func (m *Mind) Tokens() []string {
	tokens := make([]string, len(m.members))
	for i, mem := range m.members {
		tokens[i] = mem.Token
	}
	return tokens
}

// Has says whether the process has an instance of a token.
func (m *Mind) Has(token string) bool { return m.byToken[token] != nil }

func (m *Mind) member(token string) *Member { return m.byToken[token] }

// Step is what a process does next.
type Step string

// The steps of a process.
const (
	StepAsk    Step = "ask"    // make the Request of Brief
	StepWait   Step = "wait"   // until a reply or a report comes
	StepPaused Step = "paused" // until somebody resumes it
	StepOver   Step = "over"
)

// Next says what to do now, and the Request to make. Wake says until when it may wait.
func (m *Mind) Next(now time.Time) (Step, *Brief) {
	m.wake = time.Time{}
	m.settleDirect()
	m.tryWiring()
	m.takePlanOutput()
	if m.Over() {
		return StepOver, nil
	}
	if m.paused == nil {
		m.paused = m.late(now)
	}
	switch {
	case m.paused != nil:
		return StepPaused, nil
	case m.asked != nil || !m.due(now):
		return StepWait, nil
	}
	if m.paused = m.limit(); m.paused != nil {
		return StepPaused, nil
	}
	b := m.brief()
	m.asked = &asked{brief: b, seen: m.Final(), log: m.TakeLog()}
	m.readySince = time.Time{}
	for _, mem := range m.covered(b) {
		mem.covered, mem.quiet, mem.back, mem.revised = b.Number, b.Closing, false, false
	}
	return StepAsk, b
}

// Over says whether nothing is left to do.
func (m *Mind) Over() bool { return m.asked == nil && m.paused == nil && m.over() }

// over says whether every instance has ended and the output, where one is wanted, is there.
func (m *Mind) over() bool {
	settled := 0
	for _, mem := range m.members {
		switch mem.Status {
		case InstanceSettled:
			settled++
		case InstanceFailed:
		default:
			return false
		}
	}
	return m.idea.Output == nil || m.hasOutput || settled == 0 || !m.mayAsk()
}

// limit says which limit the next Request would break.
func (m *Mind) limit() *Fault {
	tokens, ended := m.usage.PromptTokens+m.usage.CompletionTokens, m.Counts().Ended()
	switch l := m.limits; {
	case l.Requests > 0 && m.requests >= l.Requests:
		return fault(CodeLimit, "%d Requests were made, the limit", m.requests)
	case l.Tokens > 0 && tokens >= l.Tokens:
		return fault(CodeLimit, "%d tokens were used; the limit is %d", tokens, l.Tokens)
	case l.Calls > 0 && ended >= l.Calls:
		return fault(CodeLimit, "%d Calls were made; the limit is %d", ended, l.Calls)
	}
	return nil
}

// late says that the process has run for as long as it may.
func (m *Mind) late(now time.Time) *Fault {
	l := m.limits.Duration
	if l <= 0 {
		return nil
	}
	if now.Sub(m.started) >= l {
		return fault(CodeLimit, "the process has run for %s, the limit", l)
	}
	m.wakeAt(m.started.Add(l))
	return nil
}

// brief composes the next Request: for latent results where some are waited for, for the output alone where every
// instance has settled, for all instances that are ready for one otherwise.
func (m *Mind) brief() *Brief {
	b := &Brief{Process: m.process, Number: m.before + m.requests + 1, Turn: m.turns + 1, Closing: m.closing()}
	members := m.ready()
	for _, mem := range members {
		b.Asking = append(b.Asking, mem.asking...)
	}
	if b.Closing {
		members = m.members
	}
	for _, mem := range members {
		if len(b.Asking) == 0 || len(mem.asking) > 0 {
			b.Covered = append(b.Covered, Covered{Token: mem.Token, State: mem.state.Value(), Missing: mem.lacking()})
		}
	}
	about := m.covered(b)
	b.Plan, b.Troubles = m.planEntries(about), m.troublesFor(about)
	return b
}

func (m *Mind) covered(b *Brief) []*Member {
	var list []*Member
	for _, c := range b.Covered {
		list = append(list, m.member(c.Token))
	}
	return list
}

// lacking is what the next Request is told is missing.
func (mem *Member) lacking() []string {
	if mem.lacks == 0 && !mem.handed {
		return nil
	}
	return mem.Missing
}

// Asked is the Request under way; nil where there is none.
func (m *Mind) Asked() *Brief {
	if m.asked == nil {
		return nil
	}
	return m.asked.brief
}

// Replied takes what became of the Request under way at the LLM's side.
func (m *Mind) Replied(r Reply) {
	if m.asked == nil || m.asked.reply != nil {
		return
	}
	m.asked.reply = &r
	m.requests++
	m.usage.Add(r.Usage)
}

// Heard takes an instance's report. It says false of one that is not taken: it came already, or a later one did.
func (m *Mind) Heard(r Report) bool {
	mem := m.member(r.Token)
	if mem == nil || !mem.news(r) {
		return false
	}
	for _, c := range r.Calls {
		mem.calls[[2]int{c.Request, c.Index}] = c
	}
	for _, w := range r.Writes {
		if mem.state.holds(w) {
			continue // from a report that was made twice
		}
		mem.state.Apply(w)
		e := mem.logged(w)
		if w.Request <= m.before {
			e.Call = m.writtenBefore(w) // no Idea of this chain has it in its solution
		}
		m.log = append(m.log, e)
	}
	if r.Closed > mem.closed {
		mem.closed = r.Closed
	}
	mem.taken = max(mem.taken, r.Corrected)
	mem.back = mem.back || len(mem.Pending) > 0 && len(r.Pending) == 0
	mem.quiet, mem.Missing, mem.asking, mem.Pending, mem.unmet = r.Quiet, r.Missing, r.Asking, r.Pending, r.Unmet
	if r.Overdue != nil && m.paused == nil {
		m.paused = r.Overdue
	}
	return true
}

// news says whether a report tells more than those that were taken.
func (mem *Member) news(r Report) bool {
	now := [2]int{r.Number, r.Heard}
	if slices.Compare(now[:], mem.report[:]) <= 0 {
		return false
	}
	mem.report = now
	return true
}

// logged is a write as the chain keeps it, with the decision of the person behind it.
func (mem *Member) logged(w Write) LogEntry {
	e := LogEntry{
		Instance: mem.Token, Path: w.Path, Method: w.Method, Value: w.Value, By: w.By, Request: w.Request, Index: w.Index,
		Correction: w.Correction, At: w.At,
	}
	call := mem.calls[[2]int{w.Request, w.Index}]
	decisions := call.Decisions
	if w.Correction == 0 {
		e.Adapted = call.Adapted
	}
	name, _ := e.Person()
	switch n := len(decisions); {
	case w.Correction > 0:
		e.Decision = &LogDecision{Decision: SteerRevise, By: name, Reason: w.Reason, At: w.At}
	case n > 0:
		d := decisions[n-1]
		e.Decision = &LogDecision{Decision: d.Decision, By: d.By, Reason: d.Reason, At: d.At, Digest: d.Digest}
	}
	return e
}

// TakeLog gives what changed since it was asked last: for the Idea that is sealed now.
func (m *Mind) TakeLog() []LogEntry {
	log := m.log
	m.log = nil
	return log
}

// TakeEnded gives the instances that have settled or failed since it was asked last.
func (m *Mind) TakeEnded() []*Member {
	ended := m.ended
	m.ended = nil
	return ended
}

// Pause lets what runs come to its end and starts nothing new.
func (m *Mind) Pause(by, reason string) { m.paused = PausedBy(by, reason) }

// PausedBy is why a process is paused that somebody paused.
func PausedBy(by, reason string) *Fault {
	f := fault(CodePaused, "paused by %s", cmp.Or(by, "a person"))
	if reason != "" {
		f.Message += ": " + reason
	}
	return f
}

// Turns counts the Requests that were answered.
func (m *Mind) Turns() int { return m.turns }

// OnlyWaits says whether people are waited for, and nothing else.
func (m *Mind) OnlyWaits() bool {
	running, waiting := m.others()
	return waiting && !running && m.asked == nil && len(m.ready()) == 0
}

// Halt pauses the process for a reason of its own.
func (m *Mind) Halt(f *Fault) { m.paused = f }

// Resume lets a paused process go on, with other limits where they are given (0 keeps one).
func (m *Mind) Resume(l Limits) {
	m.paused, m.badReplies, m.badOutputs, m.lost = nil, 0, 0, 0
	m.setLimits(l)
}

func (m *Mind) setLimits(l Limits) { m.limits = m.limits.With(l) }

// With is the limits with others in their place, where they are given (0 keeps one).
func (l Limits) With(other Limits) Limits {
	for _, f := range []struct {
		to *int
		n  int
	}{{&l.Requests, other.Requests}, {&l.Tokens, other.Tokens}, {&l.Calls, other.Calls}} {
		if f.n > 0 {
			*f.to = f.n
		}
	}
	if other.Duration > 0 {
		l.Duration = other.Duration
	}
	return l
}

// Paused says why the process is paused; nil where it is not.
func (m *Mind) Paused() *Fault { return m.paused }

// Final is the process as it ended, in the form of a Request that covers every instance: for the last Idea.
func (m *Mind) Final() *Brief {
	b := &Brief{Process: m.process, Number: m.before + m.requests, Turn: m.turns, Plan: m.planEntries(m.members), Troubles: m.troublesFor(m.members)}
	for _, mem := range m.members {
		c := Covered{Token: mem.Token, State: mem.state.Value(), Missing: mem.Missing}
		if mem.Status != InstanceWorking {
			c.Status, c.Fault = mem.Status, mem.Fault
		}
		b.Covered = append(b.Covered, c)
	}
	return b
}

// Output is the process's output, null while there is none.
func (m *Mind) Output() any { return m.output }
