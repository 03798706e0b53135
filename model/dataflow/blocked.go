package dataflow

import (
	"cmp"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// blockFirstUnsatisfiableCall blocks the first waiting Call that can never become ready, and reports whether there was
// one. It blocks none while a Request is open, since that may still write any path. A Call that waits for an earlier
// writer is not blocked either, since its path may turn out closed.
func (i *Instance) blockFirstUnsatisfiableCall() bool {
	if i.HasOpenRequest() {
		return false
	}
	isSatisfiable, callToBlock := i.satisfiableCalls(), (*CallRecord)(nil)
	isDelaying := i.callsDelayingSkips()
	for _, rec := range i.callRecords {
		isBetterToBlock := callToBlock == nil || isDelaying[rec] && !isDelaying[callToBlock]
		mustWait := i.hasUnfinishedEarlierWriter(rec) || rec.hasPendingCondition()
		if rec.Status == ideafile.CallWaiting && isBetterToBlock && !isSatisfiable[rec] && !mustWait {
			callToBlock = rec
		}
	}
	if callToBlock != nil {
		callToBlock.endWithStatus(ideafile.CallBlocked, nil)
	}
	return callToBlock != nil
}

// callsDelayingSkips returns the Calls that must end before another Call can be skipped. They are blocked before
// others, so that a Call that comes after the skipped one may still run, as it would if the skip had had nothing to
// await.
func (i *Instance) callsDelayingSkips() map[*CallRecord]bool {
	isDelaying := map[*CallRecord]bool{}
	for _, rec := range i.callRecords {
		if rec.Status != ideafile.CallWaiting {
			continue
		}
		for _, earlier := range i.writersAwaitedByCondition(rec) {
			isDelaying[earlier] = true
		}
		if _, isClosed := i.authorClosingOutput(rec); isClosed {
			for earlier := range i.unfinishedEarlierWriters(rec) {
				isDelaying[earlier] = true
			}
		}
	}
	return isDelaying
}

// satisfiableCalls returns the largest set of unfinished Calls that can be satisfied one after the other: each Call
// sees its inputs, or a Call of the set writes them. Calls that only feed each other are not in it.
func (i *Instance) satisfiableCalls() map[*CallRecord]bool {
	isSatisfiable, unmetReadsByCall := map[*CallRecord]bool{}, map[*CallRecord][]writersByAlternativeAndTerm{}
	for _, rec := range i.callRecords {
		if rec.isUnstarted() {
			unmetReadsByCall[rec] = i.unmetReadWriters(rec)
		} else if !rec.Status.IsFinal() {
			isSatisfiable[rec] = true
		}
	}
	for hasChanged := true; hasChanged; {
		hasChanged = false
		for _, rec := range i.callRecords {
			if unmetReads, ok := unmetReadsByCall[rec]; ok && !isSatisfiable[rec] &&
				allReadsSatisfied(unmetReads, isSatisfiable) {
				isSatisfiable[rec], hasChanged = true, true
			}
		}
	}
	return isSatisfiable
}

// writersByAlternativeAndTerm describes an expression of which the reader sees no alternative. For each alternative,
// and for each absent term in it, it lists the Calls that may still write that term.
type writersByAlternativeAndTerm [][][]*CallRecord

func (i *Instance) unmetReadWriters(reader *CallRecord) []writersByAlternativeAndTerm {
	var list []writersByAlternativeAndTerm
	for _, w := range i.writersAwaitedByCondition(reader) {
		list = append(list, writersByAlternativeAndTerm{{i.withEarlierWriters([]*CallRecord{w})}})
	}
	for _, e := range reader.readExpressions {
		if i.visibleAlternativeIndex(reader, e) >= 0 {
			continue
		}
		var writersOfRead writersByAlternativeAndTerm
		for _, alternative := range e {
			var writersByTerm [][]*CallRecord
			for _, ref := range i.absentTerms(reader, alternative) {
				var termWriters []*CallRecord
				if isAwaitable(ref) {
					termWriters = i.unfinishedWriters(reader, ref)
				}
				if ref.Kind == awaitedCallKind {
					termWriters = i.withEarlierWriters(termWriters)
				}
				writersByTerm = append(writersByTerm, termWriters)
			}
			writersOfRead = append(writersOfRead, writersByTerm)
		}
		list = append(list, writersOfRead)
	}
	return list
}

// withEarlierWriters adds to Calls the earlier writers that may cause them to be skipped: a Call that comes after a
// skipped Call need not wait for it.
func (i *Instance) withEarlierWriters(calls []*CallRecord) []*CallRecord {
	writers := calls
	for _, w := range calls {
		writers = slices.AppendSeq(writers, i.unfinishedEarlierWriters(w))
	}
	return writers
}

// allReadsSatisfied reports whether the set has, for every unmet read, a writer of each absent term of one alternative.
func allReadsSatisfied(unmetReads []writersByAlternativeAndTerm, isSatisfiable map[*CallRecord]bool) bool {
	for _, unmet := range unmetReads {
		if !slices.ContainsFunc(unmet, func(writersByTerm [][]*CallRecord) bool {
			return everyTermHasWriter(writersByTerm, isSatisfiable)
		}) {
			return false
		}
	}
	return true
}

func everyTermHasWriter(writersByTerm [][]*CallRecord, isSatisfiable map[*CallRecord]bool) bool {
	for _, writers := range writersByTerm {
		if !slices.ContainsFunc(writers, func(w *CallRecord) bool { return isSatisfiable[w] }) {
			return false
		}
	}
	return true
}

// updateBlockedReasons words why each blocked Call of the latest Request is blocked. It words the reason again as long
// as Calls of that Request end, so that it depends on how they ended and not on when. If a person has since set all
// that was missing, the last reason stays.
func (i *Instance) updateBlockedReasons() {
	for _, rec := range i.callRecords {
		if rec.Status != ideafile.CallBlocked || !i.isInLatestRequest(rec) {
			continue
		}
		reason := i.blockedReason(rec)
		if reason == "" && rec.Fault != nil && i.readsCorrectedValue(rec) {
			continue
		}
		rec.Fault = diag.Faultf(ideafile.CodeBlocked, "%s", cmp.Or(reason, "what it reads was not there in time"))
	}
}

// readsCorrectedValue reports whether a person set a value on which a Call depends.
func (i *Instance) readsCorrectedValue(rec *CallRecord) bool {
	paths, _ := i.readPaths(rec)
	return slices.ContainsFunc(i.state.Writes(), func(w statelog.Write) bool {
		return w.CorrectionNumber > 0 && slices.ContainsFunc(paths, w.Path.Overlaps)
	})
}

func (i *Instance) blockedReason(rec *CallRecord) string {
	var reasons []string
	for _, e := range rec.readExpressions {
		if i.visibleAlternativeIndex(rec, e) >= 0 {
			continue
		}
		for _, alternative := range e {
			for _, ref := range i.absentTerms(rec, alternative) {
				reasons = jsonval.AppendNew(reasons, i.missingValueReason(rec, ref))
			}
		}
	}
	return strings.Join(reasons, "; ")
}

// awaitedCallNotDoneReason words why a Call that `_after` names is not done.
func (i *Instance) awaitedCallNotDoneReason(ref refexpr.Reference) string {
	callName := strings.Join(ref.Path, ".")
	if w := i.callOfReference(ref); w != nil {
		return "it is to come after " + callName + " (" + string(w.Status) + ")"
	}
	return "it is to come after " + callName + ", and there is no such Call"
}

func (i *Instance) missingValueReason(reader *CallRecord, ref refexpr.Reference) string {
	if ref.Kind == awaitedCallKind {
		return i.awaitedCallNotDoneReason(ref)
	}
	if ref.Kind != ideafile.TypeState {
		return ref.String() + " is not there"
	}
	reason, unfinishedWriterTexts, latestRequestNumber := " is not there and no Call writes it", []string{}, 0
	for _, w := range i.callRecords { // not the index: Calls that have ended count here
		switch {
		case !w.mayWrite(ref.Path):
		case w == reader:
			reason = " is written by the Call itself"
		case w.resultUpdatesPath() && !w.precedesInPlan(reader):
			if len(unfinishedWriterTexts) == 0 {
				return ref.String() + " is updated by " + w.ID + ", which stands behind the Call in the Plan"
			}
		case w.leftPathUnwrittenByBranch(ref.Path):
			reason = " is a branch that " + w.ID + " did not take"
		case w.Status == ideafile.CallDone:
			reason = " is not in what " + w.ID + " wrote"
		default:
			if w.Request > latestRequestNumber { // a reason that grows with each Request is never seen as a stall
				unfinishedWriterTexts, latestRequestNumber = nil, w.Request
			}
			unfinishedWriterTexts = append(unfinishedWriterTexts, w.ID+" ("+string(w.Status)+")")
		}
	}
	if len(unfinishedWriterTexts) > 0 {
		reason = " would come from " + strings.Join(unfinishedWriterTexts, " or ")
	}
	return ref.String() + reason
}
