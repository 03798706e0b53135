package model

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
	case rec.cleared:
		return true // it was ready when a person was asked, and has held its path since
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
	for _, earlier := range r.records {
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
	if r.Status.Ended() || later.OutputPath == nil || !r.writes(*later.OutputPath) {
		return false
	}
	for _, p := range later.claims() {
		if r.writes(p) && (!onlyAbove || len(*r.OutputPath) < len(p)) {
			return true
		}
	}
	return false
}

// noRoom says whether the path of a Call is closed to it, and who closed it.
func (r *Run) noRoom(rec *Record) (by string, closed bool) {
	switch {
	case rec.OutputPath == nil:
		return "", false
	case rec.update():
		return "", r.state.blockedAbove(*rec.OutputPath)
	}
	return r.state.Closed(*rec.OutputPath)
}

// turnAway ends a Call whose path is closed. An update has failed: unlike a value that is there already, what it would
// have changed cannot be.
func (r *Run) turnAway(rec *Record, by string) {
	if rec.update() {
		rec.end(Failed, fault(CodeBadPath, "%s: something other than an object stands above it",
			Reference{TypeState, *rec.OutputPath}))
		return
	}
	rec.end(Skipped, nil)
	rec.By = by
}

// seesAll says whether all that a Call reads is there. What is still growing counts when no Request is speaking: it could
// bring another piece.
func (r *Run) seesAll(rec *Record) bool {
	for _, ref := range rec.reads {
		if _, how := r.see(rec, ref.Path); how == absent || how == growing && r.Listening() {
			return false
		}
	}
	return true
}

// inTheWay lists the Calls that must end before a Call can move: earlier ones that write what it reads or where it
// writes, and later write-once ones of which it needs, or may yet see, a piece. A result that is there reads no more.
func (r *Run) inTheWay(rec *Record) []*Record {
	var list []*Record
	above := r.onlyAbove(rec)
	var open []Path // what it reads and does not see finally
	for _, ref := range rec.reads {
		if _, how := r.see(rec, ref.Path); how != final && !rec.Arrived {
			open = append(open, ref.Path)
		}
	}
	for _, w := range r.records {
		switch {
		case w == rec || w.Status.Ended():
		case w.before(rec) && (w.holds(rec, above) || !rec.Arrived && w.writesFor(rec)),
			!w.before(rec) && !w.update() && w.writesAny(open):
			list = append(list, w)
		}
	}
	return list
}

// writesFor says whether a Call writes what another reads or has in its scopes.
func (r *Record) writesFor(reader *Record) bool {
	for _, ref := range reader.reads {
		if r.writes(ref.Path) {
			return true
		}
	}
	return r.writesAny(reader.scoped)
}

func (r *Record) writesAny(paths []Path) bool {
	for _, p := range paths {
		if r.writes(p) {
			return true
		}
	}
	return false
}
