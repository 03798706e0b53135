package loop

import (
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/loop/quota"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Loop is the agent loop of one process: its instances, the Request to the LLM, and whether to go on. It does no I/O:
// its workflow reports events to it (ApplyReply, ApplyReport, Pause, …) and does what Advance returns. Its fields are
// for reading, except those that its workflow sets at each start: IsPart, RequiresPlanReview, PlanDeciders,
// ParentQuota, HasTriedDirectPlanOutput and IsPatched.
type Loop struct {
	carriedLoopFields

	Idea                 *ideafile.Idea // with every correction so far
	ProcessID            string
	Instances            []*InstanceProgress // in the order of their tokens
	instanceByToken      map[string]*InstanceProgress
	initialMessageCount  int // how many Messages of the context it was started with
	initialInstanceCount int // how many instances it was started with
	bindings             ideafile.ToolBindings

	requestInFlight     *llmRequest
	wiredRequest        *llmRequest // see "the life of a Request" in doc.go
	wakeTime            time.Time
	newlyEndedInstances []*InstanceProgress // that TakeEndedInstances has not returned yet
	instancesToRestart  []*InstanceProgress // that TakeInstancesToRestart has not returned yet
	// IsPart makes the process one part of a whole. The outputs of direct Plans are resolved over all instances of the
	// whole, and the part does not ask the LLM for an output then.
	IsPart                  bool
	isAwaitingQuota         bool                // a Request is due that the quota does not allow
	instancesWithNewQuota   []*InstanceProgress // whose Quota TakeInstancesWithNewQuota has not returned yet
	instancesToAskForReport []*InstanceProgress // that TakeInstancesToAskForReport has not returned yet
	callsToResume           []CallDelivery
	// RequiresPlanReview makes every Plan wait until people allowed by PlanDeciders have decided on it.
	RequiresPlanReview bool
	PlanDeciders       policy.DeciderRules
	PendingPlan        *approval.PlanAwaitingDecision // the Plan that waits for a decision; nil: none waits
	pendingRechecks    []*pendingRecheck              // in flight

	// IsPatched reports whether the process began after a change of the rules, such as PartialOutputChangeID; if not,
	// it keeps the old rule.
	IsPatched func(change string) bool
}

// llmRequest is the Request in flight, or the one whose wired output waits for its Calls.
type llmRequest struct {
	*turn.RequestInput
	AllInstancesInput *turn.RequestInput // all instances as the Request was made, for its Idea
	LogBeforeRequest  []turn.LogEntry    // changes between the last Idea and the Request
	// the reply is a resumed solution, and every instance that it is not about had settled
	coversAllUnsettledAtResume bool
	hadUnsealedChanges         bool           // HasUnsealedChanges when it was made
	Reply                      *turn.LLMReply // nil: in flight
	// describes a person's changes to the Plan, for the LLM; empty: there were none
	amendmentText          string
	recheckInstanceIndexes []int // positions of instances in the input that the LLM is asked about twice
}

// PlannedCall is a Call of an earlier Request, or of a direct Plan, as written.
type PlannedCall struct {
	Request      int                  `json:"request"`
	Index        int                  `json:"index"`
	Call         ideafile.WrittenCall `json:"call"`
	IsUnassigned bool                 `json:"nobody,omitempty"` // it names no instance that its Request covered
	// OnlyForInstances lists the instances that it was planned for in the earlier process; nil: for all. Each part of a
	// split process numbers its own Requests, so that two Calls may have the same Request and Index.
	OnlyForInstances []string `json:"only,omitempty"`
	// DirectPlanPosition is the place in the context, from 1, of the direct Plan that it is part of; 0: a Request
	// planned it.
	DirectPlanPosition int `json:"direct,omitempty"`
}

func (p PlannedCall) key() ideafile.CallKey {
	return ideafile.CallKey{Request: p.Request, Index: p.Index}
}

const (
	// MaxBadRepliesInRow is how many bad replies, or bad outputs, in a row pause the process.
	MaxBadRepliesInRow = 3
	// MaxWorkerLossesInRow is how many lost workers in a row pause the process. It is far above what deploys and
	// crashes cause by chance. Without it, a Request that always crashes its worker would be paid for without end.
	MaxWorkerLossesInRow = 10
	maxUnsettledRequests = 3 // Requests that report what an instance lacks, before the instance fails
)

// New starts the loop of a process; now is its starting time.
func New(idea *ideafile.Idea, processID string, bindings ideafile.ToolBindings, now time.Time) *Loop {
	l := &Loop{
		Idea: idea, ProcessID: processID, bindings: bindings, instanceByToken: map[string]*InstanceProgress{},
		IsPatched:         func(string) bool { return true },
		carriedLoopFields: carriedLoopFields{StartedAt: now, Limits: idea.Config.Limits, ParentQuota: turn.Unlimited},
	}
	l.dropHistoryMessages()
	l.initialMessageCount = len(l.Idea.Context)
	l.addNewInstances(idea.InstanceTokens())
	l.initialInstanceCount = len(l.Instances)
	l.restoreHistory(idea.Context)
	return l
}

// BindTools sets the Tools and what runs them, which are known only once the process has started. It must be
// called before the first Request.
func (l *Loop) BindTools(idea *ideafile.Idea, bindings ideafile.ToolBindings) {
	l.Idea, l.bindings = idea, bindings
}

// addNewInstances adds instances. They are ready for a Request, unless a direct Plan runs them.
func (l *Loop) addNewInstances(tokens []string) {
	splitMessages, plans := ideafile.SplitMessagesByInstance(l.Idea.Context), ideafile.FindDirectPlans(l.Idea.Context)
	for _, token := range tokens {
		view := splitMessages.InstanceView(token)
		inst := &InstanceProgress{
			Token: token, Status: ideafile.InstanceWorking,
			InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: true},
			carriedInstanceFields: carriedInstanceFields{
				QuotaAllocation: quota.Allocation{GrantedQuota: turn.Unlimited}},
			state:                statelog.NewState(view.PayloadByKind[ideafile.TypeState]),
			reportByCallKey:      map[ideafile.CallKey]turn.CallReport{},
			callsWithErrorsShown: map[ideafile.CallKey]bool{},
		}
		inst.MissingRequiredPaths = statelog.MissingRequiredPaths(view.SchemaByKind[ideafile.TypeState],
			inst.state.CurrentValue)
		inst.IsHeldByPause = l.PauseReason != nil
		l.registerInstance(inst, token)
		l.assignDirectPlan(plans, inst, view)
	}
}

