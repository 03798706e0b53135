package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file makes instances undo what they did: because they fail (config.onFailure), or because a person ordered it.

// mayNeedUndo reports whether an instance may have something to undo, or an effect that stays.
func (p *InstanceProgress) mayNeedUndo() bool {
	//workflowcheck:ignore -- any or none, in any order
	for _, c := range p.reportByCallKey {
		if c.Status == ideafile.CallDone || c.Status == ideafile.CallFailed && ideafile.MayHaveTakenEffect(c.Fault) {
			return true
		}
	}
	return false
}

// recordUndoCall keeps undo Calls and undone Calls, so that Ideas can record them. No Request planned the undo Call,
// and the undone Call may have been dropped.
func (l *Loop) recordUndoCall(inst *InstanceProgress, c turn.CallReport) {
	if !isUndoOrUndone(c) || c.Call.IsZero() {
		return
	}
	isPlanned := func(p PlannedCall) bool { return p.key() == c.CallKey() && p.isPlannedFor(inst) }
	if !slices.ContainsFunc(l.PlannedCalls, isPlanned) {
		l.PlannedCalls = append(l.PlannedCalls, PlannedCall{Request: c.Request, Index: c.Index, Call: c.Call,
			OnlyForInstances: []string{inst.Token}})
	}
}

func isUndoOrUndone(c turn.CallReport) bool {
	return c.CallKey().IsUndo() || c.Status == ideafile.CallUndone
}

// The reasons why BeginUndo refuses to undo anything.
var (
	ErrUndoWhileRunning = errors.New("the process is at work: pause it first, so that all that it did is on record")
	ErrUndoNotAtRest    = approval.Refusal{Code: approval.CodeNotAtRest,
		Text: "something in it is still running: wait until it rests"}
	ErrUndoUnderWay = approval.Refusal{Code: approval.CodeUndoUnderWay,
		Text: "it is taking back already: wait until that is done"}
	ErrNothingToUndo = approval.NothingToDoError("nothing of it is at work: ended instances can be taken back once " +
		"the whole process has ended")
)

// BeginUndo makes instances undo what they did, and returns them. The process must be paused. If Plans wait for a
// person, each undo Call does, since only the instances know the undo's Plan. If BeginUndo returns an error, nothing is
// undone.
func (l *Loop) BeginUndo(o approval.UndoOrder, now time.Time) (list []*InstanceProgress, err error) {
	token, hasToken := o.TargetInstance()
	foundToken, isKnown := l.FindInstanceToken(token)
	list = l.instancesWhere(func(inst *InstanceProgress) bool {
		return inst.isWorking() && (!hasToken || inst.Token == foundToken)
	})
	isUndoing := func(inst *InstanceProgress) bool { return inst.UndoOrder != nil || inst.UndoCause != nil }
	isRunning := func(inst *InstanceProgress) bool {
		return !inst.IsIdle && (!inst.IsHeldByPause || inst.RunningCallCount > 0)
	}
	switch {
	case l.PauseReason == nil:
		return nil, ErrUndoWhileRunning
	case slices.ContainsFunc(list, isUndoing):
		return nil, ErrUndoUnderWay
	case !l.IsAtRest(now) || slices.ContainsFunc(list, isRunning):
		return nil, ErrUndoNotAtRest
	case hasToken && !isKnown:
		return nil, fmt.Errorf("there is no instance %q", token)
	case len(list) == 0:
		return nil, ErrNothingToUndo
	}
	o.RequiresReview = o.RequiresReview || l.RequiresPlanReview
	for _, inst := range list {
		inst.UndoOrder, inst.IsIdle = &o, false
	}
	return list, nil
}

// TakeEndedUndo returns, once, an order of BeginUndo that all its instances have carried out; nil if there is none.
// refusal names the Calls that could not be undone. The next Request about each instance reports the undo.
func (l *Loop) TakeEndedUndo() (order *approval.UndoOrder, refusal error) {
	var list []*InstanceProgress
	for _, inst := range l.Instances {
		switch {
		case inst.UndoOrder == nil:
		case inst.UndoResult == nil:
			return nil, nil
		default:
			list = append(list, inst)
		}
	}
	var failureSummaries, nothingUndoneTexts []string
	anyFailed, nothingUndone := false, true
	for _, inst := range list {
		result := *inst.UndoResult
		order, anyFailed, nothingUndone = inst.UndoOrder, anyFailed || result.HasFailed, nothingUndone &&
			result.HasUndoneNothing
		inst.UndoOrder, inst.UndoResult, inst.WasRevisedSinceRequest = nil, nil, true
		switch {
		case result.HasFailed:
			failureSummaries = jsonval.AppendNew(failureSummaries, result.Summary)
		case result.HasUndoneNothing:
			nothingUndoneTexts = jsonval.AppendNew(nothingUndoneTexts, result.Summary)
		}
		if !result.HasUndoneNothing {
			reason := "by " + cmp.Or(order.RequestedBy, "a person")
			if order.Reason != "" {
				reason += ", since: " + order.Reason
			}
			l.addErrorsFor([]*InstanceProgress{inst}, turn.ContextError{Fault: *diag.Faultf(turn.CodeCallsUndone,
				"%s; %s", reason, result.Summary)})
		}
	}
	switch {
	case anyFailed:
		refusal = errors.New(strings.Join(failureSummaries, "; "))
	case len(list) > 0 && nothingUndone:
		refusal = approval.NothingToDoError(strings.Join(nothingUndoneTexts, "; "))
	}
	return order, refusal
}

// finishUndo keeps the result of an ordered undo, and ends an instance that failed and has undone what it could.
func (l *Loop) finishUndo(inst *InstanceProgress, result turn.UndoResult) {
	if inst.UndoOrder != nil {
		inst.UndoResult = &result
	}
	if inst.UndoCause == nil {
		return
	}
	status := ideafile.InstanceFailed
	if result.HasFailed {
		status = ideafile.InstanceUndoFailed
	}
	l.endInstance(inst, status, diag.Faultf(inst.UndoCause.Code, "%s; %s", inst.UndoCause.Message, result.Summary))
}
