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
	// UndoneAt is when the last Idea of As was made; empty for the process itself, whose log says when it undid what.
	UndoneAt string `json:"when,omitempty"`
}

// forkOrigin is the process that another was forked from, with the Calls that were done by then.
type forkOrigin struct {
	process        string
	doneCallIDs    map[string]bool // nil: its chain no longer exists
	undoneByCallID map[string]UndoneCall
}

// findOrigin returns the chain that a process was forked from, and the number of the Idea there. The chain is empty if
// the process is no fork; the number is 0 if that Idea no longer exists.
func (c *Chain) findOrigin(ctx context.Context, idea *ideafile.Idea) (source *Chain, number int, err error) {
	meta := jsonval.AsObject(idea.Source["meta"])
	origin := jsonval.AsObject(meta["origin"])
	source = &Chain{c.chainStore, jsonval.AsText(origin["process"])}
	if source.process == "" || meta[protocol.UndoesMeta] != nil { // an undoing process has done all its Calls itself
		return &Chain{}, 0, nil
	}
	if number, err = jsonval.ReadPositiveInt(origin["at"]); err != nil {
		return source, 0, fmt.Errorf("read from which Idea of %s a process was forked: %w", source.process, err)
	}
	if last, err := source.Length(ctx); err != nil || number > last || source.checkNotForgotten(ctx, last) != nil {
		return source, 0, err
	}
	return source, number, nil
}

func (c *Chain) readForkOrigin(ctx context.Context, idea *ideafile.Idea) (f forkOrigin, err error) {
	source, number, err := c.findOrigin(ctx, idea)
	if f.process = source.process; number == 0 || err != nil {
		return f, err
	}
	endIdeas, err := source.firstEndIdeaByCall(ctx)
	if err != nil {
		return f, err
	}
	f.doneCallIDs = map[string]bool{}
	f.undoneByCallID, err = source.undoneWithOrigin(ctx)
	for id, endIdea := range endIdeas[ideafile.Done] {
		if f.doneCallIDs[id] = endIdea <= number; !f.doneCallIDs[id] {
			delete(f.undoneByCallID, id)
		}
	}
	return f, err
}

// undoneWithOrigin maps the ids of undone Calls to how they were undone: Calls of this process, and Calls that it
// inherited as a fork. For a forgotten process, the inherited ones are unknown.
func (c *Chain) undoneWithOrigin(ctx context.Context) (map[string]UndoneCall, error) {
	undoneByKey, _, err := c.undoneCalls(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[string]UndoneCall{}
	idea, err := c.load(ctx, "undo", 0)
	if err == nil {
		parsed, _ := ideafile.ReadIdeaWithoutCheckingTools(idea)
		byID, err = c.undoneInOrigin(ctx, parsed)
	}
	if errors.Is(err, ErrForgotten) {
		err = nil
	}
	for key, call := range undoneByKey {
		byID[key.CallID] = call
	}
	return byID, err
}

// undoneInOrigin returns the undone Calls that a process inherited as a fork.
func (c *Chain) undoneInOrigin(ctx context.Context, idea *ideafile.Idea) (byID map[string]UndoneCall, err error) {
	byID = map[string]UndoneCall{}
	source, number, err := c.findOrigin(ctx, idea)
	if number == 0 || err != nil {
		return byID, err
	}
	if undone, err := source.undoneWithOrigin(ctx); len(undone) == 0 || err != nil {
		return byID, err // the usual case: not all of its Ideas must be read then
	}
	f, err := c.readForkOrigin(ctx, idea)
	maps.Copy(byID, f.undoneByCallID)
	forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
		if p.StatusByInstance[token] == ideafile.Undone {
			delete(byID, p.CallKey().ID(token)) // its values were not there when the process began
		}
	})
	return byID, err
}

// originOfCall returns the origin of the fork if the Call was done there, and not in the fork: the origin's chain, if
// it exists, must have it as done, and the fork's log must have no write of it. The two may use the same numbers for
// different Requests.
func (f forkOrigin) originOfCall(c undo.Call) string {
	if f.process == "" || f.doneCallIDs != nil && !f.doneCallIDs[c.ID] || len(c.WrittenPaths) > 0 {
		return ""
	}
	return f.process
}

// listUndoProcesses lists the processes that undo this process, or may, and the number for the next such process
// without a chosen id. It includes those that undo a part of it, or the whole that it is a part of.
func (c *Chain) listUndoProcesses(ctx context.Context) (ids []string, nextUndoNumber int, err error) {
	partsAndWhole, err := c.listParts(ctx)
	if whole := spelling.WholeProcessID(c.process); whole != c.process {
		partsAndWhole = append(partsAndWhole, whole)
	}
	for _, process := range append(partsAndWhole, c.process) {
		if err == nil {
			var named []string
			named, err = (&Chain{c.chainStore, process}).listRecordedUndoingProcesses(ctx)
			ids = append(ids, named...)
		}
	}
	nextUndoNumber = 1
	// A process that was ended before it began is not named in the store. Its number is not used again.
	for n, missing := 1, 0; missing < 2; n++ {
		undoProcess := undoID(c.process, n)
		if missing++; slices.Contains(ids, undoProcess) {
			missing, nextUndoNumber = 0, n+1
		} else {
			ids = append(ids, undoProcess)
		}
	}
	return ids, nextUndoNumber, err
}

