package dataflow

import (
	"cmp"
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/refexpr"
)

// AcceptCall adds a Call of a Request, as the LLM wrote it, and reports whether it was new: a known Call, or one of a closed
// Request, changes nothing. A malformed Call is added as failed, so that the next Request is told why.
func (i *Instance) AcceptCall(request, index int, call ideafile.WrittenCall) bool {
	key := ideafile.CallKey{Request: request, Index: index}
	_, known := i.findPosition(key)
	if known || request <= i.closedThrough {
		return false
	}
	i.openRequests[request] = true
	i.insertCall(i.palette, key, call)
	return true
}

// findPosition returns where a Call stands in records, or would stand.
func (i *Instance) findPosition(key ideafile.CallKey) (at int, found bool) {
	return slices.BinarySearchFunc(i.records, key, func(r *Record, k ideafile.CallKey) int { return r.key().Compare(k) })
}

// insertCall reads a Call and inserts its Record at its place in the Plan.
func (i *Instance) insertCall(palette ideafile.Palette, key ideafile.CallKey, written ideafile.WrittenCall) *Record {
	call, _, f := palette.Read(written)
	call.ID, call.Request, call.Index = key.ID(i.token), key.Request, key.Index
	rec := &Record{Call: call, Status: ideafile.Waiting, Written: written}
	if f == nil {
		f = i.admitCall(rec)
	}
	if f != nil {
		rec.end(ideafile.Failed, f)
	}
	at, _ := i.findPosition(key)
	i.records = slices.Insert(i.records, at, rec)
	return rec
}

// admitCall checks what depends on the instance, that References outside State resolve and that the State schema allows the
// output paths, and notes on the Record what the Call reads.
func (i *Instance) admitCall(rec *Record) *diag.Fault {
	list, err := refexpr.Expressions(rec.Params)
	if err != nil {
		return diag.Faultf(ideafile.CodeBadReference, "%s", err)
	}
	for _, e := range list {
		if why := i.unresolvableReason(e); why != "" {
			return diag.Faultf(ideafile.CodeBadReference, "%s", why)
		}
		if e.ReadsKind(ideafile.TypeState) {
			rec.reads = append(rec.reads, e)
		}
	}
	for _, scope := range rec.Scopes {
		if ref, err := refexpr.ParseScope(scope); err == nil && ref.Kind == ideafile.TypeState {
			rec.scopePaths = append(rec.scopePaths, ref.Path)
		}
	}
	if t := ideafile.FindTool(i.palette.Tools, rec.Tool); t != nil {
		rec.delegateWrites = t.DelegateWrites
	}
	for _, p := range slices.Concat(rec.OutputPath.Paths(), rec.delegateWrites) {
		if i.stateSchema != nil && jsonschema.PlaceOf(i.stateSchema, p).Closed {
			return diag.Faultf(ideafile.CodeBadPath, "%s stands outside the closed State schema", refexpr.Reference{Kind: ideafile.TypeState, Path: p})
		}
	}
	return nil
}

// unresolvableReason returns why no alternative of an expression can ever resolve, because each reads something outside State
// that does not exist, or "". State may still grow, so its terms do not count.
func (i *Instance) unresolvableReason(e refexpr.Expression) string {
	why := ""
	for _, alternative := range e {
		missing := ""
		for _, ref := range alternative {
			missing = cmp.Or(missing, i.whyUnresolvable(ref))
		}
		if missing == "" {
			return ""
		}
		why = cmp.Or(why, missing)
	}
	return why
}

func (i *Instance) whyUnresolvable(ref refexpr.Reference) string {
	_, known := i.view.Payload[ref.Kind]
	switch {
	case ref.Kind == ideafile.TypeState:
		return ""
	case !known:
		return fmt.Sprintf("reference %s: the context has no %q", ref, ref.Kind)
	case i.visibilityOf(nil, ref) == absent:
		return fmt.Sprintf("reference %s: nothing there", ref)
	}
	return ""
}

// CloseRequest ends a Request, and all before it, for this instance: no further Call of theirs is accepted.
func (i *Instance) CloseRequest(request int) {
	if request > i.closedThrough {
		i.closedThrough = request
	}
	//workflowcheck:ignore -- the order of deletions does not matter
	for n := range i.openRequests {
		if n <= i.closedThrough {
			delete(i.openRequests, n)
		}
	}
}
