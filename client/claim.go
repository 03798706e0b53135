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
		o.ID = NewProcessID(cmp.Or(idea.ProcessPath, "process"))
	}
	if err == nil {
		err = ValidateProcessID(o.ID)
	}
	if err == nil {
		err = c.checkIDUnclaimed(ctx, o.ID)
	}
	return err
}

// newForkID makes up an id for a fork without one: ID-fork-1, or the next unused number.
func (c *Client) newForkID(ctx context.Context, sourceProcessID string) (string, error) {
	if len(sourceProcessID) > maxProcessIDBytes-len("-fork-1000") {
		sourceProcessID = idPrefixFromName(sourceProcessID)
	}
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-fork-%d", sourceProcessID, n)
		if ideaCount, hasWorkflow, err := c.findUsesOfID(ctx, id); err != nil || ideaCount == 0 && !hasWorkflow {
			return id, err
		}
	}
}

// findUsesOfID returns how many Ideas the store has under an id, and whether Temporal has a workflow with it, open or
// within its retention.
func (c *Client) findUsesOfID(ctx context.Context, id string) (ideaCount int, hasWorkflow bool, err error) {
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

// checkIDUnclaimed refuses an id that has a chain in the store but no workflow in Temporal.
func (c *Client) checkIDUnclaimed(ctx context.Context, id string) error {
	ideaCount, hasWorkflow, err := c.findUsesOfID(ctx, id)
	if err == nil && ideaCount > 0 && !hasWorkflow {
		err = &ClaimedIDError{ID: id, IdeaCount: ideaCount}
	}
	return err
}