func (l *Loop) registerInstance(inst *InstanceProgress, token string) {
	l.Instances = append(l.Instances, inst)
	l.instanceByToken[token] = inst
}

// EndedOrWaitingStatuses gives the statuses of the instances that have ended or wait for a person, by token.
func (l *Loop) EndedOrWaitingStatuses() map[string]ideafile.InstanceStatus {
	statusByToken := map[string]ideafile.InstanceStatus{}
	for _, inst := range l.Instances {
		if s := inst.DisplayStatus(); s != ideafile.InstanceWorking {
			statusByToken[inst.Token] = s
		}
	}
	return statusByToken
}

// InstanceTokens lists the instances' tokens in order.
func (l *Loop) InstanceTokens() []string { return tokensOf(l.Instances) }

func tokensOf(instances []*InstanceProgress) []string {
	return jsonval.Map(instances, func(inst *InstanceProgress) string { return inst.Token })
}

// anyInstance reports whether holds returns true for at least one instance.
func (l *Loop) anyInstance(matches func(*InstanceProgress) bool) bool {
	return slices.ContainsFunc(l.Instances, matches)
}

// instancesWhere lists the instances for which holds returns true.
func (l *Loop) instancesWhere(matches func(*InstanceProgress) bool) []*InstanceProgress {
	return jsonval.Filter(l.Instances, matches)
}

// takeAndClear returns the elements of a list, and empties it.
func takeAndClear[T any](list *[]T) []T {
	all := *list
	*list = nil
	return all
}

// HasInstance reports whether the process has an instance with a token.
func (l *Loop) HasInstance(token string) bool { return l.instanceByToken[token] != nil }

// FindInstanceToken returns the token of the instance that a word names, in either spelling.
func (l *Loop) FindInstanceToken(typedToken string) (token string, ok bool) {
	if l.HasInstance(typedToken) || typedToken == "" {
		return typedToken, l.HasInstance(typedToken)
	}
	return spelling.FindInstanceToken(l.InstanceTokens(), typedToken)
}

