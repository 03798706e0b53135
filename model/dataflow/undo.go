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

// Undoing says which Calls of an instance are undone, and how.
type Undoing struct {
	// Calls undo other Calls. Each gets the key ideafile.CallKey.Undo of the Call that it undoes.
	Calls []UndoCall `json:"calls,omitempty"`
	// Withdraw lists the Calls whose only effect was what they wrote to State.
	Withdraw []ideafile.CallKey `json:"withdraw,omitempty"`
	// NotUndone says, for each Call that is not undone, why. Stays is set if an effect of the process's own stays for
	// that reason.
	NotUndone []string `json:"left,omitempty"`
	Stays     bool     `json:"stays,omitempty"`
	// By is the person who ordered the undo while the process is paused, and Reason is why. By is empty if the undo was
	// started because the instance failed.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// UndoCall is a Call that undoes UndoneCall.
type UndoCall struct {
	UndoneCall ideafile.CallKey     `json:"of"`
	Call       ideafile.WrittenCall `json:"call"`
}

// BeginUndo adds the Calls that undo others. A Call that was tried in an earlier undo is tried again.
func (i *Instance) BeginUndo(u Undoing) {
	i.Undoing = &u
	palette := i.palette
	palette.UntargetedCallsGoToAll, palette.AllowsConditions = true, true
	for _, c := range u.Calls {
		if at, found := i.findPosition(c.UndoneCall.Undo()); found {
			i.callRecords = slices.Delete(i.callRecords, at, at+1)
		}
		i.insertCall(palette, c.UndoneCall.Undo(), c.Call)
	}
}

// withdrawUndone withdraws the writes of undone Calls, each as soon as it is undone, and at the end those of Calls
// without another effect.
func (i *Instance) withdrawUndone() {
	if i.Undoing == nil {
		return
	}
	allDone := true
	for _, c := range i.Undoing.Calls {
		done := i.findByKey(c.UndoneCall.Undo()).Status == ideafile.Done
		if allDone = allDone && done; done {
			i.withdraw(c.UndoneCall)
		}
	}
	for _, key := range i.Undoing.Withdraw {
		if allDone {
			i.withdraw(key)
		}
	}
}

func (i *Instance) withdraw(key ideafile.CallKey) {
	rec := i.findByKey(key)
	if rec.Status == ideafile.Undone {
		return
	}
	rec.Status = ideafile.Undone
	for _, w := range slices.Clone(i.state.Writes()) {
		w = statelog.Write{Path: w.Path, OutputMethod: statelog.MethodWithdraw, Author: key.Undo().ID(i.token),
			Request: key.Request, Index: key.Index, WrittenAt: i.Now, Reason: i.Undoing.Reason}
		if !i.state.HasWrite(w) {
			i.applyWrite(w)
		}
	}
}

func (i *Instance) findByKey(key ideafile.CallKey) *CallRecord {
	at, _ := i.findPosition(key)
	return i.callRecords[at]
}

// nameForPeople names a Call by its id and the Tool that ran.
func (i *Instance) nameForPeople(key ideafile.CallKey) string {
	rec := i.findByKey(key)
	tool := rec.Tool
	if rec.RanCall != nil {
		tool = rec.RanCall.Tool
	}
	return rec.ID + " (" + tool + ")"
}

// UndoesWhilePaused reports whether a person ordered the undo.
func (i *Instance) UndoesWhilePaused() bool { return i.Undoing != nil && i.Undoing.By != "" }

// DrainWithdrawn returns, once, the outcome of BeginUndo; nil before all its Calls have ended. looksAtFollowers says
// whether recheckReaders also looks at what Calls come after; it is called only if that matters.
func (i *Instance) DrainWithdrawn(looksAtFollowers func() bool) *turn.Withdrawn {
	t := i.withdrawn()
	if t != nil {
		i.Undoing = nil
		i.recheckReaders(looksAtFollowers)
	}
	return t
}

// recheckReaders re-evaluates Calls that wait for a person, or for the process to go on, if a value that they read was
// undone, or a Call that they come after. In the latter case, a Call that may have had its effect goes on waiting for
// the person.
func (i *Instance) recheckReaders(looksAtFollowers func() bool) {
	for _, rec := range i.callRecords {
		if rec.phase != reviewing && rec.phase != approved {
			continue
		}
		params, err := i.resolveParams(rec)
		if err != nil || !jsonval.Equal(rec.ParamsAdaptation.ApplyTo(params), rec.unamendedParams()) ||
			rec.Began == 0 && !i.allReadsVisible(rec) && looksAtFollowers() {
			rec.PendingApproval, rec.readyCall, rec.ParamsAdaptation = nil, nil, nil
			rec.moveTo(waiting)
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

func (i *Instance) withdrawn() *turn.Withdrawn {
	if i.Undoing == nil {
		return nil
	}
	var done []string
	failed, left := false, []string{}
	for _, c := range i.Undoing.Calls {
		switch rec := i.findByKey(c.UndoneCall.Undo()); {
		case !rec.Status.IsFinal(), rec.Status == ideafile.Done && i.findByKey(c.UndoneCall).Status != ideafile.Undone:
			return nil
		case rec.Status == ideafile.Done:
			done = append(done, i.nameForPeople(c.UndoneCall))
		default:
			why := i.nameForPeople(c.UndoneCall) + ": " + i.nameForPeople(c.UndoneCall.Undo()) +
				", " + string(rec.Status)
			if rec.Fault != nil {
				why += ": " + rec.Fault.Message
			}
			failed, left = true, append(left, why)
		}
	}
	sentence := "nothing was taken back"
	if len(done) > 0 {
		sentence = "taken back: " + strings.Join(done, ", ")
	}
	if left = append(left, i.Undoing.NotUndone...); len(left) > 0 {
		sentence += "; not taken back: " + strings.Join(left, "; ")
	}
	return &turn.Withdrawn{Summary: sentence, Failed: failed || i.Undoing.Stays && i.Undoing.By == "",
		Nothing: len(done)+len(i.Undoing.Withdraw) == 0}
}
