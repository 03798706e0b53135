package dataflow

import "slices"

// firstInWaitCycle returns the Call that goes first among Calls that wait for each other, or nil: the first in Plan order that
// sees all it reads. A pending result is applied out of turn only where no such Call exists.
func (i *Instance) firstInWaitCycle() *Record {
	if i.HasOpenRequest() {
		return nil
	}
	waits := i.mutuallyWaiting()
	var firstPending *Record
	for _, rec := range i.records {
		_, ok := waits[rec]
		switch {
		case !ok || !inClosedCycle(rec, waits):
		case rec.phase == resultPending && firstPending == nil:
			firstPending = rec
		case rec.phase != resultPending && len(i.unmetReads(rec)) == 0:
			return rec
		}
	}
	return firstPending
}

// mutuallyWaiting returns the Calls that wait only for each other, each with the Calls it waits for.
func (i *Instance) mutuallyWaiting() map[*Record][]*Record {
	waits := map[*Record][]*Record{}
	for _, rec := range i.records {
		if rec.phase == resultPending || rec.isUnstarted() {
			waits[rec] = i.waitsFor(rec)
		}
	}
	for freed := true; freed; {
		freed = false
		for _, rec := range i.records {
			if list, ok := waits[rec]; ok && !allKeysOf(list, waits) {
				delete(waits, rec)
				freed = true
			}
		}
	}
	return waits
}

func allKeysOf(list []*Record, set map[*Record][]*Record) bool {
	for _, rec := range list {
		if _, ok := set[rec]; !ok {
			return false
		}
	}
	return true
}

// inClosedCycle reports whether every Call that a Call waits for, directly or not, waits for the Call itself in turn.
func inClosedCycle(rec *Record, waits map[*Record][]*Record) bool {
	//workflowcheck:ignore -- the order does not matter: all or not all
	for w := range transitiveWaits(rec, waits) {
		if !transitiveWaits(w, waits)[rec] {
			return false
		}
	}
	return true
}

// transitiveWaits returns the Calls that a Call waits for, directly or not.
func transitiveWaits(from *Record, waits map[*Record][]*Record) map[*Record]bool {
	seen := map[*Record]bool{}
	todo := slices.Clone(waits[from])
	for len(todo) > 0 {
		rec := todo[0]
		todo = todo[1:]
		if !seen[rec] {
			seen[rec] = true
			todo = append(todo, waits[rec]...)
		}
	}
	return seen
}
