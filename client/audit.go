package client

import (
	"context"
	"io"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

// Blame says which Call or person wrote a value that Idea at has (0: the latest). The place is TOKEN:path, such as
// ①:user.name, or user.name in the anonymous instance. The error wraps ErrNoValue if the place has no value and
// nobody wrote there, and ErrBadPlace if the place is malformed.
func (c *Chain) Blame(ctx context.Context, statePlace string, ideaNumber int) (*chain.Blame, error) {
	ideaNumber, err := c.checkIdeaNumber(ctx, "look at", ideaNumber)
	if err != nil {
		return nil, err
	}
	return c.chainStore.Blame(ctx, c.processID, statePlace, ideaNumber)
}

// Verify checks every digest of the chain, and of the chains of its parts and delegates. The Report lists what is
// broken. The error is for a store that does not answer, or wraps ErrNotFound if there is no chain; what was found
// until then is in the Report, if there is one.
func (c *Chain) Verify(ctx context.Context) (*chain.Report, error) {
	return c.VerifyWithProgress(ctx, func(int, int) {})
}

// VerifyWithProgress is Verify, and calls progress before it checks each Idea.
func (c *Chain) VerifyWithProgress(ctx context.Context, beforeEachIdea func(checked, of int)) (*chain.Report, error) {
	r, err := c.VerifyOwnChain(ctx, beforeEachIdea)
	if err != nil {
		return r, err
	}
	return r, c.verifyPartsAndDelegates(ctx, r)
}

// verifyPartsAndDelegates adds to a Report the broken places in the chains of parts and delegates.
func (c *Chain) verifyPartsAndDelegates(ctx context.Context, r *chain.Report) error {
	ids, err := c.chainStore.ListPartsAndDelegates(ctx, c.processID)
	for _, id := range ids {
		report, err := c.chainStore.Verify(ctx, id)
		if err != nil {
			return err
		}
		r.ChildChainCount, r.IsIntact = r.ChildChainCount+1, r.IsIntact && report.IsIntact
		for _, b := range report.Broken {
			r.Broken = append(r.Broken, chain.BrokenItem{FirstIdea: b.FirstIdea, Item: b.Item,
				Problem: "in " + id + ": " + b.Problem, UnloadableIdeaNumbers: b.UnloadableIdeaNumbers})
		}
	}
	return err
}

// VerifyOwnChain is VerifyWithProgress without the parts and delegates.
func (c *Chain) VerifyOwnChain(ctx context.Context, beforeEachIdea func(checked, of int)) (*chain.Report, error) {
	if _, err := c.requireLatestIdeaNumber(ctx, "verify"); err != nil {
		return nil, err
	}
	return c.chainStore.VerifyWitnessed(ctx, c.processID, nil, beforeEachIdea)
}

// Export writes the whole chain as JSON Lines. chain.VerifyExport checks it without any other data. A chain with a
// broken place is not exported: the error names the place.
func (c *Chain) Export(ctx context.Context, w io.Writer) error {
	if _, err := c.checkIdeaNumber(ctx, "export", 0); err != nil {
		return err
	}
	return c.chainStore.Export(ctx, c.processID, w)
}

// Authors says who wrote the values of the States in Idea at (0: the latest): Blame for many values at once.
func (c *Chain) Authors(ctx context.Context, ideaNumber int) (*chain.AuthorFinder, error) {
	ideaNumber, err := c.checkIdeaNumber(ctx, "look at", ideaNumber)
	if err != nil {
		return nil, err
	}
	return c.chainStore.Authors(ctx, c.processID, ideaNumber)
}

// InstanceStatesOf returns the State of each instance of an Idea, by token.
func InstanceStatesOf(idea map[string]any) map[string]any {
	states := jsonval.Object{}
	for _, m := range jsonval.AsList(idea["context"]) {
		message := jsonval.AsObject(m)
		if token, _ := message["_instance"].(string); message["type"] == ideafile.TypeState {
			states[token] = message["state"]
		}
	}
	return states
}
