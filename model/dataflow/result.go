package dataflow

import (
	"cmp"
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// SucceedCall records the result of a Call that runs or asks the LLM, and fails the Call if the result does not fit. A
// Call in any other phase is left alone.
func (i *Instance) SucceedCall(id string, value any) {
	rec := i.FindCall(id)
	if rec == nil || !rec.expectsResult() {
		return
	}
	result, err := i.selectResultBranch(rec, value)
	if err != nil {
		i.failOrTakeLastBranch(rec, diag.Faultf(ideafile.CodeBadOutput, "%s", err))
		return
	}
	i.acceptResult(rec, result)
}

// FailCall records that the activity of a Call gave up. A Call with several branches writes the failure to its last
// branch instead of failing.
func (i *Instance) FailCall(id string, f *diag.Fault) {
	if rec := i.FindCall(id); rec != nil && rec.expectsResult() {
		i.failOrTakeLastBranch(rec, f)
	}
}

// PostponeCall reverts the start of a Call, for a reason that only the operator of the worker can mend. The process
// must pause; the Call runs unchanged at the next Advance.
func (i *Instance) PostponeCall(id string, fault *diag.Fault) {
	rec := i.RevertStart(id)
	if rec == nil {
		return
	}
	i.PauseFault = diag.Faultf(fault.Code,
		"%s (%s) cannot run: %s. Mend that where the worker runs, and resume the process: it is tried again then",
		rec.ID, rec.Tool, fault.Message)
}

// RevertStart reverts the start of a Call of which nothing has run. The Call starts unchanged at the next Advance,
// unless what it reads is undone before. RevertStart returns nil if the Call does not run.
func (i *Instance) RevertStart(id string) *CallRecord {
	rec := i.FindCall(id)
	if rec == nil || rec.phase != phaseRunning {
		return nil
	}
	rec.StartLogicalTime = 0
	rec.setPhase(phaseApproved)
	return rec
}

func (i *Instance) failOrTakeLastBranch(rec *CallRecord, f *diag.Fault) {
	if !rec.OutputPath.HasBranches() {
		rec.endWithStatus(ideafile.CallFailed, f)
		return
	}
	rec.TakenBranchNumber, rec.FaultWrittenToBranch = len(rec.OutputPath), f
	i.acceptResult(rec, diag.FaultAsJSON(f))
}

// selectResultBranch notes which of several branches a result takes, and returns the result without the branch's name.
// An activity, or a person who answers in its place, may name the branch.
func (i *Instance) selectResultBranch(rec *CallRecord, value any) (result any, err error) {
	if !rec.OutputPath.HasBranches() {
		return value, nil
	}
	branchIndex := 0
	if i.palette.BindingByTool[rec.Tool].Kind != ideafile.KindLatent {
		branchIndex, value, _, err = rec.OutputPath.SelectBranch(value)
	}
	if err == nil {
		rec.TakenBranchNumber = branchIndex + 1
	}
	return value, err
}

// acceptResult applies a result. An update waits for the earlier Calls that write its path, because it is checked
// against the value that it changes.
func (i *Instance) acceptResult(rec *CallRecord, value any) {
	if rec.resultUpdatesPath() {
		rec.PendingResult = value
		if rec.phase != phaseResultPending {
			rec.setPhase(phaseResultPending)
		}
		if !i.canCallAdvance(rec) {
			return
		}
	}
	i.finishSuccessfulCall(rec, value)
}

// finishSuccessfulCall writes the result of a Call and ends it, unless the content of a stored value is needed first.
// If the result does not fit, a Call with branches writes the fault to its last branch instead.
func (i *Instance) finishSuccessfulCall(rec *CallRecord, value any) {
	if author := i.authorCorrectingOutput(rec); author != "" {
		rec.endWithStatus(ideafile.CallSkipped, nil)
		rec.SkippedBecauseOf, rec.Result = author, value
		return
	}
	if rec.blobUpdatedValues == nil && i.startBlobUpdateIfNeeded(rec, value) {
		return
	}
	f := i.applyResult(rec, value)
	if f == nil {
		rec.endWithStatus(ideafile.CallDone, nil)
		return
	}
	i.endCallWithUnappliedResult(rec, value, f)
}

// endCallWithUnappliedResult ends a Call whose result was not applied. A Call with branches writes the fault to its
// last branch, once; for that write too it waits for the earlier Calls that write its path.
func (i *Instance) endCallWithUnappliedResult(rec *CallRecord, value any, f *diag.Fault) {
	if rec.FaultWrittenToBranch == nil && rec.OutputPath.HasBranches() {
		rec.TakenBranchNumber, rec.FaultWrittenToBranch, rec.DelegateValuesByPath, rec.UnwrittenPaths,
			rec.blobUpdatedValues = len(rec.OutputPath), f, nil, nil, nil
		i.acceptResult(rec, diag.FaultAsJSON(f))
		return
	}
	f = cmp.Or(rec.FaultWrittenToBranch, f)
	rec.TakenBranchNumber, rec.FaultWrittenToBranch, rec.UnwrittenPaths = 0, nil, nil
	rec.endWithStatus(ideafile.CallFailed, f)
	if f.Code == ideafile.CodeBadPath {
		rec.Result = value // the result fits, but cannot be written
	}
}

// ResultContract returns what the result of a Call must fit and which branches it may take; nil if any result will do.
func (i *Instance) ResultContract(rec *CallRecord) *statelog.ResultContract {
	if len(rec.OutputPath) == 0 || (i.stateSchema == nil && !rec.OutputPath.HasBranches()) {
		return nil
	}
	return &statelog.ResultContract{StateSchema: i.stateSchema, OutputPath: rec.OutputPath,
		OutputMethod: rec.OutputMethod}
}

// applyResult writes a result to all paths of its branch, or to none of them. If the Call has several paths, closed
// ones are left out. A Call without an output path keeps its result on its Record.
func (i *Instance) applyResult(rec *CallRecord, value any) *diag.Fault {
	delegateWrites, f := i.delegateValueWrites(rec)
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
	i.applyDelegateWrites(rec, delegateWrites)
	i.LogicalTime++
	rec.EndLogicalTime = i.LogicalTime
	return nil
}

func (i *Instance) resultWrites(rec *CallRecord, value any) (writes []statelog.Write, f *diag.Fault) {
	if len(rec.OutputPath) == 0 {
		return nil, nil
	}
	for n, p := range rec.branchOutputPaths() {
		_, isClosed := i.state.AuthorWhoClosedPath(p)
		if isClosed && len(rec.OutputPath.Paths()) > 1 && !rec.resultUpdatesPath() {
			i.recordUnwrittenPath(rec, p)
			continue
		}
		w, f := i.newResultWrite(rec, p, value)
		if f != nil {
			return nil, f
		}
		if n < len(rec.blobUpdatedValues) && statelog.NeedsBlobContent(rec.OutputMethod, i.valueBeforeCall(rec, p),
			value) {
			w.CombinedValue = rec.blobUpdatedValues[n]
		}
		writes = append(writes, w)
	}
	return writes, nil
}

func (i *Instance) applyWrite(w statelog.Write) {
	i.state.Apply(w)
	i.UnreportedWrites = append(i.UnreportedWrites, w)
}

// recordUnwrittenPath records on a Call that a path keeps its value.
func (i *Instance) recordUnwrittenPath(rec *CallRecord, p jsonval.Path) {
	author, _ := i.state.AuthorWhoClosedPath(p)
	rec.UnwrittenPaths = append(rec.UnwrittenPaths,
		turn.UnwrittenPath{Path: refexpr.StateReference(p).String(), EarlierAuthor: author})
}

// newResultWrite builds the write of a result at one path, or returns why it is not allowed. A write of the whole State
// leaves out keys that Calls or people wrote: that part of the result stays on the Record.
func (i *Instance) newResultWrite(rec *CallRecord, p jsonval.Path, value any) (statelog.Write, *diag.Fault) {
	w := i.baseWrite(rec, p, value)
	w.OutputMethod = rec.OutputMethod
	if _, isBlobHandle := jsonval.AsBlobHandle(value); len(p) == 0 &&
		(isBlobHandle || jsonval.TypeOf(value) != "object") {
		return w, diag.Faultf(ideafile.CodeBadOutput, "the whole State takes an object, not %s", describeType(value))
	}
	if reason := i.state.BlockingAncestorReason(p); reason != "" {
		return w, diag.Faultf(ideafile.CodeBadPath, "%s: %s", refexpr.StateReference(p), reason)
	}
	if i.state.HasCombinedLaterWrite(w) {
		return w, diag.Faultf(ideafile.CodeBadPath, "%s: a later Call has updated what is stored there",
			refexpr.StateReference(p))
	}
	oldValue := i.valueBeforeCall(rec, p)
	contract := i.ResultContract(rec)
	if contract != nil && rec.blobUpdatedValues == nil && !jsonval.ContainsBlobHandle(value) &&
		(w.OutputMethod == "" || !jsonval.ContainsBlobHandle(oldValue)) {
		if err := contract.CheckAt(p, oldValue, value); err != nil {
			return w, diag.Faultf(ideafile.CodeBadOutput, "%s", err)
		}
	}
	if len(p) == 0 && w.OutputMethod == "" {
		w.Value = i.state.WithoutWrittenKeys(w.Value)
		i.keepUnwrittenResultKeys(rec, jsonval.AsObject(value), jsonval.AsObject(w.Value))
	}
	return w, nil
}

// baseWrite returns the write of a Call's value at a path.
func (i *Instance) baseWrite(rec *CallRecord, p jsonval.Path, value any) statelog.Write {
	return statelog.Write{Path: p, Value: value, Author: cmp.Or(rec.ResultAuthor, rec.ID),
		Request: rec.Request, Index: rec.Index, WrittenAt: i.CurrentTime}
}

// keepUnwrittenResultKeys saves in a Call's Record those keys of its result that are not written. Only a result for the
// whole State has such keys.
func (i *Instance) keepUnwrittenResultKeys(rec *CallRecord, resultMembers, writtenMembers jsonval.Object) {
	unwrittenMembers := jsonval.Object{}
	for k, v := range jsonval.Sorted(resultMembers) {
		if _, ok := writtenMembers[k]; !ok {
			unwrittenMembers[k] = v
			i.recordUnwrittenPath(rec, jsonval.Path{k})
		}
	}
	if len(unwrittenMembers) > 0 {
		rec.Result = unwrittenMembers
	}
}

// describeType is jsonval.TypeOf for values that may be in the blob store.
func describeType(v any) string {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return fmt.Sprintf("one %s of %d bytes that is stored as a whole", h.ValueType, h.Size)
	}
	return jsonval.TypeOf(v)
}
