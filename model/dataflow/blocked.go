package dataflow

import (
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/refexpr"
)

// This file holds the rules for Calls that wait for something that will never come: the dead, which are blocked, and the
// knots of Calls that wait for each other, which are opened.

// blockDead blocks the first waiting Call that can never become ready. While a Request is still speaking it may yet write
// any path, and nobody is called dead; nor is a Call whose path is held, which may yet turn out to be closed.
func (r *Instance) blockDead() bool {
	if r.HasOpenRequest() {
		return false
	}
	alive := r.alive()
	for _, rec := range r.records {
		if rec.Status == ideafile.Waiting && !alive[rec] && !r.held(rec) {
			rec.end(ideafile.Blocked, nil)
			return true
		}
	}
	return false
}

// alive is the smallest set of unfinished Calls such that each finds what it reads, or a member that writes it. A cycle
// has no member.
func (r *Instance) alive() map[*Record]bool {
	alive, needs := map[*Record]bool{}, map[*Record][]need{}
	for _, rec := range r.records {
		if rec.unstarted() {
			needs[rec] = r.needs(rec)
		} else if !rec.Status.Ended() {
			alive[rec] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for _, rec := range r.records {
			if list, ok := needs[rec]; ok && !alive[rec] && allMet(list, alive) {
				alive[rec], grew = true, true
			}
		}
	}
	return alive
}

// need is an expression of which nothing is seen: for each alternative, for each of its terms that is missing, the Calls
// that may yet write it.
type need [][][]*Record

// needs lists what a Call needs and does not see.
func (r *Instance) needs(reader *Record) []need {
	var list []need
	for _, e := range reader.reads {
		if r.sees(reader, e) >= 0 {
			continue
		}
		var n need
		for _, all := range e {
			var writers [][]*Record
			for _, ref := range r.unseen(reader, all) {
				if ref.Kind == ideafile.TypeState {
					writers = append(writers, r.writersFor(reader, ref))
				} else {
					writers = append(writers, nil)
				}
			}
			n = append(n, writers)
		}
		list = append(list, n)
	}
	return list
}

// allMet says whether a set of Calls has for every need all the writers of one alternative.
func allMet(list []need, set map[*Record]bool) bool {
	for _, n := range list {
		met := false
		for _, alternative := range n {
			met = met || eachHasOne(alternative, set)
		}
		if !met {
			return false
		}
	}
	return true
}

func eachHasOne(lists [][]*Record, set map[*Record]bool) bool {
	for _, list := range lists {
		found := false
		for _, rec := range list {
			found = found || set[rec]
		}
		if !found {
			return false
		}
	}
	return true
}

// wordBlocked says of each blocked Call of the latest Request what it waits for. It is said anew as long as Calls of that
// Request end: why one is blocked then depends on how all the others ended, not on when. Where a person has set since all
// that was missing, the reason stays as it was.
func (r *Instance) wordBlocked() {
	r.skipUntaken()
	for _, rec := range r.records {
		if rec.Status != ideafile.Blocked || rec.Request != r.records[len(r.records)-1].Request {
			continue
		}
		if why := r.whyDead(rec); why != "" || rec.Fault == nil {
			rec.Fault = diag.Faultf(ideafile.CodeBlocked, "%s", why)
		}
	}
}

func (r *Instance) whyDead(rec *Record) string {
	var reasons []string
	for _, e := range rec.reads {
		if r.sees(rec, e) >= 0 {
			continue
		}
		for _, all := range e {
			for _, ref := range r.unseen(rec, all) {
				if why := r.whyMissing(rec, ref); !slices.Contains(reasons, why) {
					reasons = append(reasons, why)
				}
			}
		}
	}
	return strings.Join(reasons, "; ")
}

func (r *Instance) whyMissing(reader *Record, ref refexpr.Reference) string {
	if ref.Kind != ideafile.TypeState {
		return ref.String() + " is not there"
	}
	reason := " is not there and no Call writes it"
	for _, w := range r.records { // all: what one that has ended might have written counts here
		switch {
		case !w.writes(ref.Path):
		case w == reader:
			reason = " is written by the Call itself"
		case w.update() && !w.before(reader):
			return ref.String() + " is updated by " + w.ID + ", which stands behind the Call in the Plan"
		case w.leaves(ref.Path):
			reason = " is a branch that " + w.ID + " did not take"
		case w.Status == ideafile.Done:
			reason = " is not in what " + w.ID + " wrote"
		default:
			return ref.String() + " would come from " + w.ID + " (" + string(w.Status) + ")"
		}
	}
	return ref.String() + reason
}

// knot finds a Call that goes first although others are in its way, because they wait for it: whatever it waits for waits,
// through any number of Calls, for the Call itself. Of several it is the first in Plan order that has all it reads; a
// result that is there lands before its turn only when nobody else can go.
func (r *Instance) waitCycle() *Record {
	if r.HasOpenRequest() {
		return nil
	}
	stuck := r.stuck()
	var arrived *Record
	for _, rec := range r.records {
		_, ok := stuck[rec]
		switch {
		case !ok || !waitsForItself(rec, stuck):
		case rec.phase == landing && arrived == nil:
			arrived = rec
		case rec.phase != landing && len(r.needs(rec)) == 0:
			return rec
		}
	}
	return arrived
}

// stuck gives the Calls that wait for nothing but each other, each with those it waits for.
func (r *Instance) stuck() map[*Record][]*Record {
	waits := map[*Record][]*Record{}
	for _, rec := range r.records {
		if rec.phase == landing || rec.unstarted() {
			waits[rec] = r.inTheWay(rec)
		}
	}
	for freed := true; freed; {
		freed = false
		for _, rec := range r.records {
			if list, ok := waits[rec]; ok && !allIn(list, waits) {
				delete(waits, rec)
				freed = true
			}
		}
	}
	return waits
}

func allIn(list []*Record, set map[*Record][]*Record) bool {
	for _, rec := range list {
		if _, ok := set[rec]; !ok {
			return false
		}
	}
	return true
}

func waitsForItself(rec *Record, waits map[*Record][]*Record) bool {
	//workflowcheck:ignore -- all or not all, in any order
	for w := range reachable(rec, waits) {
		if !reachable(w, waits)[rec] {
			return false
		}
	}
	return true
}

// reachable is the Calls that a Call waits for, through any number of others.
func reachable(from *Record, waits map[*Record][]*Record) map[*Record]bool {
	seen := map[*Record]bool{}
	for todo := waits[from]; len(todo) > 0; {
		rec := todo[0]
		if todo = todo[1:]; !seen[rec] {
			seen[rec] = true
			todo = append(append([]*Record(nil), todo...), waits[rec]...)
		}
	}
	return seen
}
