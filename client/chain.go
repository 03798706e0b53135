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
	chainStore *chain.Store
	processID  string
}

// Length is the number of the latest Idea; 0 where the store has none.
func (c *Chain) Length(ctx context.Context) (int, error) {
	return c.chainStore.LatestIdeaNumber(ctx, c.processID)
}

// requireLatestIdeaNumber is Length, but fails if there is no chain; verb names the operation in the error.
func (c *Chain) requireLatestIdeaNumber(ctx context.Context, errorVerb string) (int, error) {
	lastIdeaNumber, err := c.Length(ctx)
	if err == nil && lastIdeaNumber == 0 {
		err = kind.Errorf(ErrNotFound, "%s %s: the store has no Idea of a process with this id", errorVerb, c.processID)
	}
	return lastIdeaNumber, err
}

// checkNotForgotten returns an error that wraps ErrForgotten if the contents of the process were removed;
// lastIdeaNumber is the number of its latest Idea.
func (c *Chain) checkNotForgotten(ctx context.Context, lastIdeaNumber int) error {
	link, err := c.chainStore.LinkAt(ctx, c.processID, lastIdeaNumber)
	if err != nil || link.Forgotten == nil {
		return err
	}
	return &chain.ForgottenError{ProcessID: c.processID, Record: *link.Forgotten}
}

// checkIdeaNumber checks the number of an Idea to be read; 0 is the latest. In a forgotten process only the last Idea
// can be read, and only by its number: it says that the process was forgotten.
func (c *Chain) checkIdeaNumber(ctx context.Context, errorVerb string, requestedNumber int) (int, error) {
	ideaNumber, lastIdeaNumber, err := c.resolveIdeaNumber(ctx, errorVerb, requestedNumber)
	if err == nil && (requestedNumber == 0 || requestedNumber < lastIdeaNumber) {
		err = c.checkNotForgotten(ctx, lastIdeaNumber)
	}
	return ideaNumber, err
}

// resolveIdeaNumber checks the number of a requested Idea.
func (c *Chain) resolveIdeaNumber(ctx context.Context, errorVerb string,
	requestedNumber int) (ideaNumber, lastIdeaNumber int, err error) {
	lastIdeaNumber, err = c.requireLatestIdeaNumber(ctx, errorVerb)
	switch {
	case err != nil:
		return 0, lastIdeaNumber, err
	case requestedNumber > lastIdeaNumber:
		return 0, lastIdeaNumber, kind.Errorf(ErrNotFound, "%s Idea %d of %s: there are %d", errorVerb, requestedNumber,
			c.processID, lastIdeaNumber)
	case requestedNumber < 0:
		return 0, lastIdeaNumber, kind.Errorf(ErrInvalid, "%s Idea %d of %s: Ideas are numbered from 1", errorVerb,
			requestedNumber, c.processID)
	case requestedNumber == 0:
		return lastIdeaNumber, lastIdeaNumber, nil
	}
	return requestedNumber, lastIdeaNumber, nil
}

// Ideas lists the Ideas in order: when each was sealed, by which Request, and how much it holds. The error wraps
// ErrNotFound if there are none.
func (c *Chain) Ideas(ctx context.Context) ([]chain.Link, error) {
	if _, err := c.requireLatestIdeaNumber(ctx, "list Ideas of"); err != nil {
		return nil, err
	}
	return c.chainStore.List(ctx, c.processID)
}

// Link describes an Idea by its number (0: the latest): when it was sealed, and how much it holds. The error wraps
// ErrNotFound if there is none.
func (c *Chain) Link(ctx context.Context, ideaNumber int) (chain.Link, error) {
	ideaNumber, _, err := c.resolveIdeaNumber(ctx, "look at", ideaNumber)
	if err != nil {
		return chain.Link{}, err
	}
	return c.chainStore.LinkAt(ctx, c.processID, ideaNumber)
}

// load reads an Idea after it has checked the number.
func (c *Chain) load(ctx context.Context, errorVerb string, ideaNumber int) (jsonval.Object, error) {
	ideaNumber, err := c.checkIdeaNumber(ctx, errorVerb, ideaNumber)
	if err != nil {
		return nil, err
	}
	return c.chainStore.Load(ctx, c.processID, ideaNumber)
}

// Load returns a whole Idea (0: the latest) as a JSON value from which a process can start. The error wraps ErrNotFound
// if there is no Idea of the number. It names a missing or broken part of the Idea.
func (c *Chain) Load(ctx context.Context, ideaNumber int) (map[string]any, error) {
	return c.load(ctx, "show", ideaNumber)
}

// ForkedIdea returns an Idea, by its number from 1, as the first Idea of another process: its meta names where it comes
// from. Start accepts it as it is, or changed by ideafiles.Changes, with StartOptions.ForkSourceID.
func (c *Chain) ForkedIdea(ctx context.Context, ideaNumber int) (map[string]any, error) {
	return c.forkedIdea(ctx, ideaNumber, time.Time{})
}

