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
func (c *Client) StartFork(ctx context.Context, of string, at int, changes ideafiles.Changes,
	o StartOptions) (*Process, error) {
	idea, err := c.Chain(of).Fork(ctx, at)
	if err == nil {
		o.Idea, err = changes.Apply(idea)
	}
	if err != nil {
		return nil, err
	}
	o.ForkOf = of
	return c.Start(ctx, o)
}

// ForkEffects describes a fork: what it repeats, what it resumes, and what it leaves as it is.
type ForkEffects struct {
	AskedAgain int // Calls that a person is asked about again
	Resumed    int // Calls that had not ended at that moment; if they have had their effect since, it happens twice
	Ended      int // instances that stay settled or failed
	// Undone has a text for each Call of the Idea that was done, and has been undone since.
	Undone []string
	// Forgotten are instances of which the fork has only the tokens.
	Forgotten []string
	// DelegatesResumed are Calls whose delegates were running at that moment: the fork's delegates go on from what
	// those had done by then. DelegatesBegunAnew are those whose delegates had done nothing yet.
	DelegatesResumed, DelegatesBegunAnew []string
}

// EffectsOf returns the effects of a fork: an Idea from Chain.Fork, changed or not.
func EffectsOf(idea *ideafile.Idea) ForkEffects {
	var e ForkEffects
	resumed := loop.New(idea, "", nil, time.Time{})
	for _, t := range resumed.TakeResumedCalls() {
		for _, c := range t.Calls {
			if c.ReviewReason != "" {
				e.AskedAgain++
			} else {
				e.Resumed++
			}
		}
	}
	asked, resumedCalls := resumed.CountResumedDirectPlanCalls()
	e.AskedAgain, e.Resumed = e.AskedAgain+asked, e.Resumed+resumedCalls
	for _, inst := range resumed.TakeEndedInstances() {
		if inst.Status == ideafile.InstanceForgotten {
			e.Forgotten = append(e.Forgotten, inst.Token)
		} else {
			e.Ended++
		}
	}
	for _, m := range idea.Context {
		if t, is := turn.ReadContextError(m); is && t.Fault.Code == turn.CodeWithdrawn {
			e.Undone = append(e.Undone, t.Fault.Message)
		}
	}
	for _, call := range delegatesUnderWay(idea) {
		if delegate.IsResumed(idea.Source, call) {
			e.DelegatesResumed = append(e.DelegatesResumed, call)
		} else {
			e.DelegatesBegunAnew = append(e.DelegatesBegunAnew, call)
		}
	}
	return e
}

// withDelegates adds to a fork what the running delegates had done by a moment: their Calls go on from there. A zero
// moment stands for the time of the Idea.
func (c *Chain) withDelegates(ctx context.Context, fork jsonval.Object, at int,
	moment time.Time) (jsonval.Object, error) {
	read, _ := ideafile.ReadIdeaWithCheckedTools(fork)
	if read == nil {
		return fork, nil
	}
	calls := delegatesUnderWay(read)
	if len(calls) == 0 {
		return fork, nil
	}
	link, err := c.chains.LinkAt(ctx, c.process, at)
	if err != nil {
		return nil, err
	}
	if moment.IsZero() {
		moment = link.Created
	}
	for _, call := range calls {
		for _, process := range append([]string{c.process}, link.Parts...) {
			left, err := (&Chain{c.chains, protocol.DelegateID(process, call)}).forkBy(ctx, moment)
			if err != nil {
				return nil, err
			}
			if left != nil {
				fork = delegate.WithResumed(fork, call, left)
			}
		}
	}
	return fork, nil
}

// addUndoneCallErrors adds an error to a fork for each Call that was done by its Idea and has been undone since: the
// Call's values are still in State.
func (c *Chain) addUndoneCallErrors(ctx context.Context, fork jsonval.Object, at int) error {
	undone, err := c.undoneHereOrBefore(ctx)
	if err != nil || len(undone) == 0 {
		return err
	}
	ends, err := c.endsByIdea(ctx)
	if err != nil {
		return err
	}
	read, _ := ideafile.ReadIdeaWithCheckedTools(fork)
	eachRecorded(read, func(p turn.RecordedCall, token string) {
		if id := p.CallKey().ID(token); p.StatusByInstance[token] == ideafile.Undone {
			delete(undone, id) // the Call's values are no longer in State
		}
	})
	reported := map[UndoneCall][]string{} // the Call without its instance, to its instances
	for id, one := range undone {
		if reported := ends[ideafile.Done][id]; reported == 0 || reported > at {
			continue
		}
		key, _ := ideafile.ParseCallKey(id)
		one.CallID = key.ID("")
		reported[one] = append(reported[one], ideafile.InstanceTokenOfCallID(id))
	}
	for _, one := range slices.SortedFunc(maps.Keys(reported), UndoneCall.compare) {
		e := turn.ContextError{CallID: one.CallID, Fault: *diag.Faultf(turn.CodeWithdrawn,
			"what call %s did does not stand: it was taken back by %s, for %s: %s", one.CallID, one.As, one.By,
			one.Reason)}
		if slices.Sort(reported[one]); reported[one][0] != "" {
			e.Instances = reported[one]
		}
		fork["context"] = append(jsonval.AsList(fork["context"]), e.ContextMessage())
	}
	return nil
}

// forkBy is Fork at the first Idea of a chain with all that had been done at a moment; nil if nothing had been done.
func (c *Chain) forkBy(ctx context.Context, moment time.Time) (jsonval.Object, error) {
	last, err := c.Length(ctx)
	if err != nil || last == 0 {
		return nil, err
	}
	links, err := c.chains.List(ctx, c.process)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, link := range links {
		if !link.Created.After(moment) {
			at = link.At
			continue
		}
		done, err := c.chains.LogAt(ctx, c.process, link.At)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(done,
			func(e turn.LogEntry) bool { return !e.WrittenAt.IsZero() && !e.WrittenAt.After(moment) }) {
			at = link.At
		}
	}
	if at < last { // its own running delegates may be in the next Idea only
		next, err := c.fork(ctx, at+1, moment)
		if err != nil || delegate.CarriesResumed(next) {
			return next, err
		}
	}
	if at == 0 {
		return nil, nil
	}
	return c.fork(ctx, at, moment)
}

// delegatesUnderWay lists the ids of the Calls of an Idea whose delegates were running.
func delegatesUnderWay(idea *ideafile.Idea) (ids []string) {
	eachRecorded(idea, func(p turn.RecordedCall, token string) {
		t := idea.Tool(p.WrittenCall.Tool)
		if t != nil && t.DelegateFile != "" && p.StatusByInstance[token] == ideafile.Running {
			ids = append(ids, p.CallKey().ID(token))
		}
	})
	return ids
}

// eachRecorded visits the Calls in the records of an Idea, in each of their instances.
func eachRecorded(idea *ideafile.Idea, visit func(p turn.RecordedCall, token string)) {
	tokens := idea.InstanceTokens()
	for _, msg := range idea.Context {
		for _, p := range turn.ReadRecord(msg, tokens) {
			for _, token := range jsonval.SortedKeys(p.StatusByInstance) {
				visit(p, token)
			}
		}
	}
}
