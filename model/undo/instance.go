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

// OfInstance returns how an instance undoes what it did, or what the order selects of it, by its own records.
// delegateID returns the id of the process that a Call ran.
func OfInstance(flow *dataflow.Instance, process string, o approval.UndoOrder,
	delegateID func(callID string) string) dataflow.Undoing {
	palette, _, token := flow.StartParameters()
	calls := CallsOf(flow, palette.Tools)
	for n, rec := range flow.CallRecords() {
		c := &calls[n]
		c.Process, c.Instance = process, token
		c.readRecord(flow, rec)
		if t := ideafile.FindTool(palette.Tools, c.Tool); t == nil {
			c.Method.Kind = ideafile.UndoNever
		} else if c.Method = t.UndoUnder(palette.BindingByTool[t.Name]); t.DelegateFile != "" {
			c.Delegate = delegateID(c.ID)
		}
		if by := ideafile.FindTool(palette.Tools, c.Method.Tool); by != nil { // what it reads must still be there
			c.After = append(c.After, stateReferences(c.Method.Params, by)...)
		}
	}
	find := func(_ Call, name string) *ideafile.Tool { return ideafile.FindTool(palette.Tools, name) }
	p, err := Invert(calls, Choice{CallID: o.Call, CallIDs: o.Calls, Review: o.Review}, find,
		func(Call) any { return flow.State() })
	u := p.asUndoing(o)
	if err != nil {
		u.NotUndone, u.Stays = []string{err.Error()}, true
	}
	return u
}

// readRecord reads what ran, with its parameters and result, from the record of a Call.
func (c *Call) readRecord(flow *dataflow.Instance, rec *dataflow.CallRecord) {
	answered := len(rec.Decisions) > 0 && rec.Decisions[len(rec.Decisions)-1].Kind == policy.Answer
	c.Ran = rec.Status == ideafile.Done && !answered && rec.SkippedBecauseOf == ""
	if rec.FaultWrittenToBranch != nil {
		c.WroteFault(rec.FaultWrittenToBranch)
	}
	if rec.FromEarlierProcess && rec.SkippedBecauseOf == "" {
		c.DoneBefore = "another process"
	}
	reopened := rec.Tool == "" // since the Call: the process keeps a Call's outcome, not how it was written
	if reopened {
		c.After = []refexpr.Reference{{Kind: ideafile.TypeState}} // it may have come after anything
		c.NotKnown = "its instance was reopened since; take it back once the process has ended"
	}
	switch params, err := flow.ResolvedParams(rec); {
	case rec.RanCall != nil:
		c.Tool, c.Params = rec.RanCall.Tool, rec.RanCall.Params
	case reopened:
	case err != nil:
		c.NotKnown = diag.WithoutPackagePrefix(err)
	case len(c.Reads) > 0 && flow.IsCorrected():
		c.NotKnown = "people have corrected what it may have read"
	default:
		c.Params = rec.ParamsAdaptation.ApplyTo(params)
	}
	if c.Result, c.Began, c.Ended = rec.Result, rec.Began, rec.Ended; reopened {
		c.Began = 1 // before all Calls that ended since
	}
	for _, w := range flow.StateWrites() {
		if (ideafile.CallKey{Request: w.Request, Index: w.Index}) == c.Key && w.CorrectionNumber == 0 {
			c.Result = w.Value
			if rec.Result != nil && len(w.Path) == 0 {
				c.Result = jsonval.OverlayObject(w.Value, rec.Result) // with the keys that were not written to State
			}
		}
	}
}

// asUndoing returns the Plan as one instance carries it out.
func (p Plan) asUndoing(o approval.UndoOrder) dataflow.Undoing {
	u := dataflow.Undoing{By: o.By, Reason: o.Reason, Stays: len(p.Cannot) > 0}
	for _, s := range p.Undo {
		call := s.Call(func(id string) ideafile.CallKey { of, _ := ideafile.ParseCallKey(id); return of.Undo() },
			o.Review)
		if o.By != "" {
			call[ideafile.UndoesKey] = jsonval.OverlayObject(call[ideafile.UndoesKey],
				jsonval.Object{"by": o.By, "reason": o.Reason})
		}
		u.Calls = append(u.Calls, dataflow.UndoCall{UndoneCall: s.Did.Key, Call: ideafile.ParseWrittenCall(call)})
	}
	for _, id := range p.Withdraw {
		key, _ := ideafile.ParseCallKey(id)
		u.Withdraw = append(u.Withdraw, key)
	}
	for _, list := range [][]NotUndone{p.Cannot, p.Kept} {
		for _, l := range list {
			u.NotUndone = append(u.NotUndone, l.Did.Name()+": "+l.Because)
		}
	}
	return u
}

// Call returns the step as a Call of a Plan that runs directly. keyOf returns the key of the Call that undoes the Call
// with an id; review makes a person review the step first.
func (s Step) Call(keyOf func(callID string) ideafile.CallKey, review bool) jsonval.Object {
	of := jsonval.Object{"process": s.Process, "call": s.CallID}
	if review {
		of[ideafile.UndoReviewKey] = true
	}
	call := jsonval.Object{"_tool": s.Tool, ideafile.UndoesKey: of}
	//workflowcheck:ignore -- a map again
	for name, v := range s.Params {
		call[name] = refexpr.Literal(v)
	}
	if len(s.After) > 0 {
		var after []any
		for _, id := range s.After {
			after = append(after, refexpr.Dagger+"call."+keyOf(id).ID(""))
		}
		call["_after"] = after
	}
	return call
}
