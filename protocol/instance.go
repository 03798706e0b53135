package protocol

import (
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// InstanceSetup is what all instances of a process share.
type InstanceSetup struct {
	Process string `json:"process"`
	// FirstRunID is the id of the process's first run: it stays the same across continue-as-new.
	FirstRunID string         `json:"firstRunId"`
	Tools      map[string]any `json:"tools"`
	// Palette is the handle of the Tools where they are too many to travel: an instance loads those that its Calls use.
	Palette   any                             `json:"palette,omitempty"`
	Context   []any                           `json:"context,omitempty"`
	Bindings  map[string]ideafile.ToolBinding `json:"bindings"`
	Oversight policy.Override                 `json:"oversight,omitzero"`
	// Adapt is whether the LLM may be asked to fit values to the Tools' schemas.
	Adapt bool `json:"adapt,omitempty"`
	// Path is meta.path of the process's Idea.
	Path string `json:"path,omitempty"`
	// Attributes is whether the search attributes are registered with the server.
	Attributes bool `json:"attributes,omitempty"`
	// Parent is the process that Process is a part of; nil: it is no part.
	Parent *ProcessRef `json:"whole,omitempty"`
	// SaveActions: the server bills actions. Reports go by command, and no timer has an instance, a part or a delegate
	// look whether its process is still there: workers look after all of them.
	SaveActions bool `json:"saveActions,omitempty"`
	// ReportsInLists: the process takes reports of several instances in one signal.
	ReportsInLists bool `json:"reportsInLists,omitempty"`
	// ContinueEvery is copied from the process's Start.
	ContinueEvery int `json:"continueEvery,omitempty"`
	// Servers are the MCP servers of the Idea.
	Servers []ideafile.MCPServer `json:"servers,omitempty"`
	// UndoOnFailure is whether an instance that fails takes back what it did.
	UndoOnFailure bool `json:"undoOnFailure,omitempty"`
	// Held is whether the process is paused: nothing starts until it goes on.
	Held bool `json:"held,omitempty"`
	// Delegation, LLM and Replies are what the delegates of Calls begin with.
	Delegation DelegationContext `json:"delegation,omitzero"`
	LLM        any               `json:"llm,omitempty"`
	Replies    string            `json:"replies,omitempty"`
	// StartedBy is who started the process, and Decided what was decided on Calls in the processes that it was forked
	// from.
	StartedBy []policy.Identity      `json:"startedBy,omitempty"`
	Decided   []policy.PriorDecision `json:"decided,omitempty"`
}

// InstanceStart is what one instance has for itself.
type InstanceStart struct {
	Token   string `json:"token"`
	Context []any  `json:"context,omitempty"`
	// CausedBy is who has added or revised it; "" is somebody who did not say who they are.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
	// Quota is what it may begin; nil: any number.
	Quota *turn.Quota `json:"quota,omitempty"`
	// Reopened is what the instance goes on from that had ended; nil: it is new.
	Reopened *ReopenedInstance `json:"reopened,omitempty"`
}

// ReopenedInstance is what an instance that had ended had reported to its process.
type ReopenedInstance struct {
	Writes        []statelog.Write  `json:"writes,omitempty"`
	Calls         []turn.CallReport `json:"calls,omitempty"`
	ClosedThrough int               `json:"closed,omitempty"`
	// ReportNumber and HistoryLength belong to its last report; Corrections counts the corrections applied by then.
	ReportNumber    int `json:"reports,omitempty"`
	HistoryLength   int `json:"events,omitempty"`
	CorrectionCount int `json:"corrected,omitempty"`
	ReleaseNumber   int `json:"releases,omitempty"`
	// Begun is what it has begun, with its delegates.
	Begun turn.QuotaUse `json:"begun,omitzero"`
}

// InstanceResult is what an instance ends with.
type InstanceResult struct {
	Status ideafile.InstanceStatus `json:"status"`
	State  any                     `json:"state"`
}

// Owners lists the processes with which an instance ends: its own, the one that this is a part of, and those that it is
// a delegate of.
func (s InstanceSetup) Owners() []ProcessRef {
	list := []ProcessRef{{ID: s.Process, FirstRunID: s.FirstRunID}}
	if s.Parent != nil {
		list = append(list, *s.Parent)
	}
	return append(list, s.Delegation.Ancestors...)
}
