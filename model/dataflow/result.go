package dataflow

import (
	"cmp"
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// Succeed records the result of a Call that runs or asks the LLM, and fails the Call where the result does not fit. A Call in
// any other phase is left alone.
func (i *Instance) Succeed(id string, value any) {
	rec := i.FindCall(id)
	if rec == nil || !rec.expectsResult() {
		return
	}
	result, err := i.recordBranch(rec, value)
	if err != nil {
		i.failCall(rec, diag.Faultf(ideafile.CodeBadOutput, "%s", err))
		return
	}
	i.acceptResult(rec, result)
}

// Fail records that the activity of a Call gave up. A Call with several branches writes the failure to its last branch instead
// of failing.
func (i *Instance) Fail(id string, f *diag.Fault) {
	if rec := i.FindCall(id); rec != nil && rec.expectsResult() {
		i.failCall(rec, f)
	}
}

func (i *Instance) failCall(rec *Record, f *diag.Fault) {
	if !rec.OutputPath.HasBranches() {
		rec.end(ideafile.Failed, f)
		return
	}
	rec.Branch, rec.OriginalFault = len(rec.OutputPath), f
	i.acceptResult(rec, diag.FaultValue(f))
}

// recordBranch notes which of several branches a result takes and returns the bare result: an activity, or who answers in its
// place, may name the branch.
func (i *Instance) recordBranch(rec *Record, value any) (result any, err error) {
	if !rec.OutputPath.HasBranches() {
		return value, nil
	}
	branch := 0
	if i.palette.Bindings[rec.Tool].Kind != ideafile.KindLatent {
		branch, value, _, err = rec.OutputPath.TakeBranch(value)
	}
	if err == nil {
		rec.Branch = branch + 1
	}
	return value, err
}

// acceptResult applies a result. An update waits for the earlier Calls that write its path, because it is checked against the
// value that it changes.
func (i *Instance) acceptResult(rec *Record, value any) {
	if rec.isUpdate() {
		rec.Value = value
		rec.moveTo(resultPending)
		if !i.canAdvance(rec) {
			return
		}
	}
	i.finishCall(rec, value)
}

// finishCall writes the result of a Call and ends it. Where the result does not fit, a Call with branches writes the fault to
// its last branch instead.
func (i *Instance) finishCall(rec *Record, value any) {
	if by := i.correctedBy(rec); by != "" {
		rec.end(ideafile.Skipped, nil)
		rec.By, rec.Result = by, value
		return
	}
	f := i.applyResult(rec, value)
	if f != nil && rec.OriginalFault == nil && rec.OutputPath.HasBranches() {
		rec.Branch, rec.OriginalFault, rec.HandedBack = len(rec.OutputPath), f, nil
		f = i.applyResult(rec, diag.FaultValue(f))
	}
	if f == nil {
		rec.end(ideafile.Done, nil)
		return
	}
	f = cmp.Or(rec.OriginalFault, f)
	rec.Branch, rec.OriginalFault = 0, nil
	rec.end(ideafile.Failed, f)
}

// ResultContract returns what the result of a Call must fit and which branches it may take; nil where anything goes.
func (i *Instance) ResultContract(rec *Record) *statelog.ResultContract {
	if len(rec.OutputPath) == 0 || (i.stateSchema == nil && !rec.OutputPath.HasBranches()) {
		return nil
	}
	return &statelog.ResultContract{Schema: i.stateSchema, Path: rec.OutputPath, Method: rec.OutputMethod}
}

// applyResult writes a result to all paths of its branch, or to none of them; where one of several paths is closed, to the
// others. A Call without an output path keeps its result on its Record.
func (i *Instance) applyResult(rec *Record, value any) *diag.Fault {
	handedBack, f := i.handedBackWrites(rec)
	if f != nil {
		return f
	}
	writes, f := i.resultWrites(rec, value)
	if f != nil {
		return f
	}
	if len(rec.OutputPath) == 0 {
		rec.Result = value
	}
	for _, w := range writes {
		i.applyWrite(w)
	}
	i.applyHandedBack(handedBack)
	return nil
}

func (i *Instance) resultWrites(rec *Record, value any) (writes []statelog.Write, f *diag.Fault) {
	if len(rec.OutputPath) == 0 {
		return nil, nil
	}
	for _, p := range rec.OutputPath[max(rec.Branch, 1)-1] {
		_, closed := i.state.Closed(p)
		if closed && len(rec.OutputPath.Paths()) > 1 && !rec.isUpdate() {
			continue
		}
		w, f := i.newWrite(rec, p, value)
		if f != nil {
			return nil, f
		}
		writes = append(writes, w)
	}
	return writes, nil
}

func (i *Instance) applyWrite(w statelog.Write) {
	i.state.Apply(w)
	i.unreportedWrites = append(i.unreportedWrites, w)
}

// newWrite builds the write of a result at one path, or returns why it is not allowed. A write of the whole State leaves out
// what Calls or people wrote.
func (i *Instance) newWrite(rec *Record, p jsonval.Path, value any) (statelog.Write, *diag.Fault) {
	w := statelog.Write{Path: p, Method: rec.OutputMethod, Value: value, By: rec.authorName(), Request: rec.Request, Index: rec.Index, At: i.now}
	if _, stored := jsonval.AsHandle(value); len(p) == 0 && (stored || jsonval.TypeOf(value) != "object") {
		return w, diag.Faultf(ideafile.CodeBadOutput, "the whole State takes an object, not %s", describeType(value))
	}
	old, _ := jsonval.Lookup(i.state.Before(rec.Request, rec.Index, p).Current, p)
	if f := checkStoredValueUpdate(w.Method, old, value); f != nil {
		return w, f
	}
	contract := i.ResultContract(rec)
	if contract != nil && !jsonval.HasHandle(value) && (w.Method == "" || !jsonval.HasHandle(old)) {
		if err := contract.CheckAt(p, old, value); err != nil {
			return w, diag.Faultf(ideafile.CodeBadOutput, "%s", err)
		}
	}
	if len(p) == 0 && w.Method == "" {
		w.Value = i.state.WithoutWritten(w.Value)
	}
	return w, nil
}

// checkStoredValueUpdate refuses an update that would need the content of a value that lies in the blob store.
func checkStoredValueUpdate(method string, old, value any) *diag.Fault {
	_, storedOld := jsonval.AsHandle(old)
	_, storedNew := jsonval.AsHandle(value)
	if method != "" && (storedOld || (storedNew && old != nil && method != statelog.MethodPush)) {
		return diag.Faultf(ideafile.CodeBadOutput, "updates of values over 64 KB are not built yet")
	}
	o, _ := old.(map[string]any)
	v, _ := value.(map[string]any)
	for _, k := range jsonval.SortedKeys(v) {
		if below, ok := o[k]; ok && method == statelog.MethodMerge {
			if f := checkStoredValueUpdate(method, below, v[k]); f != nil {
				return f
			}
		}
	}
	return nil
}

// describeType is jsonval.TypeOf for values that may lie in the blob store.
func describeType(v any) string {
	if h, ok := jsonval.AsHandle(v); ok {
		return fmt.Sprintf("one %s of %d bytes that is stored as a whole", h.Type, h.Size)
	}
	return jsonval.TypeOf(v)
}
