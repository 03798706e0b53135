package dataflow

import (
	"slices"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// InstanceUndo says which Calls of an instance are undone, and how.
type InstanceUndo struct {
	// UndoCalls undo other Calls. Each gets the key ideafile.CallKey.Undo of the Call that it undoes.
	UndoCalls []UndoCall `json:"calls,omitempty"`
	// CallKeysToWithdraw lists the Calls whose only effect was what they wrote to State.
	CallKeysToWithdraw []ideafile.CallKey `json:"withdraw,omitempty"`
	// NotUndoneReasons says, for each Call that is not undone, why. EffectRemains is set if an effect of the process's
	// own stays for that reason.
	NotUndoneReasons []string `json:"left,omitempty"`
	EffectRemains    bool     `json:"stays,omitempty"`
	// RequestedBy is the person who ordered the undo while the process is paused, and Reason is why. RequestedBy is
	// empty if the undo was started because the instance failed.
	RequestedBy string `json:"by,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// UndoCall is a Call that undoes UndoneCallKey.
type UndoCall struct {
	UndoneCallKey ideafile.CallKey     `json:"of"`
	Call          ideafile.WrittenCall `json:"call"`
}

// BeginUndo adds the Calls that undo others. A Call that was tried in an earlier undo is tried again.
func (i *Instance) BeginUndo(u InstanceUndo) {
	i.ActiveUndo = &u
	palette := i.palette
	palette.UntargetedCallsGoToAll, palette.AllowsDirectPlanKeys = true, true
	for _, c := range u.UndoCalls {
		if index, isFound := i.findCallPosition(c.UndoneCallKey.UndoKey()); isFound {
			i.callRecords = slices.Delete(i.callRecords, index, index+1)
		}
		i.insertCall(palette, c.UndoneCallKey.UndoKey(), c.Call)
	}
}

// withdrawUndoneWrites withdraws the writes of undone Calls, each as soon as it is undone, and at the end those of
// Calls without another effect.
func (i *Instance) withdrawUndoneWrites() {
	if i.ActiveUndo == nil {
		return
	}
	areAllDone := true
	for _, c := range i.ActiveUndo.UndoCalls {
		isDone := i.findCallByKey(c.UndoneCallKey.UndoKey()).Status == ideafile.CallDone
		if areAllDone = areAllDone && isDone; isDone {
			i.withdrawWrites(c.UndoneCallKey)
		}
	}
	for _, key := range i.ActiveUndo.CallKeysToWithdraw {
		if areAllDone {
			i.withdrawWrites(key)
		}
	}
}

func (i *Instance) withdrawWrites(key ideafile.CallKey) {
	rec := i.findCallByKey(key)
	if rec.Status == ideafile.CallUndone {
		return
	}
	rec.Status = ideafile.CallUndone
	for _, w := range slices.Clone(i.state.Writes()) {
		w = statelog.Write{Path: w.Path, OutputMethod: statelog.MethodWithdraw, Author: key.UndoKey().ID(i.token),
			Request: key.Request, Index: key.Index, WrittenAt: i.CurrentTime, Reason: i.ActiveUndo.Reason}
		if !i.state.HasWrite(w) {
			i.applyWrite(w)
		}
	}
}

func (i *Instance) findCallByKey(key ideafile.CallKey) *CallRecord {
	index, _ := i.findCallPosition(key)
	return i.callRecords[index]
}

// callDisplayName names a Call by its id and the Tool that ran.
func (i *Instance) callDisplayName(key ideafile.CallKey) string {
	rec := i.findCallByKey(key)
	tool := rec.Tool
	if rec.ExecutedCall != nil {
		tool = rec.ExecutedCall.Tool
	}
	return rec.ID + " (" + tool + ")"
}

// IsUndoOrderedByPerson reports whether a person ordered the undo.
func (i *Instance) IsUndoOrderedByPerson() bool {
	return i.ActiveUndo != nil && i.ActiveUndo.RequestedBy != ""
}

// TakeUndoResult returns, once, the outcome of BeginUndo; nil before all its Calls have ended.
func (i *Instance) TakeUndoResult() *turn.UndoResult {
	t := i.buildUndoResult()
	if t != nil {
		i.ActiveUndo = nil
		i.resetReadersOfUndoneValues()
	}
	return t
}

// resetReadersOfUndoneValues re-evaluates Calls that wait for a person, or for the process to go on, if a value that
// they read was undone, or a Call that they come after. In the latter case, a Call that may have had its effect goes on
// waiting for the person.
func (i *Instance) resetReadersOfUndoneValues() {
	for _, rec := range i.callRecords {
		if rec.phase != phaseReviewing && rec.phase != phaseApproved {
			continue
		}
		params, err := i.resolveParams(rec)
		if err != nil || !jsonval.Equal(rec.ParamsAdaptation.ApplyTo(params), rec.unamendedParams()) ||
			rec.StartLogicalTime == 0 && !i.allReadsVisible(rec) {
			rec.PendingApproval, rec.readyCall, rec.ParamsAdaptation = nil, nil, nil
			rec.setPhase(phaseWaiting)
		}
	}
}

// unamendedParams returns the parameters of a ready Call as it read them, before people amended them.
func (r *CallRecord) unamendedParams() jsonval.Object {
	params := r.readyCall.Params
	for _, d := range slices.Backward(r.Decisions) {
		if d.Kind == policy.Amend && jsonval.Equal(d.AmendedParams, params) {
			params = d.ShownParams
		}
	}
	return params
}

func (i *Instance) buildUndoResult() *turn.UndoResult {
	if i.ActiveUndo == nil {
		return nil
	}
	var undoneCallNames []string
	hasFailures, notUndoneReasons := false, []string{}
	for _, c := range i.ActiveUndo.UndoCalls {
		switch rec := i.findCallByKey(c.UndoneCallKey.UndoKey()); {
		case !rec.Status.IsFinal(), rec.Status == ideafile.CallDone &&
			i.findCallByKey(c.UndoneCallKey).Status != ideafile.CallUndone:
			return nil
		case rec.Status == ideafile.CallDone:
			undoneCallNames = append(undoneCallNames, i.callDisplayName(c.UndoneCallKey))
		default:
			reason := i.callDisplayName(c.UndoneCallKey) + ": " + i.callDisplayName(c.UndoneCallKey.UndoKey()) +
				", " + string(rec.Status)
			if rec.Fault != nil {
				reason += ": " + rec.Fault.Message
			}
			hasFailures, notUndoneReasons = true, append(notUndoneReasons, reason)
		}
	}
	summary := "nothing was taken back"
	if len(undoneCallNames) > 0 {
		summary = "taken back: " + strings.Join(undoneCallNames, ", ")
	}
	if notUndoneReasons = append(notUndoneReasons, i.ActiveUndo.NotUndoneReasons...); len(notUndoneReasons) > 0 {
		summary += "; not taken back: " + strings.Join(notUndoneReasons, "; ")
	}
	return &turn.UndoResult{Summary: summary, HasFailed: hasFailures ||
		i.ActiveUndo.EffectRemains && i.ActiveUndo.RequestedBy == "",
		HasUndoneNothing: len(undoneCallNames)+len(i.ActiveUndo.CallKeysToWithdraw) == 0}
}
