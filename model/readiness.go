package model

import "slices"

// This file holds the rules of section "State, references and readiness": who may start, who is skipped, who can never
// come.
//
// They make the outcome depend on the Plan and the results alone, never on which result came back first, and that by one
// idea: a Call moves only when whatever could still change what it sees, or whether its result has room, has ended. What
// is true of it then stays true, so it does not matter who else moves before it.

// sight is what a Call sees of what it reads.
type sight int

const (
	absent  sight = iota // nothing is there yet
	growing              // pieces are there, written by Calls behind the reader: more may come
	final                // what is there does not change for this reader, once the Calls before it have ended
)

// see finds what a Call sees at a path of State: what the Calls before it in the Plan leave there; where they leave
// nothing, what write-once Calls behind it bring.
func (r *Run) see(rec *Record, p Path) (any, sight) {
	if v, ok := lookupIn(r.state.before(rec.Request, rec.Index, p).now, p); ok {
		return v, final
	}
	state := r.state.seenFrom(rec.Request, rec.Index, p)
	v, ok := lookupIn(state.now, p)
	switch {
	case !ok:
		return nil, absent
	case state.writtenAbove(p):
		return v, final
	}
	return v, growing
}

// mayMove says whether nothing can change any more what decides on a Call: whether it starts, is skipped, or lands.
func (r *Run) mayMove(rec *Record) bool {
	switch {
	case rec.Arrived:
		return !r.held(rec)
	case rec.Status != Waiting || rec.Asking:
		return false
	case rec.cleared, rec.Adapted.answered():
		return true // it was ready when a person or the LLM was asked, and has held its path since
	case r.held(rec):
		return false
	}
	if _, closed := r.noRoom(rec); closed {
		return true
	}
	return r.seesAll(rec) && len(r.inTheWay(rec)) == 0
}

// held says whether an earlier Call that has not ended has a claim on the path.
func (r *Run) held(rec *Record) bool {
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
func (r *Run) onlyAbove(rec *Record) bool {
	_, closed := r.noRoom(rec)
	return rec.update() && !rec.Arrived && !closed
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
func (r *Run) noRoom(rec *Record) (by string, closed bool) {
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
func (r *Run) allClosed(branch []Path) (by string, closed bool) {
	open := 0
	for _, p := range branch {
		writer, closed := r.state.Closed(p)
		switch _, there := Lookup(r.state.now, p); {
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

func (r *Run) anyBlocked(branch []Path) bool {
	for _, p := range branch {
		if r.state.blockedAbove(p) {
			return true
		}
	}
	return false
}

// turnAway ends a Call whose path is closed. An update has failed: unlike a value that is there already, what it would
// have changed cannot be.
func (r *Run) turnAway(rec *Record, by string) {
	if rec.update() {
		rec.end(Failed, fault(CodeBadPath, "%s: something other than an object stands above it",
			rec.OutputPath.Reference()))
		return
	}
	rec.end(Skipped, nil)
	rec.By = by
}

// sees finds the first alternative of an expression of which a Call sees all; -1 where there is none.
func (r *Run) sees(rec *Record, e Expression) int {
	for i, all := range e {
		seen := true
		for _, ref := range all {
			if seen = r.sightOf(rec, ref) != absent; !seen {
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
func (r *Run) unseen(rec *Record, all []Reference) []Reference {
	var list []Reference
	for _, ref := range all {
		if r.sightOf(rec, ref) == absent {
			list = append(list, ref)
		}
	}
	return list
}

func (r *Run) sightOf(rec *Record, ref Reference) sight {
	if ref.Kind == TypeState {
		_, how := r.see(rec, ref.Path)
		return how
	}
	if _, ok := r.outside(ref); ok {
		return final
	}
	return absent
}

// mayCome says whether all that a Call does not see of an alternative may still come: each of it has a Call that may yet
// write it, or a Request that is still speaking.
func (r *Run) mayCome(rec *Record, all []Reference) bool {
	for _, ref := range r.unseen(rec, all) {
		if ref.Kind != TypeState || !r.Listening() && len(r.writersFor(rec, ref)) == 0 {
			return false
		}
	}
	return true
}

// writersFor lists the Calls that may yet write what a Call reads. An update behind the reader does not.
func (r *Run) writersFor(reader *Record, ref Reference) []*Record {
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
func (r *Run) seesAll(rec *Record) bool {
	for _, e := range rec.reads {
		at := r.sees(rec, e)
		if at < 0 {
			return false
		}
		if !r.Listening() {
			continue
		}
		for _, all := range e[:at] {
			if r.mayCome(rec, all) {
				return false
			}
		}
		for _, ref := range e[at] {
			if r.sightOf(rec, ref) == growing {
				return false
			}
		}
	}
	return true
}

// watched lists the paths of State that decide on what a Call is given: earlier Calls that write them are in its way, and
// those that write what it does not see finally, in open, wherever they stand.
func (r *Run) watched(rec *Record) (paths, open []Path) {
	for _, e := range rec.reads {
		for _, ref := range r.deciding(rec, e) {
			paths = append(paths, ref.Path)
			if r.sightOf(rec, ref) != final {
				open = append(open, ref.Path)
			}
		}
	}
	return append(paths, rec.scoped...), open
}

// deciding lists the terms of an expression, in State, that decide on what it comes to: all of the alternative that is
// seen, and of those before it, which may yet come, what is missing.
func (r *Run) deciding(rec *Record, e Expression) []Reference {
	at := 0
	if len(e) > 1 {
		at = r.sees(rec, e)
	}
	var list []Reference
	for i, all := range e {
		switch {
		case i == at:
			list = append(list, all...)
		case (at < 0 || i < at) && r.mayCome(rec, all):
			list = append(list, r.unseen(rec, all)...)
		}
	}
	return slices.DeleteFunc(list, func(ref Reference) bool { return ref.Kind != TypeState })
}

// inTheWay lists the Calls that must end before a Call can move: earlier ones that write what it reads or where it
// writes, and later write-once ones of which it needs, or may yet see, a piece. A result that is there reads no more.
func (r *Run) inTheWay(rec *Record) []*Record {
	var list []*Record
	above := r.onlyAbove(rec)
	var paths, open []Path
	if !rec.Arrived {
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

func (r *Record) writesAny(paths []Path) bool {
	for _, p := range paths {
		if r.writes(p) {
			return true
		}
	}
	return false
}
