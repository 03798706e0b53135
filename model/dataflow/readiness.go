package dataflow

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file holds the rules of section "State, references and readiness": who may start, who is skipped, who can never
// come.
//
// They make the outcome depend on the Plan and the results alone, never on which result came back first, and that by one
// idea: a Call moves only when whatever could still change what it sees, or whether its result has room, has ended. What
// is true of it then stays true, so it does not matter who else moves before it.

// sight is what a Call sees of what it reads.
type visibility int

const (
	absent  visibility = iota // nothing is there yet
	partial                   // pieces are there, written by Calls behind the reader: more may come
	stable                    // what is there does not change for this reader, once the Calls before it have ended
)

// see finds what a Call sees at a path of State: what the Calls before it in the Plan leave there; where they leave
// nothing, what write-once Calls behind it bring.
func (r *Instance) see(rec *Record, p jsonval.Path) (any, visibility) {
	if v, ok := refexpr.LookupIn(r.state.Before(rec.Request, rec.Index, p).Current, p); ok {
		return v, stable
	}
	state := r.state.SeenFrom(rec.Request, rec.Index, p)
	v, ok := refexpr.LookupIn(state.Current, p)
	switch {
	case !ok:
		return nil, absent
	case state.WrittenAbove(p):
		return v, stable
	}
	return v, partial
}

// mayMove says whether nothing can change any more what decides on a Call: whether it starts, is skipped, or lands.
func (r *Instance) canAdvance(rec *Record) bool {
	switch {
	case rec.phase == landing:
		return !r.held(rec)
	case rec.phase == approved, rec.phase == fitted:
		return true // it was ready when a person or the LLM was asked, and has held its path since
	case rec.phase != waiting, r.held(rec):
		return false
	}
	if _, closed := r.closedBy(rec); closed {
		return true
	}
	return r.seesAll(rec) && len(r.inTheWay(rec)) == 0
}

// held says whether an earlier Call that has not ended has a claim on the path.
func (r *Instance) held(rec *Record) bool {
	above := r.onlyAbove(rec)
	for _, earlier := range r.about(rec.claims()...) {
		if !earlier.before(rec) {
			return false
		}
		if earlier.holds(rec, above) {
			return true
		}
	}
	return false
}

// onlyAbove says whether a Call waits for none of the Calls that write its path but those that write above it: updates of
// one path run side by side. They land in Plan order, and are turned away only when all before them have ended.
func (r *Instance) onlyAbove(rec *Record) bool {
	_, closed := r.closedBy(rec)
	return rec.update() && rec.phase != landing && !closed
}

func (r *Record) holds(later *Record, onlyAbove bool) bool {
	if r.Status.Ended() {
		return false
	}
	for _, p := range later.claims() {
		if r.writes(p) && (!onlyAbove || r.writesAbove(p)) {
			return true
		}
	}
	return false
}

// noRoom says whether the output path of a Call is closed to it, and who closed it. Of several branches one that is closed
// says that the value is there already; an update finds no room where no branch has any.
func (r *Instance) closedBy(rec *Record) (by string, closed bool) {
	walled := len(rec.OutputPath) > 0
	for _, branch := range rec.OutputPath {
		if rec.update() {
			walled = walled && r.anyBlocked(branch)
		} else if by, closed := r.allClosed(branch); closed {
			return by, true
		}
	}
	return "", rec.update() && walled
}

// allClosed says whether a branch is closed: a value stands at each of its paths, or there will never be one at some. Where
// a value stands at some alone, the others are still to be written.
func (r *Instance) allClosed(branch []jsonval.Path) (by string, closed bool) {
	open := 0
	for _, p := range branch {
		writer, closed := r.state.Closed(p)
		switch _, there := jsonval.Lookup(r.state.Current, p); {
		case !closed:
			open++
		case !there:
			return writer, true
		case by == "":
			by = writer
		}
	}
	return by, open == 0
}

func (r *Instance) anyBlocked(branch []jsonval.Path) bool {
	for _, p := range branch {
		if r.state.BlockedAbove(p) {
			return true
		}
	}
	return false
}

// turnAway ends a Call whose path is closed. An update has failed: unlike a value that is there already, what it would
// have changed cannot be.
func (r *Instance) skipClosed(rec *Record, by string) {
	if rec.update() {
		rec.end(ideafile.Failed, diag.Faultf(ideafile.CodeBadPath, "%s: something other than an object stands above it",
			rec.OutputPath.Reference()))
		return
	}
	rec.end(ideafile.Skipped, nil)
	rec.By = by
}