func (c *Chain) forkedIdea(ctx context.Context, ideaNumber int, delegateCutoff time.Time) (jsonval.Object, error) {
	if ideaNumber < 1 {
		return nil, kind.Errorf(ErrInvalid, "fork Idea %d of %s: Ideas are numbered from 1", ideaNumber, c.processID)
	}
	// A forgotten process cannot be forked, not even at its last Idea.
	if _, err := c.checkIdeaNumber(ctx, "fork", 0); err != nil {
		return nil, err
	}
	idea, err := c.load(ctx, "fork", ideaNumber)
	forgetRecordByInstance := map[string]chain.ForgetRecord{}
	if err == nil {
		forgetRecordByInstance, err = c.chainStore.ForgottenInstances(ctx, c.processID)
	}
	if err == nil {
		idea = chain.ForkedIdea(idea)
		chain.MarkForgottenInstances(idea, forgetRecordByInstance)
		idea, err = c.withResumedDelegates(ctx, idea, ideaNumber, delegateCutoff)
	}
	if err == nil {
		err = c.addUndoneCallErrors(ctx, idea, ideaNumber)
	}
	if err != nil {
		return nil, err
	}
	return c.withPriorDecisions(ctx, idea, ideaNumber)
}

// withPriorDecisions records in a fork who decided on the Calls that its policies name, since the same people may not
// decide on certain others.
func (c *Chain) withPriorDecisions(ctx context.Context, fork jsonval.Object, ideaNumber int) (jsonval.Object, error) {
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(fork)
	if idea == nil || !idea.HasDeciderExclusions() {
		return fork, nil
	}
	decisions, err := c.decisions(ctx, 1, ideaNumber)
	if err != nil {
		return nil, err
	}
	var priorDecisions []policy.PriorDecision
	for _, d := range decisions {
		if d.CallID != "" && d.DecidedBy != "" && !approval.IsRemark(d.Kind) {
			e := policy.PriorDecision{CallID: d.CallID, Tool: d.Tool, DecidedBy: d.DecidedBy, Account: d.Account}
			if d.StandingOrderID == "" { // otherwise the proof is of a standing order, and names no Call
				e.Proof = d.Proof
			}
			priorDecisions = append(priorDecisions, e)
			if d.OnBehalfOf != nil {
				e.DecidedBy, e.Account, e.Proof = d.OnBehalfOf.Name, d.OnBehalfOf.Account, ""
				priorDecisions = append(priorDecisions, e)
			}
		}
	}
	return policy.WithDecisionsBeforeFork(fork, priorDecisions), nil
}

// DrawablePlan holds the Calls of a Plan, and in how many instances each has which status, as far as the latest Idea
// knows. plangraph.RenderSVG draws it.
type DrawablePlan struct {
	Calls                  []any
	InstanceCountsByStatus []map[ideafile.CallStatus]int // beside the Calls; nil: unknown
}

// PlanWithStatus returns the Calls of the latest solution that has any, or else of the Plan messages in the latest
// Idea. Their statuses are those of the latest Idea, with the Calls that other processes have undone.
func (c *Chain) PlanWithStatus(ctx context.Context) (*DrawablePlan, error) {
	lastIdeaNumber, err := c.checkIdeaNumber(ctx, "draw", 0)
	if err != nil {
		return nil, err
	}
	undoneCallIDs := map[string]bool{}
	undoneCalls, err := c.UndoneCalls(ctx)
	for _, one := range undoneCalls {
		undoneCallIDs[one.CallID] = true
	}
	var latestIdea jsonval.Object
	for ideaNumber := lastIdeaNumber; ideaNumber > 0 && err == nil; ideaNumber-- {
		var idea jsonval.Object
		if idea, err = c.chainStore.Load(ctx, c.processID, ideaNumber); err != nil {
			break
		}
		if ideaNumber == lastIdeaNumber {
			latestIdea = idea
		}
		if calls := SolutionCallsOf(idea); len(calls) > 0 {
			return &DrawablePlan{calls, plangraph.CountCallStatuses(calls, latestIdea, idea, undoneCallIDs)}, nil
		}
	}
	calls := PlanMessageCallsOf(latestIdea)
	return &DrawablePlan{calls, plangraph.CountCallStatuses(calls, latestIdea, nil, undoneCallIDs)}, err
}

// PlanMessageCallsOf returns the Calls of an Idea's Plan messages, with what their Tools fix.
func PlanMessageCallsOf(idea map[string]any) (calls []any) {
	parsedIdea, _ := ideafile.ReadIdeaWithoutCheckingTools(idea)
	if parsedIdea == nil {
		return nil
	}
	for _, message := range parsedIdea.Context {
		calls = append(calls, ideafile.RawWrittenCalls(jsonval.Map(message.PlanCalls,
			parsedIdea.WithToolFixedValues))...)
	}
	return calls
}

// SolutionCallsOf returns the Calls of an Idea's solution, with what their Tools fix.
func SolutionCallsOf(idea map[string]any) []any {
	calls := jsonval.AsList(jsonval.Lookup(idea, "solution", "calls"))
	if len(calls) == 0 {
		return nil
	}
	parsedIdea, _ := ideafile.ReadIdeaWithoutCheckingTools(idea)
	return ideafile.RawWrittenCalls(jsonval.Map(ideafile.ParseWrittenCalls(calls), parsedIdea.WithToolFixedValues))
}
