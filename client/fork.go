package client

import (
	"context"
	"maps"
	"slices"
	"time"

	"processidea/client/ideafiles"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// StartFork starts a process from an Idea of another process, by its number from 1, with changes. It returns the errors
// of Chain.Fork, Changes.Apply and Start.
func (c *Client) StartFork(ctx context.Context, sourceID string, ideaNumber int, changes ideafiles.ForkChanges,
	o StartOptions) (*Process, error) {
	idea, err := c.Chain(sourceID).ForkedIdea(ctx, ideaNumber)
	if err == nil {
		o.Idea, err = changes.Apply(idea)
	}
	if err != nil {
		return nil, err
	}
	o.ForkSourceID = sourceID
	return c.Start(ctx, o)
}

// ForkEffects describes a fork: what it repeats, what it resumes, and what it leaves as it is.
type ForkEffects struct {
	CallsToReviewCount int // Calls that a person is asked about again
	// Calls that had not ended at that moment; if they have had their effect since, it happens twice
	ResumedCallCount   int
	EndedInstanceCount int // instances that stay settled or failed
	// UndoneCallTexts has a text for each Call of the Idea that was done, and has been undone since.
	UndoneCallTexts []string
	// ForgottenInstanceTokens are instances of which the fork has only the tokens.
	ForgottenInstanceTokens []string
	// ResumedDelegateCallIDs are Calls whose delegates were running at that moment: the fork's delegates go on from
	// what those had done by then. RestartedDelegateCallIDs are those whose delegates had done nothing yet.
	ResumedDelegateCallIDs, RestartedDelegateCallIDs []string
}

// ForkEffectsOf returns the effects of a fork: an Idea from Chain.Fork, changed or not.
func ForkEffectsOf(idea *ideafile.Idea) ForkEffects {
	var e ForkEffects
	resumedLoop := loop.New(idea, "", nil, time.Time{})
	for _, t := range resumedLoop.TakeCallsToResume() {
		for _, c := range t.Calls {
			if c.ReviewReason != "" {
				e.CallsToReviewCount++
			} else {
				e.ResumedCallCount++
			}
		}
	}
	callsToReviewCount, resumedCallCount := resumedLoop.CountDirectPlanCallsToResume()
	e.CallsToReviewCount, e.ResumedCallCount = e.CallsToReviewCount+callsToReviewCount,
		e.ResumedCallCount+resumedCallCount
	for _, inst := range resumedLoop.TakeEndedInstances() {
		if inst.Status == ideafile.InstanceForgotten {
			e.ForgottenInstanceTokens = append(e.ForgottenInstanceTokens, inst.Token)
		} else {
			e.EndedInstanceCount++
		}
	}
	for _, m := range idea.Context {
		if t, isError := turn.ReadContextError(m); isError && t.Fault.Code == turn.CodeCallsUndone {
			e.UndoneCallTexts = append(e.UndoneCallTexts, t.Fault.Message)
		}
	}
	for _, callID := range runningDelegateCallIDs(idea) {
		if delegate.HasResumedIdea(idea.Source, callID) {
			e.ResumedDelegateCallIDs = append(e.ResumedDelegateCallIDs, callID)
		} else {
			e.RestartedDelegateCallIDs = append(e.RestartedDelegateCallIDs, callID)
		}
	}
	return e
}

// withResumedDelegates adds to a fork what the running delegates had done by a moment: their Calls go on from there. A
// zero moment stands for the time of the Idea.
func (c *Chain) withResumedDelegates(ctx context.Context, fork jsonval.Object, ideaNumber int,
	delegateCutoff time.Time) (jsonval.Object, error) {
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(fork)
	if idea == nil {
		return fork, nil
	}
	callIDs := runningDelegateCallIDs(idea)
	if len(callIDs) == 0 {
		return fork, nil
	}
	link, err := c.chainStore.LinkAt(ctx, c.processID, ideaNumber)
	if err != nil {
		return nil, err
	}
	if delegateCutoff.IsZero() {
		delegateCutoff = link.Created
	}
	for _, callID := range callIDs {
		for _, callerID := range append([]string{c.processID}, link.PartProcessIDs...) {
			resumedIdea, err := (&Chain{c.chainStore, protocol.DelegateID(callerID, callID)}).forkedIdeaAsOf(ctx,
				delegateCutoff)
			if err != nil {
				return nil, err
			}
			if resumedIdea != nil {
				fork = delegate.WithResumedIdea(fork, callID, resumedIdea)
			}
		}
	}
	return fork, nil
}

// addUndoneCallErrors adds an error to a fork for each Call that was done by its Idea and has been undone since: the
// Call's values are still in State.
func (c *Chain) addUndoneCallErrors(ctx context.Context, fork jsonval.Object, ideaNumber int) error {
	undoneByID, err := c.undoneCallsWithInherited(ctx)
	if err != nil || len(undoneByID) == 0 {
		return err
	}
	endIdeaNumbers, err := c.callEndIdeaNumbers(ctx)
	if err != nil {
		return err
	}
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(fork)
	forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
		if id := p.CallKey().ID(token); p.StatusByInstance[token] == ideafile.CallUndone {
			delete(undoneByID, id) // the Call's values are no longer in State
		}
	})
	instancesByUndoneCall := map[UndoneCall][]string{} // the Call without its instance, to its instances
	for id, undoneCall := range undoneByID {
		if doneIdeaNumber := endIdeaNumbers[ideafile.CallDone][id]; doneIdeaNumber == 0 ||
			doneIdeaNumber > ideaNumber {
			continue
		}
		key, _ := ideafile.ParseCallKey(id)
		undoneCall.CallID = key.ID("")
		instancesByUndoneCall[undoneCall] = append(instancesByUndoneCall[undoneCall],
			ideafile.InstanceTokenOfCallID(id))
	}
	for _, undoneCall := range slices.SortedFunc(maps.Keys(instancesByUndoneCall), UndoneCall.compare) {
		e := turn.ContextError{CallID: undoneCall.CallID, Fault: *diag.Faultf(turn.CodeCallsUndone,
			"what call %s did does not stand: it was taken back by %s, for %s: %s", undoneCall.CallID,
			undoneCall.UndoID, undoneCall.By,
			undoneCall.Reason)}
		if slices.Sort(instancesByUndoneCall[undoneCall]); instancesByUndoneCall[undoneCall][0] != "" {
			e.InstanceTokens = instancesByUndoneCall[undoneCall]
		}
		fork["context"] = append(jsonval.AsList(fork["context"]), e.ContextMessage())
	}
	return nil
}

