package protocol

import (
	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// InstanceView answers the query "status" of an instance.
type InstanceView struct {
	State any        `json:"state"`
	Calls []CallView `json:"calls"`
	// Refusals are the last hundred signals that changed nothing, Refused counts them all.
	Refusals []approval.Fate `json:"refusals"`
	Refused  int             `json:"refused"`
	// Forgotten says when, by whom and why what the instance worked on was removed; absent: it was not.
	Forgotten string `json:"forgotten,omitempty"`
}

func (InstanceView) inline() {}

// CallView is one Call in an InstanceView.
type CallView struct {
	ID     string              `json:"id"`
	Tool   string              `json:"tool"`
	Status ideafile.CallStatus `json:"status"`
	// OutputPath is a plain path, or the text of an expression; null without one.
	OutputPath refexpr.OutputPath `json:"outputPath"`
	// By names who decided on the Call last, or who wrote the path of a skipped one.
	By string `json:"by,omitempty"`
	// UntakenBranch is the branch that a skipped Call would have read; By names the Call that did not take it.
	UntakenBranch string      `json:"untaken,omitempty"`
	Error         *diag.Fault `json:"error,omitempty"`
	// NotWritten lists the places in State that kept what they had, although the result was for them.
	NotWritten []turn.UnwrittenPath `json:"notWritten,omitempty"`
	// Decisions are those that people took, each with the digest of what was decided on.
	Decisions []approval.Decision `json:"decisions,omitempty"`
	// Remarks are what people said of the Call while it waited for them, in order.
	Remarks []approval.Decision `json:"remarks,omitempty"`
}
