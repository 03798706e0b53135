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

// markReadsInForks notes on each Call that forks inherited in which fork something depends on the Call's result.
func (u *Undoing) markReadsInForks(ctx context.Context, calls []undo.Call) error {
	isInEffect := func(c undo.Call) bool { return c.IdeaNumber > 0 && c.UndoneByProcess+c.RanByProcessID == "" }
	if !slices.ContainsFunc(calls, isInEffect) {
		return nil
	}
	ideaByFork, whole := map[string]int{}, spelling.WholeProcessID(u.Process)
	if err := u.archive.collectForks(ctx, whole, 0, ideaByFork); err != nil {
		return err
	}
	if whole != u.Process && len(ideaByFork) > 0 { // they count the Ideas of the whole
		return undoRefusedError(u.Process, fmt.Sprintf("it is a part of %s, from which %s was forked: take back "+
			"%[1]s, or an instance of it, so that what the fork reads stays", whole, jsonval.SortedKeys(ideaByFork)[0]))
	}
	for fork, ideaNumber := range jsonval.Sorted(ideaByFork) {
		_, _, forkCalls, err := u.archive.readUndo(ctx, fork, UndoOptions{Tools: u.options.Tools, isForDelegate: true})
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) || errors.Is(err, ErrInvalid) {
			continue // nothing is known of its Calls, or it was simulated
		}
		if err != nil {
			return err
		}
		places := undo.PathsReadFromStart(forkCalls)
		for n := range calls {
			if c := &calls[n]; isInEffect(*c) && c.IdeaNumber <= ideaNumber && c.WroteAnyOf(places[c.Instance]) {
				c.ReadingForkID = fork
			}
		}
	}
	return nil
}

// collectForks finds the forks of a process, and their forks in turn. For each it adds the number of the Idea in the
// first process that its inherited Calls come from: at or, if at is 0, the Idea that it was forked from.
func (a *Archive) collectForks(ctx context.Context, process string, rootIdeaNumber int,
	ideaByFork map[string]int) error {
	chains := a.Chain(process).chainStore
	ids, err := chains.Forks(ctx, process)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		link, err := chains.LinkAt(ctx, id, 1)
		origin := jsonval.AsObject(link.Origin)
		ideaNumber, numberErr := jsonval.ReadPositiveInt(origin["at"])
		if err != nil || numberErr != nil || link.Undoes != nil || origin["process"] != process || ideaByFork[id] > 0 {
			continue // it is broken, or undoes, or only one of its delegates was forked
		}
		if rootIdeaNumber > 0 {
			ideaNumber = rootIdeaNumber
		}
		ideaByFork[id] = ideaNumber
		if err := a.collectForks(ctx, id, ideaNumber, ideaByFork); err != nil {
			return err
		}
	}
	return nil
}

// markReadsByCaller notes on each Call of a delegate from which the delegate's output came that a Call of its caller
// read it and had an effect. What the caller itself took back of it is undone with the delegate's Call.
func (u *Undoing) markReadsByCaller(ctx context.Context, calls []undo.Call) error {
	caller, id, err := u.archive.callerOf(ctx, spelling.WholeProcessID(u.Process))
	if caller == "" || err != nil {
		return err
	}
	callerUndo, _, callerCalls, err := u.archive.readUndo(ctx, caller,
		UndoOptions{Tools: u.options.Tools, isForDelegate: true})
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) || errors.Is(err, ErrInvalid) {
		return nil // nothing is known of its Calls
	}
	if err != nil {
		return err
	}
	callerCalls = slices.DeleteFunc(callerCalls, func(c undo.Call) bool { return c.ProcessID != caller })
	index := slices.IndexFunc(callerCalls, func(c undo.Call) bool { return ideafile.TypeableCallID(c.ID) == id })
	if index < 0 {
		return nil
	}
	callerCall := callerCalls[index]
	reader := undo.FindEffectReader(callerCalls, callerCall.ID)
	if reader == nil {
		return nil
	}
	tool, suffix := callerUndo.instance(callerCall).Idea.Tool(callerCall.Tool), " of "+spelling.WholeProcessID(caller)
	for n := range calls {
		c := &calls[n]
		places := outputPaths(u.instance(*c).Idea)
		if tool != nil && tool.Source["_writes"] != nil {
			places = []jsonval.Path{{}}
		}
		if c.UndoneByProcess+c.RanByProcessID == "" && c.WroteAnyOf(places) {
			c.ReadingCallOfCaller, c.CallOfCaller = reader.Name()+suffix, callerCall.Name()+suffix
		}
	}
	return nil
}

// outputPaths lists the places of State that the output of a process came from: all, if it was written by itself.
func outputPaths(idea *ideafile.Idea) (paths []jsonval.Path) {
	outputs := []any{jsonval.Lookup(idea.Source, "solution", "output")}
	for _, m := range idea.Context {
		outputs = append(outputs, m.PlanOutput)
	}
	writtenBySelf := false
	for _, output := range outputs {
		refs, err := refexpr.FindReferences(output)
		writtenBySelf = writtenBySelf || output != nil && (len(refs) == 0 || err != nil)
		for _, ref := range refs {
			if ref.Kind == ideafile.TypeState {
				paths = append(paths, ref.Path)
			}
		}
	}
	if writtenBySelf {
		return []jsonval.Path{{}}
	}
	return paths
}
