package undo

import (
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// PlanInstanceUndo returns how an instance undoes what it did, or what the order selects of it, by its own records.
// delegateIDOf returns the id of the process that a Call ran.
func PlanInstanceUndo(instance *dataflow.Instance, processID string, o approval.UndoOrder,
	delegateIDOf func(callID string) string) dataflow.InstanceUndo {
	palette, _, token := instance.StartParameters()
	calls := CallsOfInstance(instance, palette.Tools)
	for n, rec := range instance.CallRecords() {
		c := &calls[n]
		c.ProcessID, c.InstanceToken = processID, token
		c.readRecord(instance, rec)
		if t := ideafile.FindTool(palette.Tools, c.Tool); t == nil {
			c.UndoMethod.Kind = ideafile.UndoImpossible
		} else if c.UndoMethod = t.EffectiveUndo(palette.BindingByTool[t.Name]); t.DelegateFile != "" {
			c.DelegateProcessID = delegateIDOf(c.ID)
		}
		// what it reads must still be there
		if undoTool := ideafile.FindTool(palette.Tools, c.UndoMethod.Tool); undoTool != nil {
			c.AfterReferences = append(c.AfterReferences, stateReferences(c.UndoMethod.Params, undoTool)...)
		}
	}
	findTool := func(_ Call, name string) *ideafile.Tool { return ideafile.FindTool(palette.Tools, name) }
	p, err := PlanUndo(calls, Selection{CallID: o.CallID, CallIDs: o.CallIDs, RequiresReview: o.RequiresReview},
		findTool,
		func(Call) any { return instance.State() })
	u := p.asInstanceUndo(o)
	if err != nil {
		u.NotUndoneReasons, u.EffectRemains = []string{err.Error()}, true
	}
	return u
}

// readRecord reads what ran, with its parameters and result, from the record of a Call.
func (c *Call) readRecord(instance *dataflow.Instance, rec *dataflow.CallRecord) {
	isAnswered := len(rec.Decisions) > 0 && rec.Decisions[len(rec.Decisions)-1].Kind == policy.Answer
	c.RanSuccessfully = rec.Status == ideafile.CallDone && !isAnswered && rec.SkippedBecauseOf == ""
	if rec.FaultWrittenToBranch != nil {
		c.SetFaultWrittenToBranch(rec.FaultWrittenToBranch)
	}
	if rec.IsFromEarlierProcess && rec.SkippedBecauseOf == "" {
		c.RanByProcessID = "another process"
	}
	isReopened := rec.Tool == "" // since the Call: the process keeps a Call's outcome, not how it was written
	if isReopened {
		c.AfterReferences = []refexpr.Reference{{Kind: ideafile.TypeState}} // it may have come after anything
		c.ToolOrParamsUnknownReason = "its instance was reopened since; take it back once the process has ended"
	}
	switch params, err := instance.ResolvedParams(rec); {
	case rec.ExecutedCall != nil:
		c.Tool, c.Params = rec.ExecutedCall.Tool, rec.ExecutedCall.Params
	case isReopened:
	case err != nil:
		c.ToolOrParamsUnknownReason = diag.WithoutPackagePrefix(err)
	case len(c.ReadPaths) > 0 && instance.IsCorrected():
		c.ToolOrParamsUnknownReason = "people have corrected what it may have read"
	default:
		c.Params = rec.ParamsAdaptation.ApplyTo(params)
	}
	if c.Result, c.StartLogicalTime, c.EndLogicalTime = rec.Result, rec.StartLogicalTime,
		rec.EndLogicalTime; isReopened {
		c.StartLogicalTime = 1 // before all Calls that ended since
	}
	for _, w := range instance.StateWrites() {
		if (ideafile.CallKey{Request: w.Request, Index: w.Index}) == c.Key && w.CorrectionNumber == 0 {
			c.Result = w.Value
			if rec.Result != nil && len(w.Path) == 0 {
				c.Result = jsonval.OverlayObject(w.Value, rec.Result) // with the keys that were not written to State
			}
		}
	}
}

// asInstanceUndo returns the Plan as one instance carries it out.
func (p Plan) asInstanceUndo(o approval.UndoOrder) dataflow.InstanceUndo {
	u := dataflow.InstanceUndo{RequestedBy: o.RequestedBy, Reason: o.Reason,
		EffectRemains: len(p.IrreversibleCalls) > 0}
	for _, s := range p.Steps {
		call := s.RawCall(func(id string) ideafile.CallKey {
			undoneKey, _ := ideafile.ParseCallKey(id)
			return undoneKey.UndoKey()
		},
			o.RequiresReview)
		if o.RequestedBy != "" {
			call[ideafile.UndoesKey] = jsonval.OverlayObject(call[ideafile.UndoesKey],
				jsonval.Object{"by": o.RequestedBy, "reason": o.Reason})
		}
		u.UndoCalls = append(u.UndoCalls, dataflow.UndoCall{UndoneCallKey: s.OriginalCall.Key,
			Call: ideafile.ParseWrittenCall(call)})
	}
	for _, id := range p.CallIDsToWithdraw {
		key, _ := ideafile.ParseCallKey(id)
		u.CallKeysToWithdraw = append(u.CallKeysToWithdraw, key)
	}
	for _, list := range [][]NotUndoneCall{p.IrreversibleCalls, p.KeptCalls} {
		for _, l := range list {
			u.NotUndoneReasons = append(u.NotUndoneReasons, l.OriginalCall.Name()+": "+l.Reason)
		}
	}
	return u
}

// RawCall returns the step as a Call of a Plan that runs directly. undoKeyOf returns the key of the Call that undoes
// the Call with an id; requiresReview makes a person review the step first.
func (s Step) RawCall(undoKeyOf func(callID string) ideafile.CallKey, requiresReview bool) jsonval.Object {
	undoneCall := jsonval.Object{"process": s.ProcessID, "call": s.CallID}
	if requiresReview {
		undoneCall[ideafile.UndoReviewKey] = true
	}
	call := jsonval.Object{"_tool": s.Tool, ideafile.UndoesKey: undoneCall}
	//workflowcheck:ignore -- a map again
	for name, v := range s.Params {
		call[name] = refexpr.EscapeDaggers(v)
	}
	if len(s.AfterCallIDs) > 0 {
		var afterReferences []any
		for _, id := range s.AfterCallIDs {
			afterReferences = append(afterReferences, refexpr.Dagger+"call."+undoKeyOf(id).ID(""))
		}
		call["_after"] = afterReferences
	}
	return call
}
