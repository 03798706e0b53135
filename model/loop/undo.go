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

// undoUnknownChange names the rule that an instance is undone even if it is unknown whether any of its Calls took
// effect.
const undoUnknownChange = "undo of unknown outcomes"

// mayNeedUndo reports whether an instance may have something to undo, or an effect that stays.
func (l *Loop) mayNeedUndo(inst *InstanceProgress) bool {
	unknown := false
	//workflowcheck:ignore -- any or none, in any order
	for _, c := range inst.calls {
		if c.Status == ideafile.Done {
			return true
		}
		unknown = unknown || c.Status == ideafile.Failed && ideafile.MayHaveTakenEffect(c.Fault)
	}
	return unknown && l.KnowsChange(undoUnknownChange)
}

// planUndo keeps undo Calls and undone Calls, so that Ideas can record them. No Request planned the undo Call, and the
// undone Call may have been dropped.
func (l *Loop) planUndo(inst *InstanceProgress, c turn.CallReport) {
	if !isUndoOrUndone(c) || c.Call.IsZero() {
		return
	}
	known := func(p PlannedCall) bool { return p.key() == c.CallKey() && p.isPlannedFor(inst) }
	if !slices.ContainsFunc(l.PlannedCalls, known) {
		l.PlannedCalls = append(l.PlannedCalls, PlannedCall{Request: c.Request, Index: c.Index, Call: c.Call,
			OnlyForInstances: []string{inst.Token}})
	}
}

func isUndoOrUndone(c turn.CallReport) bool {
	return c.CallKey().IsUndo() || c.Status == ideafile.Undone
}

// The reasons why BeginUndo refuses to undo anything.
var (
	ErrUndoAtWork    = errors.New("the process is at work: pause it first, so that all that it did is on record")
	ErrUndoNotAtRest = approval.Refusal{Code: approval.CodeNotAtRest,
		Text: "something in it is still running: wait until it rests"}
	ErrUndoUnderWay = approval.Refusal{Code: approval.CodeUndoUnderWay,
		Text: "it is taking back already: wait until that is done"}
	ErrNothingToUndo = approval.NothingDone("nothing of it is at work: ended instances can be taken back once the " +
		"whole process has ended")
)

// BeginUndo makes instances undo what they did, and returns them. The process must be paused. If Plans wait for a
// person, each undo Call does, since only the instances know the undo's Plan. If BeginUndo returns an error, nothing is
// undone.
func (l *Loop) BeginUndo(o approval.UndoOrder, now time.Time) (list []*InstanceProgress, err error) {
	token, named := o.NamedInstance()
	found, known := l.FindInstance(token)
	list = l.instancesWhere(func(inst *InstanceProgress) bool {
		return inst.isWorking() && (!named || inst.Token == found)
	})
	undoes := func(inst *InstanceProgress) bool { return inst.UndoneBy != nil || inst.UndoneFor != nil }
	runs := func(inst *InstanceProgress) bool { return !inst.Idle && (!inst.HeldByPause || inst.Running > 0) }
	switch {
	case l.PauseReason == nil:
		return nil, ErrUndoAtWork
	case slices.ContainsFunc(list, undoes):
		return nil, ErrUndoUnderWay
	case !l.IsAtRest(now) || slices.ContainsFunc(list, runs):
		return nil, ErrUndoNotAtRest
	case named && !known:
		return nil, fmt.Errorf("there is no instance %q", token)
	case len(list) == 0:
		return nil, ErrNothingToUndo
	}
	o.Review = o.Review || l.HoldsPlans
	for _, inst := range list {
		inst.UndoneBy, inst.Idle = &o, false
	}
	return list, nil
}

// TakeEndedUndo returns, once, an order of BeginUndo that all its instances have carried out; nil if there is none.
// refusal names the Calls that could not be undone. The next Request about each instance reports the undo.
func (l *Loop) TakeEndedUndo() (o *approval.UndoOrder, refusal error) {
	var list []*InstanceProgress
	for _, inst := range l.Instances {
		switch {
		case inst.UndoneBy == nil:
		case inst.TookBack == nil:
			return nil, nil
		default:
			list = append(list, inst)
		}
	}
	var failures, sentences []string
	failed, nothing := false, true
	for _, inst := range list {
		t := *inst.TookBack
		o, failed, nothing = inst.UndoneBy, failed || t.Failed, nothing && t.Nothing
		inst.UndoneBy, inst.TookBack, inst.RevisedSinceRequest = nil, nil, true
		switch {
		case t.Failed:
			failures = jsonval.AppendNew(failures, t.Summary)
		case t.Nothing:
			sentences = jsonval.AppendNew(sentences, t.Summary)
		}
		if !t.Nothing {
			why := "by " + cmp.Or(o.By, "a person")
			if o.Reason != "" {
				why += ", since: " + o.Reason
			}
			l.addErrorsFor([]*InstanceProgress{inst}, turn.ContextError{Fault: *diag.Faultf(turn.CodeWithdrawn,
				"%s; %s", why, t.Summary)})
		}
	}
	switch {
	case failed:
		refusal = errors.New(strings.Join(failures, "; "))
	case len(list) > 0 && nothing:
		refusal = approval.NothingDone(strings.Join(sentences, "; "))
	}
	return o, refusal
}

// endWithdrawn keeps the result of an ordered undo, and ends an instance that failed and has undone what it could.
func (l *Loop) endWithdrawn(inst *InstanceProgress, t turn.Withdrawn) {
	if inst.UndoneBy != nil {
		inst.TookBack = &t
	}
	if inst.UndoneFor == nil {
		return
	}
	status := ideafile.InstanceFailed
	if t.Failed {
		status = ideafile.InstanceUndoFailed
	}
	l.endInstance(inst, status, diag.Faultf(inst.UndoneFor.Code, "%s; %s", inst.UndoneFor.Message, t.Summary))
}
