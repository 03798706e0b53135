package model

import "time"

// Mind is a process at work: which instances there are, what was asked, what came of it, and whether to go on. It is told
// what happened (Replied, Heard) and answers what is to be done (Next); it does nothing by itself.
type Mind struct {
	idea     *Idea
	process  string
	bindings map[string]Binding
	members  []*Member // in the order of their tokens
	started  time.Time

	requests, turns        int
	badReplies, badOutputs int
	lost                   int // workers, under one Request after the other
	usage                  Usage
	unnamed                int // broken Calls that no instance knows of
	asked                  *asked
	plan                   []planned // the Calls of the last Request, and older ones without an output path
	troubles               []Trouble
	output                 any
	hasOutput              bool
	paused                 *Fault
	limits                 Limits
}

// Member is one instance, as its process knows it.
type Member struct {
	Token  string
	Status InstanceStatus
	Fault  *Fault // why it failed
	// Missing is what its State schema requires and State has not.
	Missing []string

	state  *State
	calls  map[[2]int]CallReport
	closed int
	quiet  bool
	asking []Asked
	told   map[[2]int]bool // Calls whose fault the LLM was told
	lacks  int             // Requests that would have settled it, had nothing been missing
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
	seen  *Brief // every instance as it was then, for the chain
	reply *Reply
}

// planned is a Call of an earlier Request, as written.
type planned struct {
	request, index int
	call           any
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
	m := &Mind{idea: idea, process: process, bindings: bindings, started: now, limits: idea.Config.Limits}
	tokens := idea.Tokens()
	views := viewsOf(idea.Context, tokens)
	for _, token := range tokens {
		view := views[token]
		member := &Member{Token: token, Status: InstanceWorking, quiet: true, calls: map[[2]int]CallReport{}, told: map[[2]int]bool{}}
		member.state = NewState(view.Payload[TypeState])
		member.Missing = MissingRequired(view.Schema[TypeState], member.state.Value())
		m.members = append(m.members, member)
	}
	return m
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

func (m *Mind) member(token string) *Member {
	for _, mem := range m.members {
		if mem.Token == token {
			return mem
		}
	}
	return nil
}

// Step is what a process does next.
type Step string

// The steps of a process.
const (
	StepAsk    Step = "ask"    // make the Request of Brief
	StepWait   Step = "wait"   // until a reply or a report comes
	StepPaused Step = "paused" // until somebody resumes it
	StepOver   Step = "over"
)

// Next says what to do now, and the Request to make.
func (m *Mind) Next(now time.Time) (Step, *Brief) {
	switch {
	case m.asked != nil:
		return StepWait, nil
	case m.over():
		return StepOver, nil
	case m.paused != nil:
		return StepPaused, nil
	}
	if f := m.limit(now); f != nil {
		m.paused = f
		return StepPaused, nil
	}
	b := m.brief()
	m.asked = &asked{brief: b, seen: m.Final()}
	return StepAsk, b
}

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
	return m.idea.Output == nil || m.hasOutput || settled == 0
}

// limit says which limit the next Request would break.
func (m *Mind) limit(now time.Time) *Fault {
	tokens, calls := m.usage.PromptTokens+m.usage.CompletionTokens, m.Counts()
	ended := calls.Done + calls.Failed + calls.Rejected + calls.Skipped + calls.Blocked
	switch l := m.limits; {
	case l.Requests > 0 && m.requests >= l.Requests:
		return fault(CodeLimit, "%d Requests were made, the limit", m.requests)
	case l.Tokens > 0 && tokens >= l.Tokens:
		return fault(CodeLimit, "%d tokens were used; the limit is %d", tokens, l.Tokens)
	case l.Calls > 0 && ended >= l.Calls:
		return fault(CodeLimit, "%d Calls were made; the limit is %d", ended, l.Calls)
	case l.Duration > 0 && now.Sub(m.started) >= l.Duration:
		return fault(CodeLimit, "the process has run for %s, the limit", l.Duration)
	}
	return nil
}

