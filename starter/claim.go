package main

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"

	"processidea/store/chain"
)

// This file holds which ids a new process may have.

// nameFork finds an id for a fork that nobody named: ID-fork-1, or the next one that nothing has.
func (r *runner) nameFork(ctx context.Context) error {
	base := r.options.forkOf
	if len(base) > longestID-len("-fork-1000") {
		base = clipID(base)
	}
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-fork-%d", base, n)
		ideas, err := chain.New(r.session.values).Latest(ctx, id)
		if err != nil {
			return err
		}
		known, err := r.session.knows(ctx, id)
		if err != nil {
			return err
		}
		if ideas == 0 && !known {
			r.options.id = id
			return nil
		}
	}
}

// knows says whether Temporal has a workflow of an id, open or within its retention.
func (s *session) knows(ctx context.Context, id string) (bool, error) {
	_, err := s.DescribeWorkflowExecution(ctx, id, "")
	var unknown *serviceerror.NotFound
	switch {
	case errors.As(err, &unknown):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("find process %s: %w", id, err)
	}
	return true, nil
}

// unclaimed refuses an id of which the store has a chain and Temporal nothing: a process could not put its Ideas there.
func (r *runner) unclaimed(ctx context.Context) error {
	id := r.options.id
	known, err := r.session.knows(ctx, id)
	if err != nil || known {
		return err
	}
	last, err := chain.New(r.session.values).Latest(ctx, id)
	if err != nil || last == 0 {
		return err
	}
	return misuse("run %s as %s: the store has %s of a process of this id that Temporal does not know, or no longer; "+
		"take another id, go on from one of them with \"starter fork %s --at %d\", or have them removed by \"starter gc\"",
		r.material.source.given, id, plural(last, "Idea"), quote(id), last)
}
