package dataflow

import "slices"

// callToBreakDeadlock breaks a deadlock: of Calls that wait for each other, it returns the first in Plan order that has all
// inputs; else the first with a pending result; nil if there is no deadlock or a Request is open.
func (i *Instance) callToBreakDeadlock() *CallRecord {
	if i.HasOpenRequest() {
		return nil
	}
	waits := i.mutuallyWaitingCalls()
	var firstPending *CallRecord
	for _, rec := range i.callRecords {
		_, ok := waits[rec]
		switch {
		case !ok || !isInClosedWaitCycle(rec, waits):
		case rec.phase == resultPending && firstPending == nil:
			firstPending = rec
		case rec.phase != resultPending && len(i.unmetReadWriters(rec)) == 0:
			return rec
		}
	}
	return firstPending
}

// mutuallyWaitingCalls returns the Calls that wait only for each other, each with the Calls it waits for.
func (i *Instance) mutuallyWaitingCalls() map[*CallRecord][]*CallRecord {
	waits := map[*CallRecord][]*CallRecord{}
	for _, rec := range i.callRecords {
		if rec.phase == resultPending || rec.isUnstarted() {
			waits[rec] = i.awaitedCalls(rec)
		}
	}
	for freed := true; freed; {
		freed = false
		for _, rec := range i.callRecords {
			if list, ok := waits[rec]; ok && !allWaitOnEachOther(list, waits) {
				delete(waits, rec)
				freed = true
			}
		}
	}
	return waits
}

func allWaitOnEachOther(list []*CallRecord, set map[*CallRecord][]*CallRecord) bool {
	for _, rec := range list {
		if _, ok := set[rec]; !ok {
			return false
		}
	}
	return true
}

// isInClosedWaitCycle reports whether every Call that a Call waits for, directly or not, waits for the Call itself in turn.
func isInClosedWaitCycle(rec *CallRecord, waits map[*CallRecord][]*CallRecord) bool {
	//workflowcheck:ignore -- the order does not matter: all or not all
	for w := range allAwaitedCalls(rec, waits) {
		if !allAwaitedCalls(w, waits)[rec] {
			return false
		}
	}
	return true
}

// allAwaitedCalls returns the Calls that a Call waits for, directly or not.
func allAwaitedCalls(from *CallRecord, waits map[*CallRecord][]*CallRecord) map[*CallRecord]bool {
	seen := map[*CallRecord]bool{}
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