// brief composes the next Request: for latent results where some are waited for, for the output alone where every
// instance has settled, for all instances that are still at work otherwise.
func (m *Mind) brief() *Brief {
	b := &Brief{Process: m.process, Number: m.requests + 1, Turn: m.turns + 1}
	for _, mem := range m.members {
		b.Asking = append(b.Asking, mem.asking...)
	}
	b.Closing = len(b.Asking) == 0
	for _, mem := range m.members {
		if mem.Status == InstanceWorking {
			b.Closing = false
		}
	}
	for _, mem := range m.members {
		if mem.Status == InstanceWorking && (len(b.Asking) == 0 || len(mem.asking) > 0) || b.Closing {
			b.Covered = append(b.Covered, Covered{Token: mem.Token, State: mem.state.Value(), Missing: mem.lacking()})
		}
	}
	b.Plan, b.Troubles = m.planEntries(m.covered(b)), m.troubles
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
	if mem.lacks == 0 {
		return nil
	}
	return mem.Missing
}

// planEntries folds what became of each planned Call over some of the instances. Calls that only others have are left
// out.
func (m *Mind) planEntries(members []*Member) []PlanEntry {
	var out []PlanEntry
	for _, p := range m.plan {
		e := PlanEntry{ID: CallID(p.request, p.index, ""), Call: p.call, How: map[Status]int{}, Results: map[string]any{}}
		for _, mem := range members {
			c, ok := mem.calls[[2]int{p.request, p.index}]
			if !ok {
				continue
			}
			e.How[c.Status]++
			if c.Result != nil {
				e.Results[mem.Token] = c.Result
			}
		}
		if len(e.How) > 0 || !m.known(p) {
			out = append(out, e)
		}
	}
	return out
}

// known says whether some instance has a Call. None has one that named no covered instance.
func (m *Mind) known(p planned) bool {
	for _, mem := range m.members {
		if _, ok := mem.calls[[2]int{p.request, p.index}]; ok {
			return true
		}
	}
	return false
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

// Heard takes an instance's report.
func (m *Mind) Heard(r Report) {
	mem := m.member(r.Token)
	if mem == nil {
		return
	}
	for _, w := range r.Writes {
		mem.state.Apply(w)
	}
	for _, c := range r.Calls {
		mem.calls[[2]int{c.Request, c.Index}] = c
	}
	if r.Closed > mem.closed {
		mem.closed = r.Closed
	}
	mem.quiet, mem.Missing, mem.asking = r.Quiet, r.Missing, r.Asking
}

// Resume lets a paused process go on, with other limits where they are given (0 keeps one).
func (m *Mind) Resume(l Limits) {
	m.paused, m.badReplies, m.badOutputs, m.lost = nil, 0, 0, 0
	for _, f := range []struct {
		to *int
		n  int
	}{{&m.limits.Requests, l.Requests}, {&m.limits.Tokens, l.Tokens}, {&m.limits.Calls, l.Calls}} {
		if f.n > 0 {
			*f.to = f.n
		}
	}
	if l.Duration > 0 {
		m.limits.Duration = l.Duration
	}
}

// Paused says why the process is paused; nil where it is not.
func (m *Mind) Paused() *Fault { return m.paused }

// Final is the process as it ended, in the form of a Request that covers every instance: for the last Idea.
func (m *Mind) Final() *Brief {
	b := &Brief{Process: m.process, Number: m.requests, Turn: m.turns, Plan: m.planEntries(m.members), Troubles: m.troubles}
	for _, mem := range m.members {
		b.Covered = append(b.Covered, Covered{Token: mem.Token, State: mem.state.Value(), Missing: mem.Missing})
	}
	return b
}

// Output is the process's output, null while there is none.
func (m *Mind) Output() any { return m.output }
