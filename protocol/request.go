package protocol

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// PrepareResult is what a process's Tools were bound to.
type PrepareResult struct {
	Bindings map[string]ideafile.ToolBinding `json:"bindings"`
	// CanNotify is whether the worker knows whom to notify of what waits for people.
	CanNotify bool `json:"notify,omitempty"`
	// HasLLM is whether the worker knows an LLM to ask.
	HasLLM bool `json:"llm,omitempty"`
	// SaveActions is whether the worker saves what a hosted server bills, at the price of time: see
	// InstanceSetup.
	SaveActions bool `json:"saveActions,omitempty"`
	// Palette takes the place of the Tools in the Idea, which are too large to travel; nil: they are not.
	Palette map[string]any `json:"palette,omitempty"`
	// Lacks say what the worker lacks for the Tools of the Idea and its delegates, each with the setting to change.
	Lacks []string `json:"lacks,omitempty"`
	// LacksLLM says why none of the Idea's LLMs can be asked, where direct Plans would run before the first Request.
	LacksLLM string `json:"lacksLlm,omitempty"`
	// Problems are what is wrong with the Idea and its delegates, and Tools that cannot be bound.
	Problems diag.Problems `json:"problems,omitempty"`
}

// LoadInput names members of a stored object.
type LoadInput struct {
	// Handle is the object's handle, as jsonval.Handle.Value returns it.
	Handle any `json:"handle"`
	// Members that it does not have are left out; nil: all.
	Members []string `json:"members,omitempty"`
}

// RequestSetup is what all Requests of a process share.
type RequestSetup struct {
	Idea     map[string]any                  `json:"idea"`
	Bindings map[string]ideafile.ToolBinding `json:"bindings"`
	Replies  string                          `json:"replies,omitempty"`
	// HoldCalls: the Calls stay in the reply, and go to no instance. A person must see the Plan first.
	HoldCalls bool `json:"holdCalls,omitempty"`
}

// SentBatch is a Request that an LLM's batch interface has taken.
type SentBatch struct {
	Server string `json:"server,omitempty"` // the worker's name of the LLM's server; empty: its first one
	ID     string `json:"id"`               // the server's id of the batch
	Key    string `json:"key"`              // of the Request within it
	// Request is its number; 0 for a batch of earlier versions, which do not record it.
	Request int `json:"request,omitempty"`
}

// BatchAnswer is what a batch has answered; zero: no batch was asked.
type BatchAnswer struct {
	Completion string `json:"completion"` // as JSON
}

// RequestStates is where the States are that a Request is about: its RequestInput leaves them out.
type RequestStates struct {
	// Base is the Idea of the chain from which they grew; At 0: the Idea in the RequestSetup.
	Base IdeaRef `json:"base"`
	// Changes is what each State differs in from the one there, by token, as jsonval.ComputeDelta returns it.
	Changes map[string]any `json:"changes,omitempty"`
}
