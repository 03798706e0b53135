package loop

import (
	"maps"
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/quality"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// CarriedLoop is a Loop as data, without what it was started with. Its workflow carries it over continue-as-new.
type CarriedLoop struct {
	// AddedMessages holds the Messages with which people corrected the process, and those of added instances.
	AddedMessages []any             `json:"context,omitempty"`
	Instances     []CarriedInstance `json:"members"`
	carriedLoopFields
	WiredRequest *CarriedWiredRequest `json:"wiring,omitempty"`
	// HeldPlan is the Plan of a Request that waits for a person.
	HeldPlan *CarriedHeldPlan `json:"heldPlan,omitempty"`
}

// carriedLoopFields holds the fields of a Loop that continue-as-new carries unchanged. A field added here is carried.
type carriedLoopFields struct {
	StartedAt time.Time `json:"started"`
	// PriorRequestCount counts the Requests of the earlier process from whose Idea this one starts.
	PriorRequestCount int `json:"before,omitempty"`
	// RequestCount counts the Requests that got a reply, failed ones included. TurnCount counts the attempts to ask the
	// LLM, except those of Requests that were lost with their worker without a Call accepted.
	RequestCount      int             `json:"requests"`
	TurnCount         int             `json:"turns"`
	BadRepliesInRow   int             `json:"badReplies,omitempty"`
	BadOutputsInRow   int             `json:"badOutputs,omitempty"`
	WorkerLossesInRow int             `json:"lost,omitempty"`
	Usage             turn.TokenUsage `json:"usage"`
	// UnassignedCallCount counts the malformed Calls that name no instance. UnassignedFailures holds their faults.
	UnassignedCallCount int           `json:"unnamed,omitempty"`
	UnassignedFailures  turn.Failures `json:"unassignedFailures,omitempty"`
	// ReadySince is when an instance became ready for a Request; zero: none is ready.
	ReadySince time.Time `json:"readySince,omitzero"`
	// PlannedCalls are the Calls that a later Request may be shown, in Plan order.
	PlannedCalls  []PlannedCall  `json:"plan,omitempty"`
	PendingErrors []PendingError `json:"troubles,omitempty"`
	LastErrorID   int            `json:"notes,omitempty"`
	// UnsealedLog holds the changes since the last Idea.
	UnsealedLog []turn.LogEntry `json:"log,omitempty"`
	// HasUnsealedChanges reports whether something has happened since TakeUnsealedLog that the next Idea must record: a
	// Call advanced, a value was written, somebody decided, or an instance joined. An instance that settles by the
	// reply of a Request is no such change, since the Idea of that Request records it.
	HasUnsealedChanges bool `json:"unsealed,omitempty"`
	// AnsweringLLMs are the LLMs that answered since the last Idea or, if AreAnsweringLLMsSealed, those of the last
	// Idea.
	AnsweringLLMs          []turn.LLMUsage `json:"answers,omitempty"`
	AreAnsweringLLMsSealed bool            `json:"answersSealed,omitempty"`
	Output                 any             `json:"output,omitempty"` // nil unless HasOutput
	HasOutput              bool            `json:"hasOutput,omitempty"`
	// WrittenReferenceOutput is the output as a reply wrote it, if it consists of References alone.
	WrittenReferenceOutput any `json:"wiredOutput,omitempty"`
	// Notes are the LLM's notes to itself, which later Requests show to it.
	Notes []turn.Note `json:"llmNotes,omitempty"`
	// DraftOutput is the last output that does not count and that a later reply may correct.
	DraftOutput *turn.DraftOutput `json:"draftOutput,omitempty"`
	// HasTriedDirectPlanOutput means that resolveDirectPlanOutput has taken the outputs of direct Plans, or found them
	// unusable. It is set from the start in a part of a process whose output is final already.
	HasTriedDirectPlanOutput bool `json:"planOutput,omitempty"`
	// OutputFault is why there is no output, if the LLM may not be asked for it.
	OutputFault *diag.Fault     `json:"outputFault,omitempty"`
	PauseReason *diag.Fault     `json:"paused,omitempty"` // nil: not paused
	Limits      ideafile.Limits `json:"limits"`
	// AutomaticPauseCount counts the pauses that the process caused itself.
	AutomaticPauseCount int           `json:"ownPauses,omitempty"`
	StallDetector       StallDetector `json:"progress,omitzero"`
	// ParentQuota is the quota that was granted by the process of which this one is a part or a delegate.
	ParentQuota turn.Quota `json:"quota"`
	// RecheckTally counts the answers that the LLM was asked for twice, and how they compared.
	RecheckTally             quality.Tally `json:"rechecked,omitzero"`
	HasPausedForDisagreement bool          `json:"disagreed,omitempty"`
}

// CarriedHeldPlan is a Plan that waits for a person, with the Request that made it and the reply.
type CarriedHeldPlan struct {
	PendingPlan approval.PlanAwaitingDecision `json:"pending"`
	Input       turn.RequestInput             `json:"input"`
	Reply       turn.LLMReply                 `json:"reply"`
}

// CarriedInstance is an InstanceProgress with those of its fields that are carried in another form.
type CarriedInstance struct {
	InstanceProgress
	// InitialState is the initial State of an instance that people added. For other instances it follows from the Idea.
	InitialState         any                `json:"start,omitempty"`
	Writes               []statelog.Write   `json:"writes,omitempty"`
	Calls                []turn.CallReport  `json:"calls,omitempty"`
	CallsWithErrorsShown []ideafile.CallKey `json:"told,omitempty"`
}

// CarriedWiredRequest is the Request whose wired output waits for its Calls.
type CarriedWiredRequest struct {
	RequestNumber int  `json:"request"`
	WrittenOutput any  `json:"output"`
	SaysFinished  bool `json:"finished,omitempty"`
}

// CanCarryIntoNextRun reports whether CarryIntoNextRun loses nothing: no Request is in flight, except one whose Plan
// waits for a person, no recheck is in flight, and TakeEndedInstances and TakeInstancesToRestart have nothing to
// return.
func (l *Loop) CanCarryIntoNextRun() bool {
	return (l.requestInFlight == nil || l.PendingPlan != nil) && !l.HasRechecksInFlight() &&
		len(l.newlyEndedInstances) == 0 && len(l.instancesToRestart) == 0
}

// CarryIntoNextRun returns the Loop as data for Restore. Invariant: CanCarryIntoNextRun holds.
func (l *Loop) CarryIntoNextRun() CarriedLoop {
	c := CarriedLoop{carriedLoopFields: l.carriedLoopFields}
	for _, msg := range l.Idea.Context[l.initialMessageCount:] {
		c.AddedMessages = append(c.AddedMessages, msg.Source)
	}
	for i, inst := range l.Instances {
		carriedInstance := inst.carryIntoNextRun()
		if i >= l.initialInstanceCount {
			carriedInstance.InitialState = inst.state.InitialValue
		}
		c.Instances = append(c.Instances, carriedInstance)
	}
	if l.PendingPlan != nil && l.requestInFlight != nil {
		c.HeldPlan = &CarriedHeldPlan{*l.PendingPlan, *l.requestInFlight.RequestInput, *l.requestInFlight.Reply}
	}
	if l.wiredRequest != nil {
		c.WiredRequest = &CarriedWiredRequest{l.wiredRequest.RequestNumber, l.wiredRequest.Reply.Output,
			l.wiredRequest.Reply.SaysFinished}
	}
	return c
}

func (p *InstanceProgress) carryIntoNextRun() CarriedInstance {
	return CarriedInstance{
		InstanceProgress: *p, Writes: p.state.Writes(), Calls: p.CallReports(),
		CallsWithErrorsShown: sortedCallKeys(p.callsWithErrorsShown),
	}
}

func sortedCallKeys[V any](callByKey map[ideafile.CallKey]V) []ideafile.CallKey {
	//workflowcheck:ignore -- sorted
	return slices.SortedFunc(maps.Keys(callByKey), ideafile.CallKey.Compare)
}

// Restore rebuilds a Loop from a CarriedLoop. idea, processID and bindings must be those that it was started with.
func Restore(idea *ideafile.Idea, processID string, bindings ideafile.ToolBindings, c CarriedLoop) *Loop {
	l := New(idea, processID, bindings, c.StartedAt)
	l.carriedLoopFields, l.newlyEndedInstances, l.callsToResume = c.carriedLoopFields, nil, nil
	l.Idea = l.Idea.WithRawMessagesAdded(c.AddedMessages)
	for i, carriedInstance := range c.Instances {
		if i == len(l.Instances) {
			l.registerInstance(&InstanceProgress{state: statelog.NewState(carriedInstance.InitialState)},
				carriedInstance.Token)
		}
		l.Instances[i].restore(carriedInstance)
	}
	if h := c.HeldPlan; h != nil {
		l.PendingPlan, l.requestInFlight = &h.PendingPlan, &llmRequest{RequestInput: &h.Input, Reply: &h.Reply}
	}
	if w := c.WiredRequest; w != nil {
		l.wiredRequest = &llmRequest{RequestInput: &turn.RequestInput{RequestNumber: w.RequestNumber},
			Reply: &turn.LLMReply{Output: w.WrittenOutput, SaysFinished: w.SaysFinished}}
	}
	return l
}

func (p *InstanceProgress) restore(c CarriedInstance) {
	state := statelog.RestoreState(p.state.InitialValue, c.Writes)
	*p = c.InstanceProgress
	p.state, p.reportByCallKey, p.callsWithErrorsShown = state, map[ideafile.CallKey]turn.CallReport{},
		map[ideafile.CallKey]bool{}
	for _, call := range c.Calls {
		p.reportByCallKey[call.CallKey()] = call
	}
	for _, key := range c.CallsWithErrorsShown {
		p.callsWithErrorsShown[key] = true
	}
}
