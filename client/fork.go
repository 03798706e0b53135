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
func (c *Client) StartFork(ctx context.Context, sourceID string, number int, changes ideafiles.Changes,
	o StartOptions) (*Process, error) {
	idea, err := c.Chain(sourceID).Fork(ctx, number)
	if err == nil {
		o.Idea, err = changes.Apply(idea)
	}
	if err != nil {
		return nil, err
	}
	o.ForkOf = sourceID
	return c.Start(ctx, o)
}

// ForkEffects describes a fork: what it repeats, what it resumes, and what it leaves as it is.
type ForkEffects struct {
	CallsToReviewCount int // Calls that a person is asked about again
	ResumedCallCount   int // Calls that had not ended at that moment; if they have had their effect since, it happens twice
	EndedInstanceCount int // instances that stay settled or failed
	// UndoneCallTexts has a text for each Call of the Idea that was done, and has been undone since.
	UndoneCallTexts []string
	// ForgottenInstances are instances of which the fork has only the tokens.
	ForgottenInstances []string
	// ResumedDelegates are Calls whose delegates were running at that moment: the fork's delegates go on from what
	// those had done by then. RestartedDelegates are those whose delegates had done nothing yet.
	ResumedDelegates, RestartedDelegates []string
}

// ForkEffectsOf returns the effects of a fork: an Idea from Chain.Fork, changed or not.
func ForkEffectsOf(idea *ideafile.Idea) ForkEffects {
	var e ForkEffects
	resumedLoop := loop.New(idea, "", nil, time.Time{})
	for _, t := range resumedLoop.TakeResumedCalls() {
		for _, c := range t.Calls {
			if c.ReviewReason != "" {
				e.CallsToReviewCount++
			} else {
				e.ResumedCallCount++
			}
		}
	}
	callsToReview, resumedCalls := resumedLoop.CountResumedDirectPlanCalls()
	e.CallsToReviewCount, e.ResumedCallCount = e.CallsToReviewCount+callsToReview, e.ResumedCallCount+resumedCalls
	for _, inst := range resumedLoop.TakeEndedInstances() {
		if inst.Status == ideafile.InstanceForgotten {
			e.ForgottenInstances = append(e.ForgottenInstances, inst.Token)
		} else {
			e.EndedInstanceCount++
		}
	}
	for _, m := range idea.Context {
		if t, isError := turn.ReadContextError(m); isError && t.Fault.Code == turn.CodeCallsUndone {
			e.UndoneCallTexts = append(e.UndoneCallTexts, t.Fault.Message)
		}
	}
	for _, call := range runningDelegateCalls(idea) {
		if delegate.HasResumedIdea(idea.Source, call) {
			e.ResumedDelegates = append(e.ResumedDelegates, call)
		} else {
			e.RestartedDelegates = append(e.RestartedDelegates, call)
		}
	}
	return e
}

// withDelegates adds to a fork what the running delegates had done by a moment: their Calls go on from there. A zero
// moment stands for the time of the Idea.
func (c *Chain) withDelegates(ctx context.Context, fork jsonval.Object, number int,
	moment time.Time) (jsonval.Object, error) {
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(fork)
	if idea == nil {
		return fork, nil
	}
	calls := runningDelegateCalls(idea)
	if len(calls) == 0 {
		return fork, nil
	}
	link, err := c.chainStore.LinkAt(ctx, c.process, number)
	if err != nil {
		return nil, err
	}
	if moment.IsZero() {
		moment = link.Created
	}
	for _, call := range calls {
		for _, process := range append([]string{c.process}, link.Parts...) {
			resumed, err := (&Chain{c.chainStore, protocol.DelegateID(process, call)}).forkAsOf(ctx, moment)
			if err != nil {
				return nil, err
			}
			if resumed != nil {
				fork = delegate.WithResumedIdea(fork, call, resumed)
			}
		}
	}
	return fork, nil
}

// addUndoneCallErrors adds an error to a fork for each Call that was done by its Idea and has been undone since: the
// Call's values are still in State.
func (c *Chain) addUndoneCallErrors(ctx context.Context, fork jsonval.Object, number int) error {
	undoneByID, err := c.undoneWithOrigin(ctx)
	if err != nil || len(undoneByID) == 0 {
		return err
	}
	endIdeas, err := c.firstEndIdeaByCall(ctx)
	if err != nil {
		return err
	}
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(fork)
	forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
		if id := p.CallKey().ID(token); p.StatusByInstance[token] == ideafile.Undone {
			delete(undoneByID, id) // the Call's values are no longer in State
		}
	})
	reported := map[UndoneCall][]string{} // the Call without its instance, to its instances
	for id, undoneCall := range undoneByID {
		if reported := endIdeas[ideafile.Done][id]; reported == 0 || reported > number {
			continue
		}
		key, _ := ideafile.ParseCallKey(id)
		undoneCall.CallID = key.ID("")
		reported[undoneCall] = append(reported[undoneCall], ideafile.InstanceTokenOfCallID(id))
	}
	for _, undoneCall := range slices.SortedFunc(maps.Keys(reported), UndoneCall.compare) {
		e := turn.ContextError{CallID: undoneCall.CallID, Fault: *diag.Faultf(turn.CodeCallsUndone,
			"what call %s did does not stand: it was taken back by %s, for %s: %s", undoneCall.CallID, undoneCall.UndoID, undoneCall.By,
			undoneCall.Reason)}
		if slices.Sort(reported[undoneCall]); reported[undoneCall][0] != "" {
			e.Instances = reported[undoneCall]
		}
		fork["context"] = append(jsonval.AsList(fork["context"]), e.ContextMessage())
	}
	return nil
}

// forkAsOf is Fork at the first Idea of a chain with all that had been done at a moment; nil if nothing had been done.
func (c *Chain) forkAsOf(ctx context.Context, moment time.Time) (jsonval.Object, error) {
	last, err := c.Length(ctx)
	if err != nil || last == 0 {
		return nil, err
	}
	links, err := c.chainStore.List(ctx, c.process)
	if err != nil {
		return nil, err
	}
	number := 0
	for _, link := range links {
		if !link.Created.After(moment) {
			number = link.IdeaNumber
			continue
		}
		log, err := c.chainStore.LogAt(ctx, c.process, link.IdeaNumber)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(log,
			func(e turn.LogEntry) bool { return !e.WrittenAt.IsZero() && !e.WrittenAt.After(moment) }) {
			number = link.IdeaNumber
		}
	}
	if number < last { // its own running delegates may be in the next Idea only
		next, err := c.fork(ctx, number+1, moment)
		if err != nil || delegate.HasResumedIdeas(next) {
			return next, err
		}
	}
	if number == 0 {
		return nil, nil
	}
	return c.fork(ctx, number, moment)
}

// runningDelegateCalls lists the ids of the Calls of an Idea whose delegates were running.
func runningDelegateCalls(idea *ideafile.Idea) (ids []string) {
	forEachRecordedCall(idea, func(call turn.RecordedCall, token string) {
		t := idea.Tool(call.WrittenCall.Tool)
		if t != nil && t.DelegateFile != "" && call.StatusByInstance[token] == ideafile.Running {
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
