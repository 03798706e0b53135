package client

import (
	"cmp"
	"context"
	"fmt"

	"processidea/model/ideafile"
)

// chooseID makes up the id that a start leaves out, and refuses one that a new process may not have.
func (c *Client) chooseID(ctx context.Context, o *StartOptions, idea *ideafile.Idea) (err error) {
	switch {
	case o.ID != "":
	case o.ForkOf != "":
		o.ID, err = c.forkID(ctx, o.ForkOf)
	default:
		o.ID = NewID(cmp.Or(idea.ProcessPath, "process"))
	}
	if err == nil {
		err = ValidateID(o.ID)
	}
	if err == nil {
		err = c.unclaimed(ctx, o.ID)
	}
	return err
}

// forkID finds an id for a fork that nobody named: ID-fork-1, or the next one that nothing has.
func (c *Client) forkID(ctx context.Context, base string) (string, error) {
	if len(base) > maxIDBytes-len("-fork-1000") {
		base = shortenID(base)
	}
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-fork-%d", base, n)
		ideas, err := c.Chain(id).Length(ctx)
		if err != nil {
			return "", err
		}
		known, err := c.hasWorkflow(ctx, id)
		if err != nil {
			return "", err
		}
		if ideas == 0 && !known {
			return id, nil
		}
	}
}

// hasWorkflow reports whether Temporal has a workflow of an id, open or within its retention.
func (c *Client) hasWorkflow(ctx context.Context, id string) (bool, error) {
	_, err := c.temporal.DescribeWorkflowExecution(ctx, id, "")
	switch {
	case isNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("find process %s: %w", id, err)
	}
	return true, nil
}

// unclaimed refuses an id that has a chain in the store but no workflow in Temporal.
func (c *Client) unclaimed(ctx context.Context, id string) error {
	known, err := c.hasWorkflow(ctx, id)
	if err != nil || known {
		return err
	}
	last, err := c.Chain(id).Length(ctx)
	if err == nil && last > 0 {
		err = &ClaimedError{ID: id, Ideas: last}
	}
	return err
}
