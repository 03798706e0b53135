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

// DelegationContext is what a process knows of delegates: the Idea files that they run and, if the process is a
// delegate itself, the Call that it runs for.
type DelegationContext struct {
	// Files are Idea files by their path from the folder of the first one. FileKey is the key of this process's file;
	// empty: the first.
	Files   jsonval.Object `json:"files,omitempty"`
	FileKey string         `json:"file,omitempty"`
	// ResumedIdeaKey is the key in Files of the Idea that this delegate resumes, when its parent process was forked;
	// empty: the process begins anew, or is no delegate.
	ResumedIdeaKey string `json:"resumed,omitempty"`
	// Depth counts the delegates above this process, itself included.
	Depth int `json:"depth,omitempty"`
	// Ancestors are the processes and instances whose end ends this process.
	Ancestors []ProcessRef `json:"above,omitempty"`
	// Caller is the Call that this process runs for; nil: the process is no delegate.
	Caller *ParentCall `json:"to,omitempty"`
	// Oversight holds the rules about who may decide that the processes above this one have set.
	Oversight []policy.Oversight `json:"oversight,omitempty"`
}

// ForIdea returns the part that an Idea needs to keep: the files, if one of its Tools runs a file.
func (d DelegationContext) ForIdea(idea *ideafile.Idea) DelegationContext {
	if !delegate.AnyToolRunsFile(idea) {
		return DelegationContext{}
	}
	return DelegationContext{Files: d.Files, FileKey: d.FileKey}
}

// ParentCall names the Call that a delegate runs for.
type ParentCall struct {
	InstanceWorkflowID string `json:"instance"` // its workflow id
	CallID             string `json:"call"`
	// WritablePaths are the paths of State for which the delegate hands values back.
	WritablePaths []jsonval.Path `json:"writes,omitempty"`
}

// DelegateReport is the payload of the signal with which a delegate reports its status to its instance, and at the end
// its result.
type DelegateReport struct {
	CallID string      `json:"call"`
	Status loop.Status `json:"status"`
	Output any         `json:"output"`
	Error  *diag.Fault `json:"error,omitempty"`
	// HandedBackValues are the values that the delegate hands back to its parent's State, by path.
	HandedBackValues jsonval.Object `json:"handed,omitempty"`
	// CausedBy lists who has added or revised any of the delegate's instances. It is set once the delegate has ended.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
	// WaitingFor is what the delegate waits for, as in its query "status". QuotaUse is what it has begun, used, and
	// needs.
	WaitingFor []string      `json:"waiting,omitempty"`
	HoldUps    []turn.HoldUp `json:"heldUp,omitempty"`
	QuotaUse   turn.QuotaUse `json:"use,omitzero"`
}

// DelegateRef is a running delegate.
type DelegateRef struct {
	CallID string `json:"call"`
	ProcessRef
	// Status, WaitingFor and HoldUps are from the delegate's last report. PauseCode is why it is paused. QuotaClaim is
	// its share of what its instance may begin.
	Status     loop.Status      `json:"status,omitempty"`
	WaitingFor []string         `json:"waiting,omitempty"`
	HoldUps    []turn.HoldUp    `json:"heldUp,omitempty"`
	PauseCode  string           `json:"code,omitempty"`
	QuotaClaim quota.Allocation `json:"claim,omitzero"`
}
