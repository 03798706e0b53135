package loop

import (
	"cmp"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Loop is the agent loop of one process: its instances, the Request to the LLM, and whether to go on. It does no work by
// itself: its workflow reports events to it (ApplyReply, ApplyReport, Pause, …) and does what Advance returns.
type Loop struct {
	idea          *ideafile.Idea
	baseMessages  int // Messages of its context that it was started with
	baseInstances int // instances that it was started with
	processID     string
	bindings      map[string]ideafile.Binding
	instances     []*InstanceProgress // in the order of their tokens
	byToken       map[string]*InstanceProgress
	startedAt     time.Time

	requestCount                     int // Requests that were replied to, whatever the reply
	turnCount                        int // attempts at the LLM, but for Requests that were lost without a trace
	priorRequests                    int // Requests of the earlier process from whose Idea this one starts
	badRepliesInRow, badOutputsInRow int
	workerLossesInRow                int
	usage                            turn.Usage
	unassignedCalls                  int // malformed Calls that name no instance
	inFlight                         *llmRequest
	wiredRequest                     *llmRequest // see "the life of a Request" in doc.go
	readySince                       time.Time   // since when an instance is ready for a Request; zero: none is
	wakeTime                         time.Time
	plannedCalls                     []plannedCall // the Calls that a later Request may be shown, in Plan order
	pendingErrors                    []PendingError
	lastErrorID                      int
	newlyEnded                       []*InstanceProgress // that TakeEnded has not returned yet
	unsealedLog                      []turn.LogEntry     // what changed since the last Idea
	output                           any
	hasOutput                        bool
	planOutputTried                  bool        // takeDirectPlanOutput has resolved the outputs of direct Plans
	outputFault                      *diag.Fault // why there is no output, where the LLM may not be asked for it
	pauseReason                      *diag.Fault // nil: it is not paused
	limits                           ideafile.Limits
	resumedCalls                     []ResumedCalls
}

// llmRequest is the Request in flight, or the one whose wired output waits for its Calls.
type llmRequest struct {
	input     *turn.RequestInput
	fullInput *turn.RequestInput // all instances when the Request was made, for its Idea
	log       []turn.LogEntry    // what had changed since the last Idea when it was made
	reply     *turn.Reply        // nil: in flight
}

// plannedCall is a Call of an earlier Request, or of a direct Plan, as written.
type plannedCall struct {
	ideafile.CallKey
	call       ideafile.WrittenCall
	unassigned bool // it names no instance that its Request covered
	directPlan int  // the place in the context, from 1, of the direct Plan it is part of; 0: a Request planned it
}

const (
	maxBadInRow = 3 // bad replies, or bad outputs, before the process pauses
	// maxWorkerLossesInRow is far above what deploys and crashes cause by chance. Without it, a Request that crashes its worker
	// each time would be paid for without end.
	maxWorkerLossesInRow = 10
	maxMissingRetries    = 3 // Requests that are told what an instance misses, before the instance fails
)

// New starts the loop of a process; now is its starting time.
func New(idea *ideafile.Idea, process string, bindings map[string]ideafile.Binding, now time.Time) *Loop {
	l := &Loop{
		idea: idea, processID: process, bindings: bindings, byToken: map[string]*InstanceProgress{}, startedAt: now,
		limits: idea.Config.Limits,
	}
	l.dropHistoryMessages()
	l.baseMessages = len(l.idea.Context)
	l.joinInstances(idea.InstanceTokens())
	l.baseInstances = len(l.instances)
	l.restoreHistory(idea.Context)
	return l
}

// BindTools sets the Tools and what runs them, which are known only once the process has started. No Request is made before.
func (l *Loop) BindTools(idea *ideafile.Idea, bindings map[string]ideafile.Binding) {
	l.idea, l.bindings = idea, bindings
}

// joinInstances adds instances: ready for a Request, unless a direct Plan runs them.
func (l *Loop) joinInstances(tokens []string) {
	views, plans := ideafile.ViewsOf(l.idea.Context, tokens), ideafile.FindDirectPlans(l.idea.Context)
	for _, token := range tokens {
		view := views[token]
		inst := &InstanceProgress{
			Token: token, Status: ideafile.InstanceWorking, carriedProgress: carriedProgress{Idle: true}, state: statelog.New(view.Payload[ideafile.TypeState]),
			calls: map[ideafile.CallKey]turn.CallReport{}, errorsShown: map[ideafile.CallKey]bool{},
		}
		inst.Missing = statelog.MissingRequired(view.Schema[ideafile.TypeState], inst.state.Current)
		l.registerInstance(inst, token)
		l.assignDirectPlan(plans, inst, view)
	}
}

func (l *Loop) registerInstance(inst *InstanceProgress, token string) {
	l.instances = append(l.instances, inst)
	l.byToken[token] = inst
}

// Instances lists the instances in order.
func (l *Loop) Instances() []*InstanceProgress { return l.instances }

// InstanceTokens lists the instances' tokens in order.
func (l *Loop) InstanceTokens() []string {
	tokens := make([]string, len(l.instances))
	for i, inst := range l.instances {
		tokens[i] = inst.Token
	}
	return tokens
}

// HasInstance reports whether the process has an instance with a token.
func (l *Loop) HasInstance(token string) bool { return l.byToken[token] != nil }

func (l *Loop) instance(token string) *InstanceProgress { return l.byToken[token] }

// Idea returns the process's Idea with every correction so far.
func (l *Loop) Idea() *ideafile.Idea { return l.idea }

// ProcessID returns the id of the process.
func (l *Loop) ProcessID() string { return l.processID }

// Turns returns the number of turns so far.
func (l *Loop) Turns() int { return l.turnCount }

// Output returns the process's output, nil while there is none.
func (l *Loop) Output() any { return l.output }

func (l *Loop) setOutput(out any) { l.output, l.hasOutput, l.badOutputsInRow = out, true, 0 }

// TakeLog returns what changed since its last call, for the Idea that is sealed now.
func (l *Loop) TakeLog() []turn.LogEntry {
	log := l.unsealedLog
	l.unsealedLog = nil
	return log
}

// TakeEnded returns the instances that settled or failed since its last call.
func (l *Loop) TakeEnded() []*InstanceProgress {
	ended := l.newlyEnded
	l.newlyEnded = nil
	return ended
}

func (l *Loop) endInstance(inst *InstanceProgress, s ideafile.InstanceStatus, f *diag.Fault) {
	inst.Status, inst.Fault = s, f
	l.newlyEnded = append(l.newlyEnded, inst)
}

// Pause starts nothing new until Resume; what runs may end.
func (l *Loop) Pause(by, reason string) { l.pauseReason = PauseFault(by, reason) }

// PauseFault is the reason of a process that a person paused.
func PauseFault(by, reason string) *diag.Fault {
	f := diag.Faultf(turn.CodePaused, "paused by %s", cmp.Or(by, "a person"))
	if reason != "" {
		f.Message += ": " + reason
	}
	return f
}

// PauseFor pauses the process for a reason of its own.
func (l *Loop) PauseFor(f *diag.Fault) { l.pauseReason = f }

// Resume lets a paused process go on, with new limits where they are given; 0 keeps a limit.
func (l *Loop) Resume(limits ideafile.Limits) {
	l.pauseReason, l.badRepliesInRow, l.badOutputsInRow, l.workerLossesInRow = nil, 0, 0, 0
	l.setLimits(limits)
}

func (l *Loop) setLimits(limits ideafile.Limits) { l.limits = l.limits.Override(limits) }

// PauseReason returns why the process is paused; nil where it is not.
func (l *Loop) PauseReason() *diag.Fault { return l.pauseReason }
