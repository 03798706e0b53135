package client

import (
	"context"
	"io"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

// Blame says which Call or person wrote a value, as Idea at shows it (0: the latest). The place is TOKEN:path, such as
// ①:user.name, or user.name in the anonymous instance. The error wraps ErrNoValue or ErrBadPlace where that is the
// cause.
func (c *Chain) Blame(ctx context.Context, place string, at int) (*chain.Blame, error) {
	at, err := c.checkIdeaNumber(ctx, "look at", at)
	if err != nil {
		return nil, err
	}
	return c.chains.Blame(ctx, c.process, place, at)
}

// Verify checks every digest of the chain, and of those of the parts and delegates. The Report lists what is broken;
// the error is for a store that does not answer, or wraps ErrNotFound if there is no chain.
func (c *Chain) Verify(ctx context.Context) (*chain.Report, error) {
	return c.VerifyWithProgress(ctx, func(int, int) {})
}

// VerifyWithProgress is Verify, and tells before each Idea how many of how many are checked.
func (c *Chain) VerifyWithProgress(ctx context.Context, progress func(checked, of int)) (*chain.Report, error) {
	r, err := c.VerifyAlone(ctx, progress)
	if err != nil {
		return nil, err
	}
	return r, c.verifyWithin(ctx, r)
}

// verifyWithin adds to a Report what is broken in the chains of the parts and delegates.
func (c *Chain) verifyWithin(ctx context.Context, r *chain.Report) error {
	within, err := c.chains.ListPartsAndDelegates(ctx, c.process)
	for _, id := range within {
		below, err := c.chains.Verify(ctx, id)
		if err != nil {
			return err
		}
		r.ChainsBelow, r.IsIntact = r.ChainsBelow+1, r.IsIntact && below.IsIntact
		for _, b := range below.Broken {
			r.Broken = append(r.Broken, chain.Broken{At: b.At, Item: b.Item, Problem: "in " + id + ": " + b.Problem})
		}
	}
	return err
}

// VerifyAlone is VerifyWithProgress without the parts and delegates.
func (c *Chain) VerifyAlone(ctx context.Context, progress func(checked, of int)) (*chain.Report, error) {
	if _, err := c.length(ctx, "verify"); err != nil {
		return nil, err
	}
	return c.chains.VerifyWitnessed(ctx, c.process, nil, progress)
}

// Export writes the whole chain as JSON Lines, which chain.VerifyExport checks with nothing else. A chain with a broken
// place is not exported: the error names the place.
func (c *Chain) Export(ctx context.Context, w io.Writer) error {
	if _, err := c.checkIdeaNumber(ctx, "export", 0); err != nil {
		return err
	}
	return c.chains.Export(ctx, c.process, w)
}

// Authors says who wrote the values of the States in Idea at (0: the latest): Blame, of many values at once.
func (c *Chain) Authors(ctx context.Context, at int) (*chain.Authors, error) {
	at, err := c.checkIdeaNumber(ctx, "look at", at)
	if err != nil {
		return nil, err
	}
	return c.chains.Authors(ctx, c.process, at)
}

// StatesOf gives the State of each instance of an Idea, by token.
func StatesOf(idea map[string]any) map[string]any {
	states := jsonval.Object{}
	for _, m := range jsonval.AsList(idea["context"]) {
		message := jsonval.AsObject(m)
		if token, _ := message["_instance"].(string); message["type"] == ideafile.TypeState {
			states[token] = message["state"]
		}
	}
	return states
}
