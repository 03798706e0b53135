package protocol

import (
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// InstanceSetup is what all instances of a process share.
type InstanceSetup struct {
	ProcessID string `json:"process"`
	// ProcessFirstRunID is the id of the process's first run: it stays the same across continue-as-new.
	ProcessFirstRunID string         `json:"firstRunId"`
	Tools             map[string]any `json:"tools"`
	// PaletteHandle is the handle of the Tools if they are too large to travel: an instance loads the Tools that its
	// Calls use.
	PaletteHandle any                             `json:"palette,omitempty"`
	Context       []any                           `json:"context,omitempty"`
	Bindings      map[string]ideafile.ToolBinding `json:"bindings"`
	Oversight     policy.Oversight                `json:"oversight,omitzero"`
	// LLMMayAdaptParams is whether the LLM may be asked to fit values to the Tools' schemas.
	LLMMayAdaptParams bool `json:"adapt,omitempty"`
	// ProcessPath is meta.path of the process's Idea.
	ProcessPath string `json:"path,omitempty"`
	// CanSetSearchAttributes is whether the search attributes are registered with the server.
	CanSetSearchAttributes bool `json:"attributes,omitempty"`
	// SplitProcess is the process that ProcessID is a part of; nil: it is no part.
	SplitProcess *ProcessRef `json:"whole,omitempty"`
	// MinimizesActions is set where the server bills actions. Then reports are sent by command, and instances, parts
	// and delegates set no timer to check whether their process still exists: workers check all of them.
	MinimizesActions bool `json:"saveActions,omitempty"`
	// AcceptsReportLists is whether the process accepts reports of several instances in one signal.
	AcceptsReportLists bool `json:"reportsInLists,omitempty"`
	// IterationsPerRun is copied from the process's Start.
	IterationsPerRun int `json:"continueEvery,omitempty"`
	// MCPServers are the MCP servers of the Idea.
	MCPServers []ideafile.MCPServer `json:"servers,omitempty"`
	// UndoOnFailure is whether an instance that fails undoes what it did.
	UndoOnFailure bool `json:"undoOnFailure,omitempty"`
	// IsHeld is whether the process is paused: nothing starts until the process resumes.
	IsHeld bool `json:"held,omitempty"`
	// Delegation, LLMConfig and ScriptedReplies are passed to the delegates of Calls.
	Delegation      DelegationContext `json:"delegation,omitzero"`
	LLMConfig       any               `json:"llm,omitempty"`
	ScriptedReplies string            `json:"replies,omitempty"`
	// StartedBy lists who started the process. PriorDecisions lists the decisions on Calls in the processes that it was
	// forked from.
	StartedBy      []policy.Identity      `json:"startedBy,omitempty"`
	PriorDecisions []policy.PriorDecision `json:"decided,omitempty"`
}

// InstanceStart is the input of one instance that other instances do not share.
type InstanceStart struct {
	InstanceToken string `json:"token"`
	Context       []any  `json:"context,omitempty"`
	// CausedBy lists who has added or revised the instance; "" is a person who gave no name.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
	// Quota is what the instance may begin; nil: no limit.
	Quota *turn.Quota `json:"quota,omitempty"`
	// Reopened is set if the instance had ended: the state from which it goes on; nil: the instance is new.
	Reopened *ReopenedInstance `json:"reopened,omitempty"`
}

// ReopenedInstance is what an ended instance had last reported to its process.
type ReopenedInstance struct {
	Writes               []statelog.Write  `json:"writes,omitempty"`
	Calls                []turn.CallReport `json:"calls,omitempty"`
	ClosedThroughRequest int               `json:"closed,omitempty"`
	// LastReportNumber and HistoryLength belong to its last report; CorrectionCount counts the corrections applied by
	// then.
	LastReportNumber int `json:"reports,omitempty"`
	HistoryLength    int `json:"events,omitempty"`
	CorrectionCount  int `json:"corrected,omitempty"`
	ResumeNumber     int `json:"releases,omitempty"`
	// QuotaUse is what the instance has begun, its delegates included.
	QuotaUse turn.QuotaUse `json:"begun,omitzero"`
}

// InstanceResult is the final result of an instance.
type InstanceResult struct {
	Status ideafile.InstanceStatus `json:"status"`
	State  any                     `json:"state"`
}

// Owners lists the processes whose end ends an instance: its own process, the one that this is a part of, and those
// that it is a delegate of.
func (s InstanceSetup) Owners() []ProcessRef {
	list := []ProcessRef{{ID: s.ProcessID, FirstRunID: s.ProcessFirstRunID}}
	if s.SplitProcess != nil {
		list = append(list, *s.SplitProcess)
	}
	return append(list, s.Delegation.Ancestors...)
}
