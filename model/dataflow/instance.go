package dataflow

import (
	"slices"

	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Instance is the dataflow of one instance: its State, its Calls and what may happen next. It does no work by itself:
// its workflow reports events to it (AcceptCall, SucceedCall, ApplyDecision, …) and runs what Advance returns.
type Instance struct {
	token               string
	palette             ideafile.Palette
	contextMessages     []ideafile.Message
	initialMessageCount int // how many of contextMessages it was started with
	contextView         ideafile.InstanceView
	stateSchema         any // nil: the context has no schema
	state               *statelog.State
	callRecords         []*CallRecord                   // in Plan order
	writerIndex         *jsonval.PathIndex[*CallRecord] // set only during Advance
	isRequestOpen       map[int]bool
	carriedInstanceFields
	// starters started the process; priorDecisions were taken in the processes that it was forked from. See
	// SetStartersAndPriorDecisions.
	starters       []policy.Identity
	causers        []policy.Identity // see SetCausers
	priorDecisions []policy.PriorDecision
}

// AddTools adds Tools to the palette that the instance was started without and that a Call is about to use.
func (i *Instance) AddTools(tools []*ideafile.Tool) {
	i.palette.Tools = append(slices.Clip(i.palette.Tools), tools...)
}

// New starts an instance with a palette, whose own tokens are ignored, and the context that it may see.
func New(palette ideafile.Palette, context []ideafile.Message, token string) *Instance {
	palette.InstanceTokens = []string{token}
	i := &Instance{token: token, palette: palette, contextMessages: context, initialMessageCount: len(context),
		isRequestOpen: map[int]bool{}}
	i.refreshContextView()
	i.state = statelog.NewState(i.contextView.PayloadByKind[ideafile.TypeState])
	return i
}

// refreshContextView derives from the context what the instance sees.
func (i *Instance) refreshContextView() {
	i.contextView = ideafile.InstanceViewOf(i.contextMessages, i.token)
	i.stateSchema = i.contextView.SchemaByKind[ideafile.TypeState]
}

// State returns the current State.
func (i *Instance) State() any { return i.state.Snapshot() }

// InstanceInput returns the instance's own input, nil if it has none.
func (i *Instance) InstanceInput() any { return ideafile.OwnInstanceInput(i.contextMessages, i.token) }

// StateWrites lists every write since the start, in Plan order.
func (i *Instance) StateWrites() []statelog.Write { return i.state.Writes() }

// IsCorrected reports whether people have set values of State.
func (i *Instance) IsCorrected() bool { return i.CorrectedValueCount > 0 }

// TakeUnreportedWrites returns the writes since its last call, in the order in which they were applied.
func (i *Instance) TakeUnreportedWrites() []statelog.Write {
	newWrites := i.UnreportedWrites
	i.UnreportedWrites = nil
	return newWrites
}

// CallRecords lists the instance's Calls in Plan order.
func (i *Instance) CallRecords() []*CallRecord { return i.callRecords }

// FindCall returns the Call with an id, or nil.
func (i *Instance) FindCall(id string) *CallRecord {
	for _, rec := range i.callRecords {
		if rec.ID == id {
			return rec
		}
	}
	return nil
}

// HasOpenRequest reports whether a Request may still send Calls to the instance.
func (i *Instance) HasOpenRequest() bool { return len(i.isRequestOpen) > 0 }

// IsIdle reports whether no Call of the instance runs: unfinished Calls wait for the LLM or for people.
func (i *Instance) IsIdle() bool {
	for _, rec := range i.callRecords {
		if rec.phase == phaseRunning || rec.phase == phaseUpdatingBlobs {
			return false
		}
	}
	return !i.HasOpenRequest()
}

// CallsAwaitingLLM lists the Calls whose result the LLM is to write, or whose parameters it is to adapt.
func (i *Instance) CallsAwaitingLLM() []*CallRecord {
	return jsonval.Filter(i.callRecords, (*CallRecord).isAwaitingLLM)
}

// HasGoal reports whether the State schema requires values that the instance did not start with. Its goal is reached
// when all of them are there.
func (i *Instance) HasGoal() bool {
	return len(statelog.MissingRequiredPaths(i.stateSchema, i.state.InitialValue)) > 0
}

// MissingRequiredPaths lists the paths that the State schema requires and State does not have.
func (i *Instance) MissingRequiredPaths() []string {
	return statelog.MissingRequiredPaths(i.stateSchema, i.state.CurrentValue)
}

// ApplyRevision applies a person's correction: messages that change what the instance sees, and values of State, which
// close their paths. A value takes the Plan position of the write that it corrects, so that the same readers see it.
func (i *Instance) ApplyRevision(messages []ideafile.Message, revisedBy, reason string) {
	i.contextMessages = append(slices.Clip(i.contextMessages), messages...)
	i.refreshContextView()
	for _, m := range messages {
		if m.PayloadKind != ideafile.TypeState || m.Payload == nil {
			continue
		}
		for _, w := range statelog.SplitPatch(m.Payload, nil) {
			i.CorrectedValueCount++
			w.Author, w.Reason, w.WrittenAt, w.CorrectionNumber = turn.AuthorOfPerson(revisedBy), reason, i.CurrentTime,
				i.CorrectedValueCount
			for _, earlierWrite := range i.state.Writes() {
				if earlierWrite.Path.Overlaps(w.Path) {
					w.Request, w.Index = earlierWrite.Request, earlierWrite.Index
				}
			}
			i.applyWrite(w)
		}
	}
	if slices.ContainsFunc(messages, ideafile.Message.IsDirectPlan) {
		i.replaceDirectPlan(revisedBy)
	}
}
