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
func (u *UndoPlan) markReadsInForks(ctx context.Context, calls []undo.Call) error {
	isInEffect := func(c undo.Call) bool {
		return c.FirstDoneIdeaNumber > 0 &&
			c.UndoneByProcessID+c.RanByProcessID == ""
	}
	if !slices.ContainsFunc(calls, isInEffect) {
		return nil
	}
	ideaNumberByFork, wholeID := map[string]int{}, spelling.WholeProcessID(u.ProcessID)
	if err := u.archive.collectForks(ctx, wholeID, 0, ideaNumberByFork); err != nil {
		return err
	}
	if wholeID != u.ProcessID && len(ideaNumberByFork) > 0 { // they count the Ideas of the whole
		return undoRefusedError(u.ProcessID, fmt.Sprintf("it is a part of %s, from which %s was forked: take back "+
			"%[1]s, or an instance of it, so that what the fork reads stays", wholeID,
			jsonval.SortedKeys(ideaNumberByFork)[0]))
	}
	for forkID, ideaNumber := range jsonval.Sorted(ideaNumberByFork) {
		_, _, forkCalls, err := u.archive.readCallsForUndo(ctx, forkID,
			UndoOptions{Tools: u.options.Tools, isForDelegate: true})
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) || errors.Is(err, ErrInvalid) {
			continue // nothing is known of its Calls, or it was simulated
		}
		if err != nil {
			return err
		}
		readPathsByInstance := undo.PathsReadFromStartState(forkCalls)
		for n := range calls {
			if c := &calls[n]; isInEffect(*c) && c.FirstDoneIdeaNumber <= ideaNumber &&
				c.WroteAnyOf(readPathsByInstance[c.InstanceToken]) {
				c.ReadingForkID = forkID
			}
		}
	}
	return nil
}

// collectForks finds the forks of a process, and their forks in turn. For each it adds the number of the Idea in the
// first process that its inherited Calls come from: at or, if at is 0, the Idea that it was forked from.
func (a *Archive) collectForks(ctx context.Context, processID string, rootIdeaNumber int,
	ideaNumberByFork map[string]int) error {
	chainStore := a.Chain(processID).chainStore
	ids, err := chainStore.Forks(ctx, processID)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		link, err := chainStore.LinkAt(ctx, id, 1)
		origin := jsonval.AsObject(link.ForkOrigin)
		ideaNumber, numberErr := jsonval.ReadPositiveInt(origin["at"])
		if err != nil || numberErr != nil || link.Undoes != nil || origin["process"] != processID ||
			ideaNumberByFork[id] > 0 {
			continue // it is broken, or undoes, or only one of its delegates was forked
		}
		if rootIdeaNumber > 0 {
			ideaNumber = rootIdeaNumber
		}
		ideaNumberByFork[id] = ideaNumber
		if err := a.collectForks(ctx, id, ideaNumber, ideaNumberByFork); err != nil {
			return err
		}
	}
	return nil
}

// markReadsByCaller notes on each Call of a delegate from which the delegate's output came that a Call of its caller
// read it and had an effect. What the caller itself took back of it is undone with the delegate's Call.
func (u *UndoPlan) markReadsByCaller(ctx context.Context, calls []undo.Call) error {
	callerID, callID, err := u.archive.callerOf(ctx, spelling.WholeProcessID(u.ProcessID))
	if callerID == "" || err != nil {
		return err
	}
	callerUndo, _, callerCalls, err := u.archive.readCallsForUndo(ctx, callerID,
		UndoOptions{Tools: u.options.Tools, isForDelegate: true})
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) || errors.Is(err, ErrInvalid) {
		return nil // nothing is known of its Calls
	}
	if err != nil {
		return err
	}
	callerCalls = slices.DeleteFunc(callerCalls, func(c undo.Call) bool { return c.ProcessID != callerID })
	index := slices.IndexFunc(callerCalls, func(c undo.Call) bool { return ideafile.TypeableCallID(c.ID) == callID })
	if index < 0 {
		return nil
	}
	callerCall := callerCalls[index]
	readingCall := undo.FindEffectReader(callerCalls, callerCall.ID)
	if readingCall == nil {
		return nil
	}
	tool, suffix := callerUndo.instance(callerCall).Idea.Tool(callerCall.Tool), " of "+spelling.WholeProcessID(callerID)
	for n := range calls {
		c := &calls[n]
		paths := outputSourcePaths(u.instance(*c).Idea)
		if tool != nil && tool.Source["_writes"] != nil {
			paths = []jsonval.Path{{}}
		}
		if c.UndoneByProcessID+c.RanByProcessID == "" && c.WroteAnyOf(paths) {
			c.ReadingCallerCallName, c.CallerCallName = readingCall.Name()+suffix, callerCall.Name()+suffix
		}
	}
	return nil
}

// outputSourcePaths lists the places of State that the output of a process came from: all, if it was written by itself.
func outputSourcePaths(idea *ideafile.Idea) (paths []jsonval.Path) {
	outputs := []any{jsonval.Lookup(idea.Source, "solution", "output")}
	for _, m := range idea.Context {
		outputs = append(outputs, m.PlanOutput)
	}
	hasLiteralOutput := false
	for _, output := range outputs {
		refs, err := refexpr.FindReferences(output)
		hasLiteralOutput = hasLiteralOutput || output != nil && (len(refs) == 0 || err != nil)
		for _, ref := range refs {
			if ref.Kind == ideafile.TypeState {
				paths = append(paths, ref.Path)
			}
		}
	}
	if hasLiteralOutput {
		return []jsonval.Path{{}}
	}
	return paths
}
