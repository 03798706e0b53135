package protocol

import "processidea/model/ideafile"

// InstanceSetup is what all instances of a process share.
type InstanceSetup struct {
	Process string `json:"process"`
	// FirstRunID is the process's first run: its id beyond continue-as-new.
	FirstRunID string                      `json:"firstRunId"`
	Tools      map[string]any              `json:"tools"`
	Context    []any                       `json:"context,omitempty"`
	Bindings   map[string]ideafile.Binding `json:"bindings"`
	Oversight  ideafile.ApprovalOverride   `json:"oversight,omitzero"`
	// Adapt says that the LLM may be asked to fit values to the Tools' schemas.
	Adapt bool `json:"adapt,omitempty"`
	// Attributes says that the search attributes are registered.
	Attributes bool `json:"attributes,omitempty"`
	// Whole is the process that Process is a part of; nil: it is one by itself.
	Whole *ProcessRef `json:"whole,omitempty"`
	// ContinueEvery is that of the process's Start.
	ContinueEvery int `json:"continueEvery,omitempty"`
	// Servers are the MCP servers of the Idea.
	Servers []ideafile.MCPServer `json:"servers,omitempty"`
	// Held says that the process is paused: nothing starts until it goes on.
	Held bool `json:"held,omitempty"`
	// Delegation, LLM and Replies are what the delegates of Calls begin with.
	Delegation Delegation `json:"delegation,omitzero"`
	LLM        any        `json:"llm,omitempty"`
	Replies    string     `json:"replies,omitempty"`
}

// InstanceOwn is what one instance has for itself.
type InstanceOwn struct {
	Token   string `json:"token"`
	Context []any  `json:"context,omitempty"`
}

// InstanceResult is what an instance ends with.
type InstanceResult struct {
	Status ideafile.InstanceStatus `json:"status"`
	State  any                     `json:"state"`
}

// belongsTo lists the processes that an instance ends with: its own, the one that this is a part of, and those
// that it is a delegate of.
func (s InstanceSetup) BelongsTo() []ProcessRef {
	list := []ProcessRef{{s.Process, s.FirstRunID}}
	if s.Whole != nil {
		list = append(list, *s.Whole)
	}
	return append(list, s.Delegation.Above...)
}