// sees finds the first alternative of an expression of which a Call sees all; -1 where there is none.
func (r *Instance) sees(rec *Record, e refexpr.Expression) int {
	for i, all := range e {
		seen := true
		for _, ref := range all {
			if seen = r.visibilityOf(rec, ref) != absent; !seen {
				break
			}
		}
		if seen {
			return i
		}
	}
	return -1
}

// unseen lists the terms of which a Call sees nothing.
func (r *Instance) unseen(rec *Record, all []refexpr.Reference) []refexpr.Reference {
	var list []refexpr.Reference
	for _, ref := range all {
		if r.visibilityOf(rec, ref) == absent {
			list = append(list, ref)
		}
	}
	return list
}

func (r *Instance) visibilityOf(rec *Record, ref refexpr.Reference) visibility {
	if ref.Kind == ideafile.TypeState {
		_, how := r.see(rec, ref.Path)
		return how
	}
	if _, ok := r.outside(ref); ok {
		return stable
	}
	return absent
}

// mayCome says whether all that a Call does not see of an alternative may still come: each of it has a Call that may yet
// write it, or a Request that is still speaking.
func (r *Instance) mayCome(rec *Record, all []refexpr.Reference) bool {
	for _, ref := range r.unseen(rec, all) {
		if ref.Kind != ideafile.TypeState || !r.HasOpenRequest() && len(r.writersFor(rec, ref)) == 0 {
			return false
		}
	}
	return true
}

// writersFor lists the Calls that may yet write what a Call reads. An update behind the reader does not.
func (r *Instance) writersFor(reader *Record, ref refexpr.Reference) []*Record {
	var writers []*Record
	for _, w := range r.about(ref.Path) {
		if w != reader && !w.Status.Ended() && w.writes(ref.Path) && (!w.update() || w.before(reader)) {
			writers = append(writers, w)
		}
	}
	return writers
}

// seesAll says whether all that a Call reads is there. What is still growing counts when no Request is speaking: it could
// bring another piece, or what stands before it in an expression.
func (r *Instance) seesAll(rec *Record) bool {
	for _, e := range rec.reads {
		at := r.sees(rec, e)
		if at < 0 {
			return false
		}
		if !r.HasOpenRequest() {
			continue
		}
		for _, all := range e[:at] {
			if r.mayCome(rec, all) {
				return false
			}
		}
		for _, ref := range e[at] {
			if r.visibilityOf(rec, ref) == partial {
				return false
			}
		}
	}
	return true
}

// watched lists the paths of State that decide on what a Call is given: earlier Calls that write them are in its way, and
// those that write what it does not see finally, in open, wherever they stand.
func (r *Instance) watched(rec *Record) (paths, open []jsonval.Path) {
	for _, e := range rec.reads {
		for _, ref := range r.deciding(rec, e) {
			paths = append(paths, ref.Path)
			if r.visibilityOf(rec, ref) != stable {
				open = append(open, ref.Path)
			}
		}
	}
	return append(paths, rec.scoped...), open
}

// deciding lists the terms of an expression, in State, that decide on what it comes to: all of the alternative that is
// seen, and of those before it, which may yet come, what is missing.
func (r *Instance) deciding(rec *Record, e refexpr.Expression) []refexpr.Reference {
	at := 0
	if len(e) > 1 {
		at = r.sees(rec, e)
	}
	var list []refexpr.Reference
	for i, all := range e {
		switch {
		case i == at:
			list = append(list, all...)
		case (at < 0 || i < at) && r.mayCome(rec, all):
			list = append(list, r.unseen(rec, all)...)
		}
	}
	return slices.DeleteFunc(list, func(ref refexpr.Reference) bool { return ref.Kind != ideafile.TypeState })
}

// inTheWay lists the Calls that must end before a Call can move: earlier ones that write what it reads or where it
// writes, and later write-once ones of which it needs, or may yet see, a piece. A result that is there reads no more.
func (r *Instance) inTheWay(rec *Record) []*Record {
	var list []*Record
	above := r.onlyAbove(rec)
	var paths, open []jsonval.Path
	if rec.phase != landing {
		paths, open = r.watched(rec)
	}
	for _, w := range r.about(slices.Concat(rec.claims(), paths, open)...) {
		switch {
		case w == rec || w.Status.Ended():
		case w.before(rec) && (w.holds(rec, above) || w.writesAny(paths)),
			!w.before(rec) && !w.update() && w.writesAny(open):
			list = append(list, w)
		}
	}
	return list
}

func (r *Record) writesAny(paths []jsonval.Path) bool {
	for _, p := range paths {
		if r.writes(p) {
			return true
		}
	}
	return false
}
