package client

import (
	"cmp"
	"context"
	"fmt"

	"processidea/model/ideafile"
)

// chooseID makes up the id if a start has none, and refuses an id that a new process may not have.
func (c *Client) chooseID(ctx context.Context, o *StartOptions, idea *ideafile.Idea) (err error) {
	switch {
	case o.ID != "":
	case o.ForkSourceID != "":
		o.ID, err = c.newForkID(ctx, o.ForkSourceID)
	default:
		o.ID = NewID(cmp.Or(idea.ProcessPath, "process"))
	}
	if err == nil {
		err = ValidateID(o.ID)
	}
	if err == nil {
		err = c.checkUnclaimed(ctx, o.ID)
	}
	return err
}

// newForkID makes up an id for a fork without one: ID-fork-1, or the next unused number.
func (c *Client) newForkID(ctx context.Context, base string) (string, error) {
	if len(base) > maxIDBytes-len("-fork-1000") {
		base = shortenID(base)
	}
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-fork-%d", base, n)
		if ideaCount, hasWorkflow, err := c.findClaims(ctx, id); err != nil || ideaCount == 0 && !hasWorkflow {
			return id, err
		}
	}
}

// findClaims returns how many Ideas the store has under an id, and whether Temporal has a workflow with it, open or
// within its retention.
func (c *Client) findClaims(ctx context.Context, id string) (ideaCount int, hasWorkflow bool, err error) {
	_, err = c.temporal.DescribeWorkflowExecution(ctx, id, "")
	switch {
	case err == nil:
		hasWorkflow = true
	case !isNotFound(err):
		return 0, false, fmt.Errorf("find process %s: %w", id, err)
	}
	ideaCount, err = c.Chain(id).Length(ctx)
	return ideaCount, hasWorkflow, err
}

// checkUnclaimed refuses an id that has a chain in the store but no workflow in Temporal.
func (c *Client) checkUnclaimed(ctx context.Context, id string) error {
	ideaCount, hasWorkflow, err := c.findClaims(ctx, id)
	if err == nil && ideaCount > 0 && !hasWorkflow {
		err = &ClaimedIDError{ID: id, IdeaCount: ideaCount}
	}
	return err
}
