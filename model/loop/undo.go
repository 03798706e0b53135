package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// This file has instances that fail take back what they did (config.onFailure).

// hasDoneCalls reports whether something may be there to take back.
func (p *InstanceProgress) hasDoneCalls() bool {
	//workflowcheck:ignore -- any or none, in any order
	for _, c := range p.calls {
		if c.Status == ideafile.Done {
			return true
		}
	}
	return false
}

// planUndo keeps a Call that takes another back, and the other, for Ideas to tell of: no Request has planned the one,
// and the other may be forgotten.
func (l *Loop) planUndo(inst *InstanceProgress, c turn.CallReport) {
	if !isUndoOrUndone(c) || c.Call.IsZero() {
		return
	}
	known := func(p PlannedCall) bool { return p.key() == c.CallKey() && p.isPlannedFor(inst) }
	if !slices.ContainsFunc(l.plannedCalls, known) {
		l.plannedCalls = append(l.plannedCalls, PlannedCall{Request: c.Request, Index: c.Index, Call: c.Call,
			OnlyForInstances: []string{inst.Token}})
	}
}

func isUndoOrUndone(c turn.CallReport) bool {
	return c.CallKey().IsUndo() || c.Status == ideafile.Undone
}

// endTakenBack ends an instance that has taken back what it could.
func (l *Loop) endTakenBack(inst *InstanceProgress, t turn.TakenBack) {
	status := ideafile.InstanceFailed
	if t.Failed {
		status = ideafile.InstanceUndoFailed
	}
	l.endInstance(inst, status, diag.Faultf(inst.UndoneFor.Code, "%s; %s", inst.UndoneFor.Message, t.Said))
}
