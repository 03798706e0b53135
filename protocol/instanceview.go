package protocol

import (
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// InstanceView answers the query "status" of an instance.
type InstanceView struct {
	State any        `json:"state"`
	Calls []CallView `json:"calls"`
	// Writes are the last five hundred writes to State, the latest last.
	Writes []StateWrite `json:"writes,omitempty"`
	// Refusals are the last hundred signals that changed nothing; RefusalCount counts all of them.
	Refusals     []approval.Fate `json:"refusals"`
	RefusalCount int             `json:"refused"`
	// ForgottenNote says when, by whom and why the instance's contents were removed; absent if they were not.
	ForgottenNote string `json:"forgotten,omitempty"`
}

func (InstanceView) inline() {}

// StateWrite says who wrote to a place in State, and when. A write of the whole State is one of each of its keys.
type StateWrite struct {
	Path         jsonval.Path `json:"path"`
	OutputMethod string       `json:"method,omitempty" doc:"how it changed what was there; absent: nothing was there"`
	Author       string       `json:"by" doc:"a Call's id, or person:NAME"`
	WrittenAt    time.Time    `json:"at,omitzero"`
}

// CallView is one Call in an InstanceView.
type CallView struct {
	ID     string              `json:"id"`
	Tool   string              `json:"tool"`
	Status ideafile.CallStatus `json:"status"`
	// OutputPath is a plain path, or the text of an expression; null without one.
	OutputPath refexpr.OutputPath `json:"outputPath"`
	// DeciderOrWriter names the last person who decided on the Call. For a skipped Call it names the Call that wrote
	// its path.
	DeciderOrWriter string `json:"by,omitempty"`
	// UntakenBranch is the branch that a skipped Call would have read; DeciderOrWriter then names the Call that did not
	// take it.
	UntakenBranch string      `json:"untaken,omitempty"`
	Error         *diag.Fault `json:"error,omitempty"`
	// UnwrittenPaths lists the places in State that the result was for, but that kept their value.
	UnwrittenPaths []turn.UnwrittenPath `json:"notWritten,omitempty"`
	// Decisions are people's decisions, each with the digest of what was decided on.
	Decisions []approval.Decision `json:"decisions,omitempty"`
	// Remarks are people's remarks on the Call while it waited for a decision, in order.
	Remarks []approval.Decision `json:"remarks,omitempty"`
}