// forkedIdeaAsOf is Fork at the first Idea of a chain with all that had been done at a moment; nil if nothing had been
// done.
func (c *Chain) forkedIdeaAsOf(ctx context.Context, moment time.Time) (jsonval.Object, error) {
	lastIdeaNumber, err := c.Length(ctx)
	if err != nil || lastIdeaNumber == 0 {
		return nil, err
	}
	links, err := c.chainStore.List(ctx, c.processID)
	if err != nil {
		return nil, err
	}
	ideaNumber := 0
	for _, link := range links {
		if !link.Created.After(moment) {
			ideaNumber = link.IdeaNumber
			continue
		}
		log, err := c.chainStore.LogAt(ctx, c.processID, link.IdeaNumber)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(log,
			func(e turn.LogEntry) bool { return !e.WrittenAt.IsZero() && !e.WrittenAt.After(moment) }) {
			ideaNumber = link.IdeaNumber
		}
	}
	if ideaNumber < lastIdeaNumber { // its own running delegates may be in the next Idea only
		next, err := c.forkedIdea(ctx, ideaNumber+1, moment)
		if err != nil || delegate.HasResumedIdeas(next) {
			return next, err
		}
	}
	if ideaNumber == 0 {
		return nil, nil
	}
	return c.forkedIdea(ctx, ideaNumber, moment)
}

// runningDelegateCallIDs lists the ids of the Calls of an Idea whose delegates were running.
func runningDelegateCallIDs(idea *ideafile.Idea) (ids []string) {
	forEachRecordedCall(idea, func(call turn.RecordedCall, token string) {
		t := idea.Tool(call.WrittenCall.Tool)
		if t != nil && t.DelegateFile != "" && call.StatusByInstance[token] == ideafile.CallRunning {
			ids = append(ids, call.CallKey().ID(token))
		}
	})
	return ids
}

// forEachRecordedCall visits the Calls in the records of an Idea, in each of their instances.
func forEachRecordedCall(idea *ideafile.Idea, visit func(call turn.RecordedCall, token string)) {
	tokens := idea.InstanceTokens()
	for _, msg := range idea.Context {
		for _, call := range turn.ReadRecord(msg, tokens) {
			for _, token := range jsonval.SortedKeys(call.StatusByInstance) {
				visit(call, token)
			}
		}
	}
}
