package protocol

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/quality"
	"processidea/model/turn"
)

// SealInput is one Idea of the chain, before it has a digest. It has no JSON tags: its field names are wire names.
type SealInput struct {
	Process string
	At      int
	Parent  string
	Idea    map[string]any
	Brief   *turn.RequestInput
	Calls   []ideafile.WrittenCall
	Output  any
	// Finished is whether the solution says that it is finished.
	Finished bool `json:",omitempty"`
	// Notes are the solution's notes.
	Notes string `json:",omitempty"`
	// Request is the number of the Request that seals the Idea; 0: no Request does.
	Request int `json:",omitempty"`
	// Log is what changed the instances since the parent.
	Log []turn.LogEntry `json:",omitempty"`
	// LLMUsages say which LLM answered since the parent; the Request that seals the Idea comes last. If no LLM answered
	// since, they say which one answered before.
	LLMUsages []turn.LLMUsage `json:"LLM,omitempty"`
	// Parts are, for a split process, the Ideas of the parts that this Idea was made from.
	Parts []PartIdea `json:",omitempty"`
	// Quality is the result of asking for answers twice; nil: no answer was asked for twice.
	Quality *quality.Report `json:",omitempty"`
	// Delegation has the files that the Idea carries for its delegates.
	Delegation DelegationContext `json:",omitzero"`
}

// PartIdea is an Idea of a part, as the meta of an Idea names it.
type PartIdea struct {
	ProcessID  string `json:"process"`
	IdeaNumber int    `json:"at"`
	Digest     string `json:"digest"`
}

// IdeaRef is one Idea of the chain: number, digest and place in the store.
type IdeaRef struct {
	IdeaNumber   int    `json:"at"`
	Digest       string `json:"digest"`
	ManifestName string `json:"place"`
}

// GatherInput is what an Idea of a split process is made from.
type GatherInput struct {
	ProcessID string `json:"process"`
	// Idea is the Idea file's content, with every correction.
	Idea map[string]any `json:"idea"`
	// Parts are the latest Ideas of the parts.
	Parts []GatherPart `json:"parts"`
	// ParentDigest is the digest of the process's previous Idea; IdeaNumber is the number of the one to be made.
	ParentDigest string `json:"parent,omitempty"`
	IdeaNumber   int    `json:"at"`
	Output       any    `json:"output"`
	// Log lists people's decisions on the whole process since the previous Idea. LLMUsages say which LLM answered the
	// whole process in that time.
	Log       []turn.LogEntry `json:"log,omitempty"`
	LLMUsages []turn.LLMUsage `json:"llm,omitempty"`
	// OmitsStates leaves the States out of the answer.
	OmitsStates bool `json:"stateless,omitempty"`
	// Wirings are the recipes for Output, in order; with none, Output is used as given.
	Wirings []loop.OutputWiring `json:"wirings,omitempty"`
	// Quality is the result of asking for answers twice; nil: no answer was asked for twice.
	Quality *quality.Report `json:"quality,omitempty"`
	// GathersOnlyStates is whether nothing is to be sealed: only the States are gathered.
	GathersOnlyStates bool `json:"statesOnly,omitempty"`
	// Delegation has the files that the Idea carries for its delegates.
	Delegation DelegationContext `json:"delegation,omitzero"`
}

// GatherPart is the latest Idea of a part.
type GatherPart struct {
	ProcessID      string   `json:"process"`
	LastIdea       IdeaRef  `json:"last"`
	InstanceTokens []string `json:"tokens"`
	// StatusByInstance are the instances' statuses, by token.
	StatusByInstance map[string]ideafile.InstanceStatus `json:"statuses"`
	// GatheredThroughIdea is the number of the part's latest Idea whose log has already been gathered.
	GatheredThroughIdea int `json:"since,omitempty"`
}

// ForwardedSteeringSignalID is the id of a steering signal that a split process passes on to its parts.
const ForwardedSteeringSignalID = "~whole"

// GatherResult is what the activity Gather found and sealed.
type GatherResult struct {
	StateByInstance map[string]any `json:"states"` // by token
	LastIdea        IdeaRef        `json:"last"`
	// Output is what the Wirings made. Fault is why they could not; then nothing is sealed.
	Output any         `json:"output,omitempty"`
	Fault  *diag.Fault `json:"fault,omitempty"`
}
