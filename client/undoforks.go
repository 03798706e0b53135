package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/undo"
)

// This file finds values in the forks of a process, and in its caller, that came from its Calls.

// keepForForks notes on each Call that forks inherited in which fork something depends on the Call's result.
func (u *Undoing) keepForForks(ctx context.Context, calls []undo.Call) error {
	stands := func(c undo.Call) bool { return c.Idea > 0 && c.UndoneBy+c.DoneBefore == "" }
	if !slices.ContainsFunc(calls, stands) {
		return nil
	}
	forks, whole := map[string]int{}, spelling.WholeProcess(u.Process)
	if err := u.archive.forksOf(ctx, whole, 0, forks); err != nil {
		return err
	}
	if whole != u.Process && len(forks) > 0 { // they count the Ideas of the whole
		return undoRefused(u.Process, fmt.Sprintf("it is a part of %s, from which %s was forked: take back %[1]s, or "+
			"an instance of it, so that what the fork reads stays", whole, jsonval.SortedKeys(forks)[0]))
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

// keepForCaller notes on each Call of a delegate from which the delegate's output came that a Call of its caller read
// it and had an effect. What the caller itself took back of it is undone with the delegate's Call.
func (u *Undoing) keepForCaller(ctx context.Context, calls []undo.Call) error {
	caller, id, err := u.archive.callerOf(ctx, spelling.WholeProcess(u.Process))
	if caller == "" || err != nil {
		return err
	}
	of, _, theirs, err := u.archive.readUndo(ctx, caller, UndoOptions{Tools: u.options.Tools, ofDelegate: true})
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) || errors.Is(err, ErrInvalid) {
		return nil // nothing is known of its Calls
	}
	if err != nil {
		return err
	}
	theirs = slices.DeleteFunc(theirs, func(c undo.Call) bool { return c.Process != caller })
	at := slices.IndexFunc(theirs, func(c undo.Call) bool { return ideafile.TypeableCallID(c.ID) == id })
	if at < 0 {
		return nil
	}
	ran := theirs[at]
	reader := undo.EffectReadFrom(theirs, ran.ID)
	if reader == nil {
		return nil
	}
	tool, where := of.instance(ran).Idea.Tool(ran.Tool), " of "+spelling.WholeProcess(caller)
	for n := range calls {
		c := &calls[n]
		places := outputPlaces(u.instance(*c).Idea)
		if tool != nil && tool.Source["_writes"] != nil {
			places = []jsonval.Path{{}}
		}
		if c.UndoneBy+c.DoneBefore == "" && c.WroteTo(places) {
			c.ReadByCaller, c.CallOfCaller = reader.Name()+where, ran.Name()+where
		}
	}
	return nil
}

// outputPlaces lists the places of State that the output of a process came from: all, if it was written by itself.
func outputPlaces(idea *ideafile.Idea) (places []jsonval.Path) {
	outputs := []any{jsonval.At(idea.Source, "solution", "output")}
	for _, m := range idea.Context {
		outputs = append(outputs, m.PlanOutput)
	}
	isOwn := false
	for _, output := range outputs {
		refs, err := refexpr.FindReferences(output)
		isOwn = isOwn || output != nil && (len(refs) == 0 || err != nil)
		for _, ref := range refs {
			if ref.Kind == ideafile.TypeState {
				places = append(places, ref.Path)
			}
		}
	}
	if isOwn {
		return []jsonval.Path{{}}
	}
	return places
}
