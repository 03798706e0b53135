package dataflow

import (
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Instance is the dataflow of one instance: its State, its Calls and what may happen next. It does no work by itself: its
// workflow reports events to it (AcceptCall, Succeed, Fail, Decide, …) and runs what Advance returns.
type Instance struct {
	token            string
	palette          ideafile.Palette
	context          []ideafile.Message
	baseMessages     int // Messages of context that it was started with
	view             ideafile.View
	stateSchema      any // nil: the context has none
	state            *statelog.State
	records          []*Record    // in Plan order
	writersByKey     *writerIndex // set only during Advance
	openRequests     map[int]bool
	closedThrough    int              // the highest closed Request: so are all before it
	unreportedWrites []statelog.Write // that TakeNewWrites has not returned yet
	now              time.Time
	overdueFault     *diag.Fault
	// correctionCount counts the values of State that people set.
	correctionCount int
	planStarted     bool // StartDirectPlan was called
}

// New starts an instance with a palette, whose own tokens are ignored, and the context that it may see.
func New(palette ideafile.Palette, context []ideafile.Message, token string) *Instance {
	palette.InstanceTokens = []string{token}
	i := &Instance{token: token, palette: palette, context: context, baseMessages: len(context), openRequests: map[int]bool{}}
	i.deriveContextView()
	i.state = statelog.New(i.view.Payload[ideafile.TypeState])
	return i
}

// deriveContextView derives from the context what the instance sees.
func (i *Instance) deriveContextView() {
	i.view = ideafile.ViewOf(i.context, i.token)
	i.stateSchema = i.view.Schema[ideafile.TypeState]
}

// State returns the current State.
func (i *Instance) State() any { return i.state.Value() }

// Writes lists every write since the start, in Plan order.
func (i *Instance) Writes() []statelog.Write { return i.state.Writes() }

// TakeNewWrites returns the writes since its last call, in the order in which they were applied.
func (i *Instance) TakeNewWrites() []statelog.Write {
	fresh := i.unreportedWrites
	i.unreportedWrites = nil
	return fresh
}

// Records lists the instance's Calls in Plan order.
func (i *Instance) Records() []*Record { return i.records }

// FindCall returns the Call with an id, or nil.
func (i *Instance) FindCall(id string) *Record {
	for _, rec := range i.records {
		if rec.ID == id {
			return rec
		}
	}
	return nil
}

// HasOpenRequest reports whether a Request may still send Calls to the instance.
func (i *Instance) HasOpenRequest() bool { return len(i.openRequests) > 0 }

// Idle reports whether nothing of the instance runs: what is unfinished waits for the LLM or for people.
func (i *Instance) Idle() bool {
	for _, rec := range i.records {
		if rec.phase == running {
			return false
		}
	}
	return !i.HasOpenRequest()
}

// AwaitingLLM lists the Calls whose result the LLM is to write, or whose parameters it is to adapt.
func (i *Instance) AwaitingLLM() []*Record {
	var out []*Record
	for _, rec := range i.records {
		if rec.awaitingLLM() {
			out = append(out, rec)
		}
	}
	return out
}

// MissingRequired lists the paths that the State schema requires and State does not have.
func (i *Instance) MissingRequired() []string {
	return statelog.MissingRequired(i.stateSchema, i.state.Current)
}

// Revise applies a person's correction: messages that change what the instance sees, and values of State, which close their
// paths. A value stands in the Plan where the write stands that it corrects, so that the same readers see it.
func (i *Instance) Revise(messages []ideafile.Message, by, reason string) {
	i.context = append(i.context[:len(i.context):len(i.context)], messages...)
	i.deriveContextView()
	for _, m := range messages {
		if m.Kind != ideafile.TypeState || m.Payload == nil {
			continue
		}
		for _, w := range statelog.SplitPatch(m.Payload, nil) {
			i.correctionCount++
			w.By, w.Reason, w.At, w.Correction = turn.PersonAuthor(by), reason, i.now, i.correctionCount
			for _, corrected := range i.state.Writes() {
				if corrected.Path.Overlaps(w.Path) {
					w.Request, w.Index = corrected.Request, corrected.Index
				}
			}
			i.applyWrite(w)
		}
	}
}
