package protocol

import (
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/loop/quota"
	"processidea/model/turn"
)

// DelegationContext is what a process knows of delegates: the Idea files that they run and, if it is a delegate itself,
// for whom.
type DelegationContext struct {
	// Files are Idea files by their path from the folder of the first one. File is the one of this process; empty: the
	// first.
	Files jsonval.Object `json:"files,omitempty"`
	File  string         `json:"file,omitempty"`
	// Resumed is the key in Files of the Idea from which this process goes on, in a fork of the one that it works for;
	// empty: it begins, or is no delegate.
	Resumed string `json:"resumed,omitempty"`
	// Depth counts the delegates within which this process runs.
	Depth int `json:"depth,omitempty"`
	// Ancestors are the processes and instances with which this one ends.
	Ancestors []ProcessRef `json:"above,omitempty"`
	// To is the Call that this process runs for; nil: it is no delegate.
	To *ParentCall `json:"to,omitempty"`
	// Oversight holds the rules, set by the processes that this one works for, about who may decide.
	Oversight []policy.Override `json:"oversight,omitempty"`
}

// ForIdea is what the Ideas of a process need of it: its files, where one of the Tools runs a file.
func (d DelegationContext) ForIdea(idea *ideafile.Idea) DelegationContext {
	if !delegate.AnyToolRunsFile(idea) {
		return DelegationContext{}
	}
	return DelegationContext{Files: d.Files, File: d.File}
}

// ParentCall names the Call that a delegate runs for.
type ParentCall struct {
	Instance string `json:"instance"` // its workflow id
	Call     string `json:"call"`
	// Writes are the paths of State for which it hands values back.
	Writes []jsonval.Path `json:"writes,omitempty"`
}

// DelegateReport is the payload of the signal by which a delegate tells its instance how it stands, and at last what it
// came to.
type DelegateReport struct {
	Call   string      `json:"call"`
	Status loop.Status `json:"status"`
	Output any         `json:"output"`
	Error  *diag.Fault `json:"error,omitempty"`
	// HandedBack are the values that it hands back to its parent's State, by path.
	HandedBack jsonval.Object `json:"handed,omitempty"`
	// CausedBy is who has added or revised any of its instances, once it has ended.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
	// Waiting is what it waits for, as its query "status" tells, and Use what it has begun and used, and needs.
	Waiting  []string      `json:"waiting,omitempty"`
	HeldUp   []turn.HeldUp `json:"heldUp,omitempty"`
	QuotaUse turn.QuotaUse `json:"use,omitzero"`
}

// DelegateRef is a delegate under way.
type DelegateRef struct {
	Call string `json:"call"`
	ProcessRef
	// Status, Waiting and HeldUp are what the delegate reported last. Code is why it is paused. QuotaClaim is its
	// share of what its instance may begin.
	Status     loop.Status      `json:"status,omitempty"`
	Waiting    []string         `json:"waiting,omitempty"`
	HeldUp     []turn.HeldUp    `json:"heldUp,omitempty"`
	Code       string           `json:"code,omitempty"`
	QuotaClaim quota.Allocation `json:"claim,omitzero"`
}
