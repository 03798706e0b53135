package protocol

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// PrepareResult is what a process's Tools were bound to.
type PrepareResult struct {
	Bindings map[string]ideafile.Binding `json:"bindings"`
	// Notify is whether the worker knows whom to notify of what waits for people.
	Notify bool `json:"notify,omitempty"`
	// LLM is whether the worker knows an LLM to ask.
	LLM bool `json:"llm,omitempty"`
	// Problems are Tools that cannot be bound.
	Problems diag.Problems `json:"problems,omitempty"`
}

// RequestSetup is what all Requests of a process share.
type RequestSetup struct {
	Idea     map[string]any              `json:"idea"`
	Bindings map[string]ideafile.Binding `json:"bindings"`
	Replies  string                      `json:"replies,omitempty"`
}

// RequestStates is where the States are that a Request is about: its RequestInput leaves them out.
type RequestStates struct {
	// Base is the Idea of the chain from which they grew; At 0: the Idea in the RequestSetup.
	Base Sealed `json:"base"`
	// Changes is what each State differs in from the one there, by token, as jsonval.Delta returns it.
	Changes map[string]any `json:"changes,omitempty"`
}
