package protocol

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// PrepareResult holds the bindings of a process's Tools, and what the worker can do.
type PrepareResult struct {
	Bindings map[string]ideafile.ToolBinding `json:"bindings"`
	// CanNotify is whether the worker has addresses to notify of what waits for people.
	CanNotify bool `json:"notify,omitempty"`
	// HasLLM is whether the worker has an LLM to ask.
	HasLLM bool `json:"llm,omitempty"`
	// MinimizesActions is whether the worker trades time for fewer billed actions of a hosted server: see
	// InstanceSetup.
	MinimizesActions bool `json:"saveActions,omitempty"`
	// StoredPalette replaces the Tools in the Idea if they are too large to travel; nil: they are not.
	StoredPalette map[string]any `json:"palette,omitempty"`
	// MissingRequirements lists what the worker lacks for the Tools of the Idea and its delegates, each with the
	// setting to change.
	MissingRequirements []string `json:"lacks,omitempty"`
	// NoUsableLLMReason says why none of the Idea's LLMs can be asked, where direct Plans would run before the first
	// Request.
	NoUsableLLMReason string `json:"lacksLlm,omitempty"`
	// Problems are the mistakes in the Idea and its delegates, and Tools that cannot be bound.
	Problems diag.Problems `json:"problems,omitempty"`
}

// LoadObjectInput names members of a stored object.
type LoadObjectInput struct {
	// Handle is the object's handle, as jsonval.BlobHandle.AsJSONValue returns it.
	Handle any `json:"handle"`
	// MemberNames that the object does not have are left out of the result; nil: all.
	MemberNames []string `json:"members,omitempty"`
}

// RequestSetup is what all Requests of a process share.
type RequestSetup struct {
	Idea            map[string]any                  `json:"idea"`
	Bindings        map[string]ideafile.ToolBinding `json:"bindings"`
	ScriptedReplies string                          `json:"replies,omitempty"`
	// WithholdsCalls keeps the Calls in the reply: no instance gets them, since a person must see the Plan first.
	WithholdsCalls bool `json:"holdCalls,omitempty"`
}

// SentLLMBatch is a Request that an LLM's batch interface has accepted.
type SentLLMBatch struct {
	Server     string `json:"server,omitempty"` // the worker's name of the LLM's server; empty: its first one
	ID         string `json:"id"`               // the server's id of the batch
	RequestKey string `json:"key"`              // the key of the Request within the batch
	// RequestNumber is its number; 0 for a batch of earlier versions, which do not record it.
	RequestNumber int `json:"request,omitempty"`
}

// LLMBatchAnswer is the answer of a batch; zero: no batch was asked.
type LLMBatchAnswer struct {
	Completion string `json:"completion"` // as JSON
}

// RequestStates says where the States of a Request are: its RequestInput leaves them out.
type RequestStates struct {
	// BaseIdea is the Idea of the chain that the States grew from; if its IdeaNumber is 0, the Idea in the
	// RequestSetup.
	BaseIdea IdeaRef `json:"base"`
	// DeltaByToken is how each State differs from the State in BaseIdea, by token, as jsonval.ComputeDelta returns it.
	DeltaByToken map[string]any `json:"changes,omitempty"`
}
