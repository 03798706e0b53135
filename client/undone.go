package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/model/undo"
	"processidea/protocol"
)

// This file reads from the chains which Calls were undone, and which Calls a fork inherited.

// UndoneCall states which process undid a Call, on whose order, and why.
type UndoneCall struct {
	CallID string `json:"call"`
	UndoID string `json:"as"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// UndoneAt is when the last Idea of UndoProcessID was made; empty for the process itself, whose log says when it
	// undid what.
	UndoneAt string `json:"when,omitempty"`
}

// forkOrigin is the process that another was forked from, with the Calls that were done by then.
type forkOrigin struct {
	processID      string
	doneCallIDs    map[string]bool // nil: its chain no longer exists
	undoneByCallID map[string]UndoneCall
}

// findForkOrigin returns the chain that a process was forked from, and the number of the Idea there. The chain is empty
// if the process is no fork; the number is 0 if that Idea no longer exists.
func (c *Chain) findForkOrigin(ctx context.Context,
	idea *ideafile.Idea) (forkOriginChain *Chain, ideaNumber int, err error) {
	meta := jsonval.AsObject(idea.Source["meta"])
	origin := jsonval.AsObject(meta["origin"])
	forkOriginChain = &Chain{c.chainStore, jsonval.AsText(origin["process"])}
	// an undoing process has done all its Calls itself
	if forkOriginChain.processID == "" || meta[protocol.UndoesMetaKey] != nil {
		return &Chain{}, 0, nil
	}
	if ideaNumber, err = jsonval.ReadPositiveInt(origin["at"]); err != nil {
		return forkOriginChain, 0, fmt.Errorf("read from which Idea of %s a process was forked: %w",
			forkOriginChain.processID,
			err)
	}
	if lastIdeaNumber, err := forkOriginChain.Length(ctx); err != nil || ideaNumber > lastIdeaNumber ||
		forkOriginChain.checkNotForgotten(ctx, lastIdeaNumber) != nil {
		return forkOriginChain, 0, err
	}
	return forkOriginChain, ideaNumber, nil
}

func (c *Chain) readForkOrigin(ctx context.Context, idea *ideafile.Idea) (f forkOrigin, err error) {
	forkOriginChain, ideaNumber, err := c.findForkOrigin(ctx, idea)
	if f.processID = forkOriginChain.processID; ideaNumber == 0 || err != nil {
		return f, err
	}
	endIdeaNumbers, err := forkOriginChain.callEndIdeaNumbers(ctx)
	if err != nil {
		return f, err
	}
	f.doneCallIDs = map[string]bool{}
	f.undoneByCallID, err = forkOriginChain.undoneCallsWithInherited(ctx)
	for id, endIdeaNumber := range endIdeaNumbers[ideafile.CallDone] {
		if f.doneCallIDs[id] = endIdeaNumber <= ideaNumber; !f.doneCallIDs[id] {
			delete(f.undoneByCallID, id)
		}
	}
	return f, err
}

// undoneCallsWithInherited maps the ids of undone Calls to how they were undone: Calls of this process, and Calls that
// it inherited as a fork. For a forgotten process, the inherited ones are unknown.
func (c *Chain) undoneCallsWithInherited(ctx context.Context) (map[string]UndoneCall, error) {
	undoneByKey, _, err := c.undoneCalls(ctx)
	if err != nil {
		return nil, err
	}
	undoneCallByID := map[string]UndoneCall{}
	idea, err := c.load(ctx, "undo", 0)
	if err == nil {
		parsedIdea, _ := ideafile.ReadIdeaWithoutCheckingTools(idea)
		undoneCallByID, err = c.inheritedUndoneCalls(ctx, parsedIdea)
	}
	if errors.Is(err, ErrForgotten) {
		err = nil
	}
	for key, call := range undoneByKey {
		undoneCallByID[key.CallID] = call
	}
	return undoneCallByID, err
}

// inheritedUndoneCalls returns the undone Calls that a process inherited as a fork.
func (c *Chain) inheritedUndoneCalls(ctx context.Context,
	idea *ideafile.Idea) (undoneCallByID map[string]UndoneCall, err error) {
	undoneCallByID = map[string]UndoneCall{}
	forkOriginChain, ideaNumber, err := c.findForkOrigin(ctx, idea)
	if ideaNumber == 0 || err != nil {
		return undoneCallByID, err
	}
	if undoneByID, err := forkOriginChain.undoneCallsWithInherited(ctx); len(undoneByID) == 0 || err != nil {
		return undoneCallByID, err // the usual case: not all of its Ideas must be read then
	}
	f, err := c.readForkOrigin(ctx, idea)
	maps.Copy(undoneCallByID, f.undoneByCallID)
	forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
		if p.StatusByInstance[token] == ideafile.CallUndone {
			delete(undoneCallByID, p.CallKey().ID(token)) // its values were not there when the process began
		}
	})
	return undoneCallByID, err
}

// originProcessID returns the origin of the fork if the Call was done there, and not in the fork: the origin's chain,
// if it exists, must have it as done, and the fork's log must have no write of it. The two may use the same numbers for
// different Requests.
func (f forkOrigin) originProcessID(c undo.Call) string {
	if f.processID == "" || f.doneCallIDs != nil && !f.doneCallIDs[c.ID] || len(c.WrittenPaths) > 0 {
		return ""
	}
	return f.processID
}

// listUndoProcessIDs lists the processes that undo this process, or may, and the number for the next such process
// without a chosen id. It includes those that undo a part of it, or the whole that it is a part of.
func (c *Chain) listUndoProcessIDs(ctx context.Context) (ids []string, nextUndoNumber int, err error) {
	relatedIDs, err := c.listPartIDs(ctx)
	if wholeID := spelling.WholeProcessID(c.processID); wholeID != c.processID {
		relatedIDs = append(relatedIDs, wholeID)
	}
	for _, processID := range append(relatedIDs, c.processID) {
		if err == nil {
			var recordedIDs []string
			recordedIDs, err = (&Chain{c.chainStore, processID}).listRecordedUndoProcessIDs(ctx)
			ids = append(ids, recordedIDs...)
		}
	}
	nextUndoNumber = 1
	// A process that was ended before it began is not named in the store. Its number is not used again.
	for n, missingCount := 1, 0; missingCount < 2; n++ {
		undoProcessID := nthUndoProcessID(c.processID, n)
		if missingCount++; slices.Contains(ids, undoProcessID) {
			missingCount, nextUndoNumber = 0, n+1
		} else {
			ids = append(ids, undoProcessID)
		}
	}
	return ids, nextUndoNumber, err
}

// listPartIDs lists the processes of the parts, by the latest Idea.
func (c *Chain) listPartIDs(ctx context.Context) ([]string, error) {
	lastIdeaNumber, err := c.Length(ctx)
	if err != nil || lastIdeaNumber == 0 {
		return nil, err
	}
	link, err := c.chainStore.LinkAt(ctx, c.processID, lastIdeaNumber)
	return link.PartProcessIDs, err
}

// listRecordedUndoProcessIDs lists the processes that undo this process, without their parts.
func (c *Chain) listRecordedUndoProcessIDs(ctx context.Context) ([]string, error) {
	ids, err := c.chainStore.ListUndoingProcesses(ctx, c.processID)
	for n := range ids {
		ids[n] = spelling.WholeProcessID(ids[n])
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// UndoingProcessIDs lists the processes that have begun to undo what the process did.
func (c *Chain) UndoingProcessIDs(ctx context.Context) (ids []string, err error) {
	recordedIDs, err := c.listRecordedUndoProcessIDs(ctx)
	for n := 0; n < len(recordedIDs) && err == nil; n++ {
		var lastIdeaNumber int
		if lastIdeaNumber, err = c.chainStore.LatestIdeaNumber(ctx, recordedIDs[n]); lastIdeaNumber > 0 {
			ids = append(ids, recordedIDs[n])
		}
	}
	return ids, err
}

// undoneCalls returns which Calls of the process were undone, and by whom, and the number for the next undoing process.
func (c *Chain) undoneCalls(ctx context.Context) (undoneByKey map[ideafile.UndoneCall]UndoneCall, nextUndoNumber int,
	err error) {
	undoneByKey = map[ideafile.UndoneCall]UndoneCall{}
	ids, nextUndoNumber, err := c.listUndoProcessIDs(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, processID := range append(ids, c.processID) { // instances that failed may have undone their own Calls
		idea, err := (&Chain{c.chainStore, processID}).load(ctx, "read", 0)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
			continue // what a forgotten one undid is unknown: its idempotency key prevents a second effect
		}
		if err != nil {
			return nil, 0, err
		}
		if undoesMeta := jsonval.Lookup(idea, "meta", protocol.UndoesMetaKey); processID == c.processID &&
			undoesMeta != nil {
			continue // its undoing Calls undo another process
		}
		readUndoneCalls(processID, idea, undoneByKey)
	}
	maps.DeleteFunc(undoneByKey, func(undoneCallKey ideafile.UndoneCall, _ UndoneCall) bool {
		// The Call belongs to another part, or to the origin of the fork.
		return undoneCallKey.ProcessID != c.processID &&
			spelling.WholeProcessID(undoneCallKey.ProcessID) != c.processID
	})
	return undoneByKey, nextUndoNumber, nil
}

// readUndoneCalls reads from the latest Idea of a process which Calls it undid.
func readUndoneCalls(undoProcessID string, ideaSource jsonval.Object, undoneByKey map[ideafile.UndoneCall]UndoneCall) {
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(ideaSource)
	undoesMeta, createdAt := jsonval.AsObject(jsonval.Lookup(ideaSource, "meta", protocol.UndoesMetaKey)), ""
	if undoesMeta != nil {
		createdAt = jsonval.AsText(jsonval.Lookup(ideaSource, "meta", "createdAt"))
	}
	forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
		undoes := jsonval.AsObject(p.WrittenCall.RawObject()[ideafile.UndoesKey])
		key := ideafile.UndoneCall{ProcessID: jsonval.AsText(undoes["process"]), CallID: jsonval.AsText(undoes["call"])}
		// A Call counts if it undoes a Call of this process itself, or of the other process that this one undoes.
		if p.CallKey().IsUndo() == (undoesMeta == nil) && key.CallID != "" &&
			p.StatusByInstance[token] == ideafile.CallDone {
			undoneByKey[key] = UndoneCall{key.CallID, undoProcessID,
				cmp.Or(jsonval.AsText(undoes["by"]), jsonval.AsText(undoesMeta["by"]), "itself"),
				cmp.Or(jsonval.AsText(undoes["reason"]), jsonval.AsText(undoesMeta["reason"]), "it failed"), createdAt}
		}
	})
}

// UndoneCalls lists the undone Calls of the process, and those that it inherited as a fork, in the order of their
// ids.
func (c *Chain) UndoneCalls(ctx context.Context) ([]UndoneCall, error) {
	undoneByID, err := c.undoneCallsWithInherited(ctx)
	return slices.SortedFunc(maps.Values(undoneByID), UndoneCall.compare), err
}

func (u UndoneCall) compare(o UndoneCall) int {
	x, _ := ideafile.ParseCallKey(u.CallID)
	y, _ := ideafile.ParseCallKey(o.CallID)
	return cmp.Or(x.Compare(y), strings.Compare(u.CallID, o.CallID), strings.Compare(u.UndoID, o.UndoID))
}
