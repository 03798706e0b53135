package protocol

import "processidea/model/ideafile"

// Start is what a process starts from. It is self-contained: no worker needs the files it was made of.
type Start struct {
	// Idea is the Idea file's content, with large values in the store.
	Idea map[string]any `json:"idea"`
	// Replies is a scripted LLM in the form of a replies file; empty where a real one is asked.
	Replies string `json:"replies,omitempty"`
	// Attributes says that the search attributes are registered.
	Attributes bool `json:"attributes,omitempty"`
	// ContinueEvery is after how many passes through its loop a workflow continues as new; 0: when Temporal suggests it.
	// For tests.
	ContinueEvery int `json:"continueEvery,omitempty"`
	// Part says which part of which process this one is; nil: it is one by itself.
	Part *PartOf `json:"part,omitempty"`
	// WithSolution takes up the Calls of the Idea's solution, minus those that its record calls done.
	WithSolution bool `json:"withSolution,omitempty"`
	// Delegation is what it knows of delegates, and whether it is one.
	Delegation Delegation `json:"delegation,omitzero"`
}

// PartOf names a part of a process.
type PartOf struct {
	Number int        `json:"number"` // from 1
	Of     ProcessRef `json:"of"`
}

// ProcessRef names a process beyond its runs: an id may be used again, by another process.
type ProcessRef struct {
	ID         string `json:"id"`
	FirstRunID string `json:"firstRunId"`
}

// MemoSimulated says of a process that no Tool of it was touched.
const MemoSimulated = "simulated"

// Memo describes a process by its Idea, and marks a simulated one.
func Memo(idea *ideafile.Idea) map[string]any {
	m := map[string]any{MemoPath: idea.Path, MemoVersion: idea.Version}
	if idea.Simulated != nil {
		m[MemoSimulated] = true
	}
	return m
}
