package client

import (
	"context"
	"time"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

// Chain is the Ideas of one process: immutable, numbered from 1, each naming the digest of the one before.
type Chain struct {
	chains  *chain.Store
	process string
}

// Length is the number of the latest Idea; 0 where the store has none.
func (c *Chain) Length(ctx context.Context) (int, error) { return c.chains.Latest(ctx, c.process) }

// length is Length, but fails if there is no chain; act names the operation in the error.
func (c *Chain) length(ctx context.Context, act string) (int, error) {
	last, err := c.Length(ctx)
	if err == nil && last == 0 {
		err = kind.Errorf(ErrNotFound, "%s %s: the store has no Idea of a process with this id", act, c.process)
	}
	return last, err
}

// checkNotForgotten returns an error that wraps ErrForgotten if the contents of the process were removed; last is the
// number of its latest Idea.
func (c *Chain) checkNotForgotten(ctx context.Context, last int) error {
	link, err := c.chains.LinkAt(ctx, c.process, last)
	if err != nil || link.Forgotten == nil {
		return err
	}
	return &chain.ForgottenError{Process: c.process, Forgotten: *link.Forgotten}
}

// checkIdeaNumber checks the number of an Idea to be read; 0 is the latest. In a forgotten process only the last Idea
// can be read, and only by its number: it says that the process was forgotten.
func (c *Chain) checkIdeaNumber(ctx context.Context, act string, at int) (int, error) {
	number, last, err := c.find(ctx, act, at)
	if err == nil && (at == 0 || at < last) {
		err = c.checkNotForgotten(ctx, last)
	}
	return number, err
}

// find checks the number of a requested Idea.
func (c *Chain) find(ctx context.Context, act string, at int) (number, last int, err error) {
	last, err = c.length(ctx, act)
	switch {
	case err != nil:
		return 0, last, err
	case at > last:
		return 0, last, kind.Errorf(ErrNotFound, "%s Idea %d of %s: there are %d", act, at, c.process, last)
	case at < 0:
		return 0, last, kind.Errorf(ErrInvalid, "%s Idea %d of %s: Ideas are numbered from 1", act, at, c.process)
	case at == 0:
		return last, last, nil
	}
	return at, last, nil
}

// Ideas lists the Ideas in order: when each was sealed, by which Request, and how much it holds. The error wraps
// ErrNotFound if there are none.
func (c *Chain) Ideas(ctx context.Context) ([]chain.Link, error) {
	if _, err := c.length(ctx, "list Ideas of"); err != nil {
		return nil, err
	}
	return c.chains.List(ctx, c.process)
}

// Link describes an Idea by its number (0: the latest): when it was sealed, and how much it holds. The error wraps
// ErrNotFound if there is none.
func (c *Chain) Link(ctx context.Context, at int) (chain.Link, error) {
	at, _, err := c.find(ctx, "look at", at)
	if err != nil {
		return chain.Link{}, err
	}
	return c.chains.LinkAt(ctx, c.process, at)
}

// load reads an Idea after it has checked the number.
func (c *Chain) load(ctx context.Context, act string, at int) (jsonval.Object, error) {
	at, err := c.checkIdeaNumber(ctx, act, at)
	if err != nil {
		return nil, err
	}
	return c.chains.Load(ctx, c.process, at)
}

// Load returns a whole Idea (0: the latest) as a JSON value from which a process can start. The error wraps ErrNotFound
// if there is no Idea of the number. It names a missing or broken part of the Idea.
func (c *Chain) Load(ctx context.Context, at int) (map[string]any, error) {
	return c.load(ctx, "show", at)
}

// Fork returns an Idea, by its number from 1, as the first Idea of another process: its meta names where it comes from.
// Start accepts it as it is, or changed by ideafiles.Changes, with StartOptions.ForkOf.
func (c *Chain) Fork(ctx context.Context, at int) (map[string]any, error) {
	return c.fork(ctx, at, time.Time{})
}

func (c *Chain) fork(ctx context.Context, at int, moment time.Time) (jsonval.Object, error) {
	if at < 1 {
		return nil, kind.Errorf(ErrInvalid, "fork Idea %d of %s: Ideas are numbered from 1", at, c.process)
	}
	// A forgotten process cannot be forked, not even at its last Idea.
	if _, err := c.checkIdeaNumber(ctx, "fork", 0); err != nil {
		return nil, err
	}
	idea, err := c.load(ctx, "fork", at)
	forgotten := map[string]chain.Forgotten{}
	if err == nil {
		forgotten, err = c.chains.ForgottenInstances(ctx, c.process)
	}
	if err == nil {
		idea = chain.Fork(idea)
		chain.MarkForgotten(idea, forgotten)
		idea, err = c.withDelegates(ctx, idea, at, moment)
	}
	if err == nil {
		err = c.addUndoneCallErrors(ctx, idea, at)
	}
	if err != nil {
		return nil, err
	}
	return c.withEarlierDeciders(ctx, idea, at)
}

// withEarlierDeciders records in a fork who decided on the Calls that its policies name, since the same people may not
// decide on certain others.
func (c *Chain) withEarlierDeciders(ctx context.Context, fork jsonval.Object, at int) (jsonval.Object, error) {
	read, _ := ideafile.ReadIdeaWithCheckedTools(fork)
	if read == nil || !read.HasDeciderExclusions() {
		return fork, nil
	}
	made, err := c.decisions(ctx, 1, at)
	if err != nil {
		return nil, err
	}
	var earlier []policy.PriorDecision
	for _, d := range made {
		if d.CallID != "" && d.DecidedBy != "" && !approval.IsRemark(d.Kind) {
			e := policy.PriorDecision{CallID: d.CallID, Tool: d.Tool, By: d.DecidedBy, Account: d.Account}
			if d.OrderID == "" { // otherwise the proof is of a standing order, and names no Call
				e.Proof = d.Proof
			}
			earlier = append(earlier, e)
			if d.OnBehalfOf != nil {
				e.By, e.Account, e.Proof = d.OnBehalfOf.Name, d.OnBehalfOf.Account, ""
				earlier = append(earlier, e)
			}
		}
	}
	return policy.WithPriorDecisions(fork, earlier), nil
}

// PlanDrawing holds the Calls of a Plan, and in how many instances each has which status, as far as the latest Idea
// knows. plangraph.RenderSVG draws it.
type PlanDrawing struct {
	Calls    []any
	Statuses []map[ideafile.CallStatus]int // beside the Calls; nil: unknown
}

// PlanWithStatus returns the Calls of the latest solution that has any, or else of the Plan messages in the latest
// Idea. Their statuses are those of the latest Idea, with the Calls that other processes have undone.
func (c *Chain) PlanWithStatus(ctx context.Context) (*PlanDrawing, error) {
	last, err := c.checkIdeaNumber(ctx, "draw", 0)
	if err != nil {
		return nil, err
	}
	undone := map[string]bool{}
	list, err := c.UndoneCalls(ctx)
	for _, one := range list {
		undone[one.CallID] = true
	}
	var latest jsonval.Object
	for at := last; at > 0 && err == nil; at-- {
		var idea jsonval.Object
		if idea, err = c.chains.Load(ctx, c.process, at); err != nil {
			break
		}
		if at == last {
			latest = idea
		}
		if calls := SolutionOf(idea); len(calls) > 0 {
			return &PlanDrawing{calls, plangraph.Statuses(calls, latest, idea, undone)}, nil
		}
	}
	calls := PlanMessagesOf(latest)
	return &PlanDrawing{calls, plangraph.Statuses(calls, latest, nil, undone)}, err
}

// PlanMessagesOf returns the Calls of an Idea's Plan messages, with what their Tools fix.
func PlanMessagesOf(idea map[string]any) (calls []any) {
	read, _ := ideafile.ReadIdeaWithCheckedTools(idea)
	if read == nil {
		return nil
	}
	for _, message := range read.Context {
		calls = append(calls, ideafile.RawWrittenCalls(jsonval.Map(message.PlanCalls, read.WithFixed))...)
	}
	return calls
}

// SolutionOf returns the Calls of an Idea's solution, with what their Tools fix.
func SolutionOf(idea map[string]any) []any {
	calls := jsonval.AsList(jsonval.At(idea, "solution", "calls"))
	if len(calls) == 0 {
		return nil
	}
	read, _ := ideafile.ReadIdeaWithCheckedTools(idea)
	return ideafile.RawWrittenCalls(jsonval.Map(ideafile.ParseWrittenCalls(calls), read.WithFixed))
}
