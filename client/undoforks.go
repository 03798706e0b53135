package client

import (
	"context"
	"errors"
	"slices"

	"processidea/model/jsonval"
	"processidea/model/undo"
)

// This file finds values in the forks of a process that came from its Calls.

// keepForForks notes on each Call that forks inherited in which fork something depends on the Call's result.
func (u *Undoing) keepForForks(ctx context.Context, calls []undo.Call) error {
	stands := func(c undo.Call) bool { return c.Idea > 0 && c.UndoneBy+c.DoneBefore == "" }
	if !slices.ContainsFunc(calls, stands) {
		return nil
	}
	forks := map[string]int{}
	if err := u.archive.forksOf(ctx, u.Process, 0, forks); err != nil {
		return err
	}
	for fork, at := range jsonval.Sorted(forks) {
		_, _, theirs, err := u.archive.readUndo(ctx, fork, UndoOptions{Tools: u.options.Tools, ofDelegate: true})
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) || errors.Is(err, ErrInvalid) {
			continue // nothing is known of its Calls, or it was simulated
		}
		if err != nil {
			return err
		}
		places := undo.ReadFromBefore(theirs)
		for n := range calls {
			if c := &calls[n]; stands(*c) && c.Idea <= at && c.WroteTo(places[c.Instance]) {
				c.ReadIn = fork
			}
		}
	}
	return nil
}

// forksOf finds the forks of a process, and their forks in turn. For each it adds the number of the Idea in the first
// process that its inherited Calls come from: at or, if at is 0, the Idea that it was forked from.
func (a *Archive) forksOf(ctx context.Context, process string, at int, found map[string]int) error {
	chains := a.Chain(process).chains
	ids, err := chains.Forks(ctx, process)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		link, err := chains.LinkAt(ctx, id, 1)
		origin := jsonval.AsObject(link.Origin)
		from, isNumber := jsonval.ReadPositiveInt(origin["at"])
		if err != nil || isNumber != nil || link.Undoes != nil || origin["process"] != process || found[id] > 0 {
			continue // it is broken, or undoes, or only one of its delegates was forked
		}
		if at > 0 {
			from = at
		}
		found[id] = from
		if err := a.forksOf(ctx, id, from, found); err != nil {
			return err
		}
	}
	return nil
}
