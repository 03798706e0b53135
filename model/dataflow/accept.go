package dataflow

import (
	"cmp"
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// AcceptCall adds a Call of a Request, as the LLM wrote it, and reports whether it was new. A known Call, or a Call of
// a closed Request, changes nothing. A malformed Call is added as failed, so that the next Request reports why.
func (i *Instance) AcceptCall(requestNumber, callIndex int, call ideafile.WrittenCall) bool {
	return requestNumber > i.RefusedThroughRequest && i.AcceptRestOfRequest(requestNumber, callIndex, call)
}

// AcceptRestOfRequest is AcceptCall for a Call that the process hands out because the Request broke off before the
// Call had reached all its instances. RefusedThroughRequest does not apply to it.
func (i *Instance) AcceptRestOfRequest(requestNumber, callIndex int, call ideafile.WrittenCall) bool {
	key := ideafile.CallKey{Request: requestNumber, Index: callIndex}
	_, exists := i.findCallPosition(key)
	if exists || requestNumber <= i.ClosedThroughRequest {
		return false
	}
	i.isRequestOpen[requestNumber] = true
	i.insertCall(i.palette, key, call)
	return true
}

// findCallPosition returns the index of a Call in callRecords, or the index at which to insert it.
func (i *Instance) findCallPosition(key ideafile.CallKey) (index int, isFound bool) {
	return slices.BinarySearchFunc(i.callRecords, key,
		func(r *CallRecord, k ideafile.CallKey) int { return r.Key().Compare(k) })
}

// insertCall reads a Call and inserts its Record at its place in the Plan.
func (i *Instance) insertCall(palette ideafile.Palette, key ideafile.CallKey,
	writtenCall ideafile.WrittenCall) *CallRecord {
	call, _, f := palette.ReadCall(writtenCall)
	call.ID, call.Request, call.Index = key.ID(i.token), key.Request, key.Index
	if key.IsUndo() {
		call.OutputPath, call.OutputMethod = nil, "" // the existing value may be the one to undo
	}
	rec := &CallRecord{Call: call, CallState: turn.CallState{Status: ideafile.CallWaiting}, WrittenCall: writtenCall,
		ReviewReason: ideafile.UndoReviewReason(writtenCall)}
	if f == nil {
		f = i.prepareCall(rec)
	}
	if f != nil {
		rec.endWithStatus(ideafile.CallFailed, f)
	}
	index, _ := i.findCallPosition(key)
	i.callRecords = slices.Insert(i.callRecords, index, rec)
	return rec
}

// prepareCall checks what depends on the instance: References outside State must resolve, and the State schema
// must allow the output paths. It notes on the Record what the Call reads.
func (i *Instance) prepareCall(rec *CallRecord) *diag.Fault {
	var err error
	if rec.parsedParams, err = refexpr.Parse(rec.Params); err != nil {
		return diag.Faultf(ideafile.CodeBadReference, "%s", err)
	}
	for _, e := range rec.parsedParams.Expressions {
		if reason := i.unresolvableExpressionReason(e); reason != "" {
			return diag.Faultf(ideafile.CodeBadReference, "%s", reason)
		}
		if e.HasReferenceOfKind(ideafile.TypeState) {
			rec.readExpressions = append(rec.readExpressions, e)
		}
	}
	for _, reference := range rec.AfterReferences {
		if ref, err := refexpr.ParseReference(reference); err == nil {
			if ref.Kind != ideafile.TypeState {
				ref.Kind = awaitedCallKind
			}
			rec.readExpressions = append(rec.readExpressions, refexpr.Expression{{ref}})
		}
	}
	rec.scopePaths = rec.StateScopePaths()
	if t := ideafile.FindTool(i.palette.Tools, rec.Tool); t != nil {
		rec.delegateWritePaths = t.DelegateWritablePaths
	}
	for _, p := range slices.Concat(rec.OutputPath.Paths(), rec.delegateWritePaths) {
		if jsonschema.SubschemaAt(i.stateSchema, p).IsForbidden {
			return diag.Faultf(ideafile.CodeBadPath, "%s stands outside the closed State schema",
				refexpr.StateReference(p))
		}
	}
	return nil
}

// unresolvableExpressionReason returns why an expression can never resolve: each of its alternatives reads something
// outside State that does not exist. Otherwise it returns "". State may still grow, so terms in State do not count.
func (i *Instance) unresolvableExpressionReason(e refexpr.Expression) string {
	reason := ""
	for _, alternative := range e {
		termReason := ""
		for _, ref := range alternative {
			termReason = cmp.Or(termReason, i.unresolvableReferenceReason(ref))
		}
		if termReason == "" {
			return ""
		}
		reason = cmp.Or(reason, termReason)
	}
	return reason
}

func (i *Instance) unresolvableReferenceReason(ref refexpr.Reference) string {
	_, exists := i.contextView.PayloadByKind[ref.Kind]
	switch {
	case ref.Kind == ideafile.TypeState:
		return ""
	case !exists:
		return fmt.Sprintf("reference %s: the context has no %q", ref, ref.Kind)
	case i.visibilityOf(nil, ref) == visibilityAbsent:
		return fmt.Sprintf("reference %s: nothing there", ref)
	}
	return ""
}

// StopAcceptingCalls makes AcceptCall refuse the Calls of a Request and of all Requests before it. The Request stays
// open: AcceptRestOfRequest may still add Calls of it.
func (i *Instance) StopAcceptingCalls(requestNumber int) {
	if requestNumber > i.ClosedThroughRequest {
		i.isRequestOpen[requestNumber] = true
	}
	i.RefusedThroughRequest = max(i.RefusedThroughRequest, requestNumber)
}

// CloseRequest ends a Request and all Requests before it for this instance: none of their Calls is accepted any more.
func (i *Instance) CloseRequest(requestNumber int) {
	i.ClosedThroughRequest, i.RefusedThroughRequest = max(i.ClosedThroughRequest, requestNumber),
		max(i.RefusedThroughRequest, requestNumber)
	//workflowcheck:ignore -- the order of deletions does not matter
	for n := range i.isRequestOpen {
		if n <= i.ClosedThroughRequest {
			delete(i.isRequestOpen, n)
		}
	}
}
