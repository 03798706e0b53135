package protocol

import (
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// SealInput is one Idea of the chain, before it has a digest. It has no JSON tags: the names of its fields are wire names.
type SealInput struct {
	Process string
	At      int
	Parent  string
	Idea    map[string]any
	Brief   *turn.RequestInput
	Calls   []ideafile.WrittenCall
	Output  any
	// Request is the number of the Request that seals it; 0: none does.
	Request int `json:",omitempty"`
	// Log is what changed the instances since the parent.
	Log []turn.LogEntry `json:",omitempty"`
}

// Sealed is one Idea of the chain: number, digest and place in the store.
type Sealed struct {
	At     int    `json:"at"`
	Digest string `json:"digest"`
	Place  string `json:"place"`
}

// GatherInput is what the last Idea of a split process is made of.
type GatherInput struct {
	Process string `json:"process"`
	// Idea is the Idea file's content, with every correction.
	Idea map[string]any `json:"idea"`
	// Parts are the latest Ideas of the parts.
	Parts []GatherPart `json:"parts"`
	// Parent is the digest of the process's previous Idea; At is the number of the one to be made.
	Parent string `json:"parent,omitempty"`
	At     int    `json:"at"`
	Output any    `json:"output"`
}

// GatherPart is the latest Idea of a part.
type GatherPart struct {
	Process string   `json:"process"`
	Last    Sealed   `json:"last"`
	Tokens  []string `json:"tokens"`
	// Statuses are those of the instances, by token.
	Statuses map[string]ideafile.InstanceStatus `json:"statuses"`
}

// Gathered is what Gather found and sealed.
type Gathered struct {
	States map[string]any `json:"states"` // by token
	Last   Sealed         `json:"last"`
}
