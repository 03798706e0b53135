package loop

import (
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/loop/quota"
	"processidea/model/quality"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Loop is the agent loop of one process: its instances, the Request to the LLM, and whether to go on. It does no work
// by itself: its workflow reports events to it (ApplyReply, ApplyReport, Pause, …) and does what Advance returns.
type Loop struct {
	idea                 *ideafile.Idea
	initialMessageCount  int // Messages of its context that it was started with
	initialInstanceCount int // instances that it was started with
	processID            string
	bindings             map[string]ideafile.ToolBinding
	instances            []*InstanceProgress // in the order of their tokens
	byToken              map[string]*InstanceProgress
	startedAt            time.Time

	requestCount                     int // Requests that were replied to, whatever the reply
	turnCount                        int // attempts at the LLM, but for Requests that were lost without a trace
	priorRequests                    int // Requests of the earlier process from whose Idea this one starts
	badRepliesInRow, badOutputsInRow int
	workerLossesInRow                int
	usage                            turn.TokenUsage
	answeringLLMs                    []turn.LLMUsage // since the last Idea or, if answeringLLMsSealed, those of it
	answeringLLMsSealed              bool
	unassignedCalls                  int // malformed Calls that name no instance
	unassignedFailures               turn.Failures
	requestInFlight                  *llmRequest
	wiredRequest                     *llmRequest // see "the life of a Request" in doc.go
	readySince                       time.Time   // since when an instance is ready for a Request; zero: none is
	wakeTime                         time.Time
	plannedCalls                     []PlannedCall // the Calls that a later Request may be shown, in Plan order
	pendingErrors                    []PendingError
	lastErrorID                      int
	newlyEndedInstances              []*InstanceProgress // that TakeEndedInstances has not returned yet
	restarts                         []*InstanceProgress // that TakeRestarts has not returned yet
	unsealedLog                      []turn.LogEntry     // what changed since the last Idea
	hasUnsealedChanges               bool                // something changed since the last Idea: see Unsealed
	output                           any
	hasOutput                        bool
	// the output as a reply wrote it, where that is of References alone
	wiredOutput any
	isPart      bool              // see MarkAsPart
	draftOutput *turn.DraftOutput // the last output of a reply, where it does not count
	notes       []turn.Note       // what the LLM wants to be shown again
	// takeDirectPlanOutput has taken the outputs of direct Plans, or they are of no use
	planOutputTried bool
	outputFault     *diag.Fault // why there is no output, where the LLM may not be asked for it
	pauseReason     *diag.Fault // nil: it is not paused
	selfPauseCount  int         // see SelfPauseCount
	progress        StallDetector
	limits          ideafile.Limits
	// what the process that this one is a part or a delegate of allows
	parentQuota           turn.Quota
	awaitsQuota           bool                // a Request is due that the quota does not allow
	instancesWithNewQuota []*InstanceProgress // whose Quota TakeInstancesWithNewQuota has not returned yet
	instancesToReport     []*InstanceProgress // that TakeInstancesToReport has not returned yet
	resumedCalls          []ResumedCalls
	holdsPlans            bool         // see HoldPlans
	planDeciders          policy.Rules // who may decide on Plans
	pendingPlan           *approval.Plan
	rechecked             quality.Tally // what it came to that answers were asked for twice
	rechecks              []*recheck    // that are in flight
	pausedForDisagreement bool

	// Knows reports whether the process began after a change of the rules, such as ChangeOutputs; else it goes on by
	// the old ones.
	Knows func(change string) bool
}

// llmRequest is the Request in flight, or the one whose wired output waits for its Calls.
type llmRequest struct {
	input             *turn.RequestInput
	allInstancesInput *turn.RequestInput // all instances when the Request was made, for its Idea
	logBeforeRequest  []turn.LogEntry    // what had changed since the last Idea when it was made
	// the output is that of a solution, of whose process every other instance had settled
	resumesFinalOutput bool
	hadUnsealedChanges bool           // whether anything had
	reply              *turn.LLMReply // nil: in flight
	// what the LLM is told of a person's changes of its Plan; empty: there were none
	amendment string
	drawn     []int // the covered instances that are asked about twice, by their places in the input
}

// PlannedCall is a Call of an earlier Request, or of a direct Plan, as written.
type PlannedCall struct {
	Request    int                  `json:"request"`
	Index      int                  `json:"index"`
	Call       ideafile.WrittenCall `json:"call"`
	Unassigned bool                 `json:"nobody,omitempty"` // it names no instance that its Request covered
	// OnlyForInstances lists the instances that it was planned for in the process before; nil: for all. The parts of
	// a process that was split numbered their Requests each by themselves, so that two Calls may have one place.
	OnlyForInstances []string `json:"only,omitempty"`
	// DirectPlanPosition is the place in the context, from 1, of the direct Plan it is part of; 0: a Request planned
	// it.
	DirectPlanPosition int `json:"direct,omitempty"`
}

func (p PlannedCall) key() ideafile.CallKey {
	return ideafile.CallKey{Request: p.Request, Index: p.Index}
}

const (
	// MaxBadInRow is how many bad replies, or bad outputs, in a row pause the process.
	MaxBadInRow = 3
	// MaxWorkerLossesInRow is far above what deploys and crashes cause by chance. Without it, a Request that crashes
	// its worker each time would be paid for without end.
	MaxWorkerLossesInRow = 10
	maxMissingRetries    = 3 // Requests that are told what an instance misses, before the instance fails
)

// New starts the loop of a process; now is its starting time.
func New(idea *ideafile.Idea, process string, bindings map[string]ideafile.ToolBinding, now time.Time) *Loop {
	l := &Loop{
		idea: idea, processID: process, bindings: bindings, byToken: map[string]*InstanceProgress{}, startedAt: now,
		limits: idea.Config.Limits, parentQuota: turn.Unlimited, Knows: func(string) bool { return true },
	}
	l.dropHistoryMessages()
	l.initialMessageCount = len(l.idea.Context)
	l.addNewInstances(idea.InstanceTokens())
	l.initialInstanceCount = len(l.instances)
	l.restoreHistory(idea.Context)
	return l
}

// BindTools sets the Tools and what runs them, which are known only once the process has started. No Request is made
// before.
func (l *Loop) BindTools(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding) {
	l.idea, l.bindings = idea, bindings
}

// addNewInstances adds instances: ready for a Request, unless a direct Plan runs them.
func (l *Loop) addNewInstances(tokens []string) {
	views, plans := ideafile.InstanceViewsByToken(l.idea.Context, tokens), ideafile.FindDirectPlans(l.idea.Context)
	for _, token := range tokens {
		view := views[token]
		inst := &InstanceProgress{
			Token: token, Status: ideafile.InstanceWorking,
			carriedProgress: carriedProgress{Idle: true, Claim: quota.Allocation{GrantedQuota: turn.Unlimited}},
			state:           statelog.NewState(view.PayloadByKind[ideafile.TypeState]),
			calls:           map[ideafile.CallKey]turn.CallReport{}, callsWithErrorsShown: map[ideafile.CallKey]bool{},
		}
		inst.MissingRequiredPaths = statelog.MissingRequiredPaths(view.SchemaByKind[ideafile.TypeState],
			inst.state.CurrentValue)
		inst.HeldByPause = l.pauseReason != nil
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

// EndedOrWaitingInstances gives the statuses of the instances that have ended or wait for a person, by token.
func (l *Loop) EndedOrWaitingInstances() map[string]ideafile.InstanceStatus {
	statuses := map[string]ideafile.InstanceStatus{}
	for _, inst := range l.instances {
		if s := inst.DisplayStatus(); s != ideafile.InstanceWorking {
			statuses[inst.Token] = s
		}
	}
	return statuses
}

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

// FindInstance returns the token of the instance that a word names, in either spelling.
func (l *Loop) FindInstance(word string) (token string, ok bool) {
	if l.HasInstance(word) || word == "" {
		return word, l.HasInstance(word)
	}
	return spelling.FindToken(l.InstanceTokens(), word)
}

func (l *Loop) instance(token string) *InstanceProgress { return l.byToken[token] }

// Idea returns the process's Idea with every correction so far.
func (l *Loop) Idea() *ideafile.Idea { return l.idea }

// ProcessID returns the id of the process.
func (l *Loop) ProcessID() string { return l.processID }

// TurnCount returns the number of turns so far.
func (l *Loop) TurnCount() int { return l.turnCount }

// Output returns the process's output, nil while there is none.
func (l *Loop) Output() any { return l.output }

// WiredOutput returns the output as it was written, where that was of References alone; nil otherwise.
func (l *Loop) WiredOutput() any { return l.wiredOutput }

// setOutput sets the output, and keeps it as it was written where that was of References alone.
func (l *Loop) setOutput(out, written any) {
	l.output, l.hasOutput, l.badOutputsInRow, l.wiredOutput = out, true, 0, nil
	if HasOnlyReferences(written) {
		l.wiredOutput = written
	}
}

// dropOutput forgets the output: there is more to do.
func (l *Loop) dropOutput() {
	l.output, l.hasOutput, l.wiredOutput, l.draftOutput, l.planOutputTried, l.outputFault = nil, false, nil,
		nil, false, nil
}

// MarkAsPart makes the process one part of a whole: what direct Plans wire is resolved over all instances of the whole,
// and nobody is asked for it here.
func (l *Loop) MarkAsPart() { l.isPart = true }

// SkipOutput has a part make no output: the whole has its final one already.
func (l *Loop) SkipOutput() { l.planOutputTried = true }

// TakeUnsealedLog returns what changed since its last call, for the Idea that is sealed now.
func (l *Loop) TakeUnsealedLog() []turn.LogEntry {
	log := l.unsealedLog
	l.unsealedLog, l.hasUnsealedChanges = nil, false
	return log
}

// TakeLLMUsages returns which LLM answered since its last call, for the Idea that is sealed now; if nobody did, who
// answered before.
func (l *Loop) TakeLLMUsages() []turn.LLMUsage {
	l.answeringLLMsSealed = true
	return l.answeringLLMs
}

// HasUnsealedChanges reports whether something has happened since TakeUnsealedLog that the next Idea will hold: a Call
// came further, a value was written, somebody decided, or an instance joined. That an instance has settled by the reply
// of a Request stands in the Idea of that Request.
func (l *Loop) HasUnsealedChanges() bool { return l.hasUnsealedChanges }

// TakeEndedInstances returns the instances that settled or failed since its last call, and those that are to take back
// what they did: they are at work still.
func (l *Loop) TakeEndedInstances() []*InstanceProgress {
	ended := l.newlyEndedInstances
	l.newlyEndedInstances = nil
	return ended
}

// endInstance ends an instance. Where one that fails is to take back what it did, it does so first.
func (l *Loop) endInstance(inst *InstanceProgress, s ideafile.InstanceStatus, f *diag.Fault) {
	if s.HasFailed() && l.idea.Config.UndoOnFailure && inst.UndoneFor == nil && inst.hasDoneCalls() &&
		f.Code != turn.CodeInstanceGone {
		inst.UndoneFor = f
		l.newlyEndedInstances = append(l.newlyEndedInstances, inst)
		return
	}
	inst.Status, inst.Fault, inst.Steps = s, f, l.stepOutcomes(inst)
	l.recordInstanceEnd(inst)
}

// recordInstanceEnd notes that an instance has ended. Where all settle together, one that has settled has not ended for
// good.
func (l *Loop) recordInstanceEnd(inst *InstanceProgress) {
	inst.SettledForNow = l.idea.Config.SettleTogether && inst.Status == ideafile.InstanceSettled
	if inst.SettledForNow {
		return
	}
	l.newlyEndedInstances = append(l.newlyEndedInstances, inst)
}

// Pause starts nothing new until Resume; what runs may end.
func (l *Loop) Pause(by, reason string) { l.pauseReason = turn.PauseFault(by, reason) }

// pause pauses the process for a reason of its own, unless it is paused already; nil does not.
func (l *Loop) pause(f *diag.Fault) {
	if f == nil || l.pauseReason != nil {
		return
	}
	l.pauseReason = f
	l.selfPauseCount++
}

// SelfPauseCount counts the pauses for reasons of the process's own.
func (l *Loop) SelfPauseCount() int { return l.selfPauseCount }

// PauseWithFault pauses the process for a reason of its own.
func (l *Loop) PauseWithFault(f *diag.Fault) { l.pause(f) }

// PauseWithParent pauses the process with the one that it works for.
func (l *Loop) PauseWithParent(f *diag.Fault) { l.pauseReason = f }

// Resume lets a paused process go on, with new limits where they are given; 0 keeps a limit.
func (l *Loop) Resume(limits ideafile.Limits) {
	l.pauseReason, l.badRepliesInRow, l.badOutputsInRow, l.workerLossesInRow = nil, 0, 0, 0
	l.progress = l.progress.ResetAfterPause()
	l.setLimits(limits)
	for _, inst := range l.instances {
		inst.HeldByPause = false
	}
}

func (l *Loop) setLimits(limits ideafile.Limits) { l.limits = l.limits.MergedWith(limits) }

// MarkAllHeldByPause marks every instance as held: a paused process starts them so.
func (l *Loop) MarkAllHeldByPause() {
	for _, inst := range l.instances {
		inst.HeldByPause = true
	}
}

// PauseReason returns why the process is paused; nil where it is not.
func (l *Loop) PauseReason() *diag.Fault { return l.pauseReason }
