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
	// Palette is the handle of the Tools if they are too large to travel: an instance loads the Tools that its Calls
	// use.
	Palette   any                             `json:"palette,omitempty"`
	Context   []any                           `json:"context,omitempty"`
	Bindings  map[string]ideafile.ToolBinding `json:"bindings"`
	Oversight policy.Override                 `json:"oversight,omitzero"`
	// Adapt is whether the LLM may be asked to fit values to the Tools' schemas.
	Adapt bool `json:"adapt,omitempty"`
	// Path is meta.path of the process's Idea.
	Path string `json:"path,omitempty"`
	// HasAttributes is whether the search attributes are registered with the server.
	HasAttributes bool `json:"attributes,omitempty"`
	// Parent is the process that Process is a part of; nil: Process is no part.
	Parent *ProcessRef `json:"whole,omitempty"`
	// SaveActions is set where the server bills actions. Then reports are sent by command, and instances, parts and
	// delegates set no timer to check whether their process still exists: workers check all of them.
	SaveActions bool `json:"saveActions,omitempty"`
	// ReportsInLists is whether the process accepts reports of several instances in one signal.
	ReportsInLists bool `json:"reportsInLists,omitempty"`
	// ContinueEvery is copied from the process's Start.
	ContinueEvery int `json:"continueEvery,omitempty"`
	// Servers are the MCP servers of the Idea.
	Servers []ideafile.MCPServer `json:"servers,omitempty"`
	// UndoOnFailure is whether an instance that fails undoes what it did.
	UndoOnFailure bool `json:"undoOnFailure,omitempty"`
	// Held is whether the process is paused: nothing starts until the process resumes.
	Held bool `json:"held,omitempty"`
	// Delegation, LLM and Replies are passed to the delegates of Calls.
	Delegation DelegationContext `json:"delegation,omitzero"`
	LLM        any               `json:"llm,omitempty"`
	Replies    string            `json:"replies,omitempty"`
	// StartedBy lists who started the process. Decided lists the decisions on Calls in the processes that it was forked
	// from.
	StartedBy      []policy.Identity      `json:"startedBy,omitempty"`
	PriorDecisions []policy.PriorDecision `json:"decided,omitempty"`
}

// InstanceStart is the input of one instance that other instances do not share.
type InstanceStart struct {
	Token   string `json:"token"`
	Context []any  `json:"context,omitempty"`
	// CausedBy lists who has added or revised the instance; "" is a person who gave no name.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
	// Quota is what the instance may begin; nil: no limit.
	Quota *turn.Quota `json:"quota,omitempty"`
	// Reopened is set if the instance had ended: the state from which it goes on; nil: the instance is new.
	Reopened *ReopenedInstance `json:"reopened,omitempty"`
}

// ReopenedInstance is what an ended instance had last reported to its process.
type ReopenedInstance struct {
	Writes        []statelog.Write  `json:"writes,omitempty"`
	Calls         []turn.CallReport `json:"calls,omitempty"`
	ClosedThrough int               `json:"closed,omitempty"`
	// ReportNumber and HistoryLength belong to its last report; CorrectionCount counts the corrections applied by then.
	ReportNumber    int `json:"reports,omitempty"`
	HistoryLength   int `json:"events,omitempty"`
	CorrectionCount int `json:"corrected,omitempty"`
	ResumeNumber    int `json:"releases,omitempty"`
	// Used is what the instance has begun, its delegates included.
	Used turn.QuotaUse `json:"begun,omitzero"`
}

// InstanceResult is the final result of an instance.
type InstanceResult struct {
	Status ideafile.InstanceStatus `json:"status"`
	State  any                     `json:"state"`
}

// Owners lists the processes whose end ends an instance: its own process, the one that this is a part of, and those
// that it is a delegate of.
func (s InstanceSetup) Owners() []ProcessRef {
	list := []ProcessRef{{ID: s.Process, FirstRunID: s.FirstRunID}}
	if s.Parent != nil {
		list = append(list, *s.Parent)
	}
	return append(list, s.Delegation.Ancestors...)
}