// listParts lists the processes of the parts, by the latest Idea.
func (c *Chain) listParts(ctx context.Context) ([]string, error) {
	last, err := c.Length(ctx)
	if err != nil || last == 0 {
		return nil, err
	}
	link, err := c.chainStore.LinkAt(ctx, c.process, last)
	return link.Parts, err
}

// listRecordedUndoingProcesses lists the processes that undo this process, without their parts.
func (c *Chain) listRecordedUndoingProcesses(ctx context.Context) ([]string, error) {
	ids, err := c.chainStore.ListUndoingProcesses(ctx, c.process)
	for n := range ids {
		ids[n] = spelling.WholeProcessID(ids[n])
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// UndoingProcesses lists the processes that have begun to undo what the process did.
func (c *Chain) UndoingProcesses(ctx context.Context) (ids []string, err error) {
	all, err := c.listRecordedUndoingProcesses(ctx)
	for n := 0; n < len(all) && err == nil; n++ {
		var last int
		if last, err = c.chainStore.LatestNumber(ctx, all[n]); last > 0 {
			ids = append(ids, all[n])
		}
	}
	return ids, err
}

// undoneCalls returns which Calls of the process were undone, and by whom, and the number for the next undoing process.
func (c *Chain) undoneCalls(ctx context.Context) (undoneByKey map[ideafile.UndoneCall]UndoneCall, nextUndoNumber int, err error) {
	undoneByKey = map[ideafile.UndoneCall]UndoneCall{}
	ids, nextUndoNumber, err := c.listUndoProcesses(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, process := range append(ids, c.process) { // instances that failed may have undone their own Calls
		idea, err := (&Chain{c.chainStore, process}).load(ctx, "read", 0)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
			continue // what a forgotten one undid is unknown: its idempotency key prevents a second effect
		}
		if err != nil {
			return nil, 0, err
		}
		if undoesMeta := jsonval.Lookup(idea, "meta", protocol.UndoesMeta); process == c.process && undoesMeta != nil {
			continue // its undoing Calls undo another process
		}
		readUndoneCalls(process, idea, undoneByKey)
	}
	maps.DeleteFunc(undoneByKey, func(undoesMeta ideafile.UndoneCall, _ UndoneCall) bool {
		// The Call belongs to another part, or to the origin of the fork.
		return undoesMeta.ProcessID != c.process && spelling.WholeProcessID(undoesMeta.ProcessID) != c.process
	})
	return undoneByKey, nextUndoNumber, nil
}

// readUndoneCalls reads from the latest Idea of a process which Calls it undid.
func readUndoneCalls(undoProcess string, source jsonval.Object, undoneByKey map[ideafile.UndoneCall]UndoneCall) {
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(source)
	meta, createdAt := jsonval.AsObject(jsonval.Lookup(source, "meta", protocol.UndoesMeta)), ""
	if meta != nil {
		createdAt = jsonval.AsText(jsonval.Lookup(source, "meta", "createdAt"))
	}
	forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
		undoes := jsonval.AsObject(p.WrittenCall.RawObject()[ideafile.UndoesKey])
		key := ideafile.UndoneCall{ProcessID: jsonval.AsText(undoes["process"]), CallID: jsonval.AsText(undoes["call"])}
		// A Call counts if it undoes a Call of this process itself, or of the other process that this one undoes.
		if p.CallKey().IsUndo() == (meta == nil) && key.CallID != "" && p.StatusByInstance[token] == ideafile.Done {
			undoneByKey[key] = UndoneCall{key.CallID, undoProcess,
				cmp.Or(jsonval.AsText(undoes["by"]), jsonval.AsText(meta["by"]), "itself"),
				cmp.Or(jsonval.AsText(undoes["reason"]), jsonval.AsText(meta["reason"]), "it failed"), createdAt}
		}
	})
}

// UndoneCalls lists the undone Calls of the process, and those that it inherited as a fork, in the order of their ids.
func (c *Chain) UndoneCalls(ctx context.Context) ([]UndoneCall, error) {
	undone, err := c.undoneWithOrigin(ctx)
	return slices.SortedFunc(maps.Values(undone), UndoneCall.compare), err
}

func (u UndoneCall) compare(o UndoneCall) int {
	x, _ := ideafile.ParseCallKey(u.CallID)
	y, _ := ideafile.ParseCallKey(o.CallID)
	return cmp.Or(x.Compare(y), strings.Compare(u.CallID, o.CallID), strings.Compare(u.UndoID, o.UndoID))
}
