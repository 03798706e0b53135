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
	As     string `json:"as"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// When is when the last Idea of As was made; empty for the process itself, whose log says when it undid what.
	When string `json:"when,omitempty"`
}

// forkOrigin is the process that another was forked from, with the Calls that were done by then.
type forkOrigin struct {
	process string
	done    map[string]bool // nil: its chain no longer exists
	undone  map[string]UndoneCall
}

// origin returns the chain that a process was forked from, and the number of the Idea there. The chain is empty if the
// process is no fork; the number is 0 if that Idea no longer exists.
func (c *Chain) origin(ctx context.Context, idea *ideafile.Idea) (of *Chain, at int, err error) {
	meta := jsonval.AsObject(idea.Source["meta"])
	origin := jsonval.AsObject(meta["origin"])
	of = &Chain{c.chains, jsonval.AsText(origin["process"])}
	if of.process == "" || meta[protocol.UndoesMeta] != nil { // an undoing process has done all its Calls itself
		return &Chain{}, 0, nil
	}
	if at, err = jsonval.ReadPositiveInt(origin["at"]); err != nil {
		return of, 0, fmt.Errorf("read from which Idea of %s a process was forked: %w", of.process, err)
	}
	if last, err := of.Length(ctx); err != nil || at > last || of.checkNotForgotten(ctx, last) != nil {
		return of, 0, err
	}
	return of, at, nil
}

func (c *Chain) forkedFrom(ctx context.Context, idea *ideafile.Idea) (f forkOrigin, err error) {
	of, at, err := c.origin(ctx, idea)
	if f.process = of.process; at == 0 || err != nil {
		return f, err
	}
	ends, err := of.endsByIdea(ctx)
	if err != nil {
		return f, err
	}
	f.done = map[string]bool{}
	f.undone, err = of.undoneHereOrBefore(ctx)
	for id, told := range ends[ideafile.Done] {
		if f.done[id] = told <= at; !f.done[id] {
			delete(f.undone, id)
		}
	}
	return f, err
}

// undoneHereOrBefore maps the ids of undone Calls to how they were undone: Calls of this process, and Calls that it
// inherited as a fork. For a forgotten process, the inherited ones are unknown.
func (c *Chain) undoneHereOrBefore(ctx context.Context) (map[string]UndoneCall, error) {
	made, _, err := c.undoneCalls(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[string]UndoneCall{}
	idea, err := c.load(ctx, "undo", 0)
	if err == nil {
		read, _ := ideafile.ReadIdeaWithCheckedTools(idea)
		byID, err = c.undoneBefore(ctx, read)
	}
	if errors.Is(err, ErrForgotten) {
		err = nil
	}
	for of, one := range made {
		byID[of.CallID] = one
	}
	return byID, err
}

// undoneBefore returns the undone Calls that a process inherited as a fork.
func (c *Chain) undoneBefore(ctx context.Context, idea *ideafile.Idea) (byID map[string]UndoneCall, err error) {
	byID = map[string]UndoneCall{}
	of, at, err := c.origin(ctx, idea)
	if at == 0 || err != nil {
		return byID, err
	}
	if any, err := of.undoneHereOrBefore(ctx); len(any) == 0 || err != nil {
		return byID, err // the usual case: not all of its Ideas must be read then
	}
	f, err := c.forkedFrom(ctx, idea)
	maps.Copy(byID, f.undone)
	eachRecorded(idea, func(p turn.RecordedCall, token string) {
		if p.StatusByInstance[token] == ideafile.Undone {
			delete(byID, p.CallKey().ID(token)) // its values were not there when the process began
		}
	})
	return byID, err
}

// processThatDid returns the origin of the fork if the Call was done there, and not in the fork: the origin's chain, if
// it exists, must have it as done, and the fork's log must have no write of it. The two may use the same numbers for
// different Requests.
func (f forkOrigin) processThatDid(c undo.Call) string {
	if f.process == "" || f.done != nil && !f.done[c.ID] || len(c.Writes) > 0 {
		return ""
	}
	return f.process
}

// undoings lists the processes that undo this process, or may, and the number for the next such process without a
// chosen id. It includes those that undo a part of it, or the whole that it is a part of.
func (c *Chain) undoings(ctx context.Context) (ids []string, next int, err error) {
	relatives, err := c.parts(ctx)
	if whole := spelling.WholeProcess(c.process); whole != c.process {
		relatives = append(relatives, whole)
	}
	for _, process := range append(relatives, c.process) {
		if err == nil {
			var of []string
			of, err = (&Chain{c.chains, process}).namedUndos(ctx)
			ids = append(ids, of...)
		}
	}
	next = 1
	// A process that was ended before it began is not named in the store. Its number is not used again.
	for n, missing := 1, 0; missing < 2; n++ {
		as := undoID(c.process, n)
		if missing++; slices.Contains(ids, as) {
			missing, next = 0, n+1
		} else {
			ids = append(ids, as)
		}
	}
	return ids, next, err
}

// parts lists the processes of the parts, by the latest Idea.
func (c *Chain) parts(ctx context.Context) ([]string, error) {
	last, err := c.Length(ctx)
	if err != nil || last == 0 {
		return nil, err
	}
	link, err := c.chains.LinkAt(ctx, c.process, last)
	return link.Parts, err
}

// namedUndos lists the processes that undo this process, without their parts.
func (c *Chain) namedUndos(ctx context.Context) ([]string, error) {
	ids, err := c.chains.NamedUndos(ctx, c.process)
	for n := range ids {
		ids[n] = spelling.WholeProcess(ids[n])
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// UndoneBy lists the processes that have begun to undo what the process did.
func (c *Chain) UndoneBy(ctx context.Context) (ids []string, err error) {
	all, err := c.namedUndos(ctx)
	for n := 0; n < len(all) && err == nil; n++ {
		var last int
		if last, err = c.chains.Latest(ctx, all[n]); last > 0 {
			ids = append(ids, all[n])
		}
	}
	return ids, err
}

// undoneCalls returns which Calls of the process were undone, and by whom, and the number for the next undoing process.
func (c *Chain) undoneCalls(ctx context.Context) (made map[ideafile.UndoneCall]UndoneCall, next int, err error) {
	made = map[ideafile.UndoneCall]UndoneCall{}
	ids, next, err := c.undoings(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, as := range append(ids, c.process) { // instances that failed may have undone their own Calls
		idea, err := (&Chain{c.chains, as}).load(ctx, "read", 0)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
			continue // what a forgotten one undid is unknown: its idempotency key prevents a second effect
		}
		if err != nil {
			return nil, 0, err
		}
		if of := jsonval.At(idea, "meta", protocol.UndoesMeta); as == c.process && of != nil {
			continue // its undoing Calls undo another process
		}
		readUndoneCalls(as, idea, made)
	}
	maps.DeleteFunc(made, func(of ideafile.UndoneCall, _ UndoneCall) bool {
		// The Call belongs to another part, or to the origin of the fork.
		return of.Process != c.process && spelling.WholeProcess(of.Process) != c.process
	})
	return made, next, nil
}

// readUndoneCalls reads from the latest Idea of a process which Calls it undid.
func readUndoneCalls(as string, source jsonval.Object, made map[ideafile.UndoneCall]UndoneCall) {
	idea, _ := ideafile.ReadIdeaWithCheckedTools(source)
	of, when := jsonval.AsObject(jsonval.At(source, "meta", protocol.UndoesMeta)), ""
	if of != nil {
		when = jsonval.AsText(jsonval.At(source, "meta", "createdAt"))
	}
	eachRecorded(idea, func(p turn.RecordedCall, token string) {
		what := jsonval.AsObject(p.WrittenCall.RawObject()[ideafile.UndoesKey])
		key := ideafile.UndoneCall{Process: jsonval.AsText(what["process"]), CallID: jsonval.AsText(what["call"])}
		// A Call counts if it undoes a Call of this process itself, or of the other process that this one undoes.
		if p.CallKey().IsUndo() == (of == nil) && key.CallID != "" && p.StatusByInstance[token] == ideafile.Done {
			made[key] = UndoneCall{key.CallID, as,
				cmp.Or(jsonval.AsText(what["by"]), jsonval.AsText(of["by"]), "itself"),
				cmp.Or(jsonval.AsText(what["reason"]), jsonval.AsText(of["reason"]), "it failed"), when}
		}
	})
}

// UndoneCalls lists the undone Calls of the process, and those that it inherited as a fork, in the order of their ids.
func (c *Chain) UndoneCalls(ctx context.Context) ([]UndoneCall, error) {
	made, err := c.undoneHereOrBefore(ctx)
	return slices.SortedFunc(maps.Values(made), UndoneCall.compare), err
}

func (u UndoneCall) compare(o UndoneCall) int {
	x, _ := ideafile.ParseCallKey(u.CallID)
	y, _ := ideafile.ParseCallKey(o.CallID)
	return cmp.Or(x.Compare(y), strings.Compare(u.CallID, o.CallID), strings.Compare(u.As, o.As))
}