// setOutput sets the output, and keeps it as written if that has only References.
func (l *Loop) setOutput(out, writtenOutput any) {
	l.Output, l.HasOutput, l.BadOutputsInRow, l.WrittenReferenceOutput = out, true, 0, nil
	if HasOnlyReferences(writtenOutput) {
		l.WrittenReferenceOutput = writtenOutput
	}
}

// dropOutput forgets the output, because there is more to do.
func (l *Loop) dropOutput() {
	l.Output, l.HasOutput, l.WrittenReferenceOutput, l.DraftOutput, l.HasTriedDirectPlanOutput, l.OutputFault = nil,
		false, nil,
		nil, false, nil
}

// TakeUnsealedLog returns the changes since its last call, for the Idea that is about to be sealed.
func (l *Loop) TakeUnsealedLog() []turn.LogEntry {
	l.HasUnsealedChanges = false
	return takeAndClear(&l.UnsealedLog)
}

// TakeAnsweringLLMs returns the LLMs that answered since its last call, for the Idea that is about to be sealed. If
// none answered, it returns the same LLMs as before.
func (l *Loop) TakeAnsweringLLMs() []turn.LLMUsage {
	l.AreAnsweringLLMsSealed = true
	return l.AnsweringLLMs
}

// TakeEndedInstances returns the instances that settled or failed since its last call. It includes failing instances
// that must undo what they did first: these are still at work.
func (l *Loop) TakeEndedInstances() []*InstanceProgress {
	return takeAndClear(&l.newlyEndedInstances)
}

// endInstance ends an instance. A failing instance that must undo what it did does so first.
func (l *Loop) endInstance(inst *InstanceProgress, s ideafile.InstanceStatus, f *diag.Fault) {
	if s.HasFailed() && l.Idea.Config.UndoOnFailure && inst.UndoCause == nil && f.Code != turn.CodeInstanceGone &&
		inst.mayNeedUndo() {
		inst.UndoCause, inst.StepOutcomes = f, l.stepOutcomes(inst) // the outcomes before the undo
		l.newlyEndedInstances = append(l.newlyEndedInstances, inst)
		return
	}
	if inst.Status, inst.Fault = s, f; inst.UndoCause == nil {
		inst.StepOutcomes = l.stepOutcomes(inst)
	}
	l.recordInstanceEnd(inst)
}

// recordInstanceEnd notes that an instance has ended. If all instances settle together (SettleInstancesTogether), it
// has settled only for now.
func (l *Loop) recordInstanceEnd(inst *InstanceProgress) {
	inst.IsSettledForNow = l.Idea.Config.SettleInstancesTogether && inst.Status == ideafile.InstanceSettled
	if inst.IsSettledForNow {
		return
	}
	l.newlyEndedInstances = append(l.newlyEndedInstances, inst)
}

// Pause makes the process start nothing new until Resume; what runs may end.
func (l *Loop) Pause(pausedBy, reason string) {
	l.PauseReason = turn.PersonPauseFault(pausedBy, reason)
}

// PauseWithFault pauses the process for a reason of its own, unless it is paused already or f is nil.
func (l *Loop) PauseWithFault(f *diag.Fault) {
	if f == nil || l.PauseReason != nil {
		return
	}
	l.PauseReason = f
	l.AutomaticPauseCount++
}

// Resume lets a paused process go on with new limits; a limit of 0 keeps the old one.
func (l *Loop) Resume(limits ideafile.Limits) {
	l.PauseReason, l.BadRepliesInRow, l.BadOutputsInRow, l.WorkerLossesInRow = nil, 0, 0, 0
	// the cause of failures may have been mended
	l.StallDetector = StallDetector{LastProgress: l.StallDetector.LastProgress}
	l.setLimits(limits)
	for _, inst := range l.Instances {
		inst.IsHeldByPause = false
	}
}

func (l *Loop) setLimits(limits ideafile.Limits) { l.Limits = l.Limits.OverriddenBy(limits) }

// MarkAllHeldByPause marks every instance as held, because a paused process starts its instances held.
func (l *Loop) MarkAllHeldByPause() {
	for _, inst := range l.Instances {
		inst.IsHeldByPause = true
	}
}
