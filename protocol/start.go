package protocol

import (
	"slices"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// ProcessStart is the input of a process. It is self-contained: no worker needs the files that it was made from.
type ProcessStart struct {
	// Idea is the Idea file's content, with large values in the store.
	Idea jsonval.Object `json:"idea"`
	// ScriptedReplies is a scripted LLM in the form of a replies file; empty: a real one is asked.
	ScriptedReplies string `json:"replies,omitempty"`
	// CanSetSearchAttributes is whether the search attributes are registered with the server.
	CanSetSearchAttributes bool `json:"attributes,omitempty"`
	// IterationsPerRun is the number of passes of its main loop after which a workflow continues as new; 0: when
	// Temporal suggests it. Only tests set it.
	IterationsPerRun int `json:"continueEvery,omitempty"`
	// Part states which part of which process this one is; nil if it is not a part.
	Part *PartRef `json:"part,omitempty"`
	// ResumesSolutionCalls resumes the Calls of the Idea's solution, except those that its record calls done.
	ResumesSolutionCalls bool `json:"withSolution,omitempty"`
	// Quota is what the process may begin if it is a part or a delegate; nil: no limit.
	Quota *turn.Quota `json:"quota,omitempty"`
	// Delegation is what the process knows of delegates, and whether the process is one.
	Delegation DelegationContext `json:"delegation,omitzero"`
	// StartedBy lists who started the process, as the starter said; for a delegate, who started the process that it
	// works for.
	StartedBy []policy.Identity `json:"startedBy,omitempty"`
	// ManualStarts lists who started processes of a schedule by hand, in the order of time.
	ManualStarts []ManualStart `json:"byHand,omitempty"`
	// MinimizesActions is inherited from the process that this one is a part or a delegate of: see InstanceSetup.
	MinimizesActions bool `json:"saveActions,omitempty"`
}

// ManualStart is a start of a schedule's process by hand: by whom, and when. By is empty if the person gave no name.
type ManualStart struct {
	By string `json:"by"`
	policy.Account
	At time.Time `json:"at"`
}

// manualStartTolerance bounds how far the time in the id of a scheduled process may be from the time of a manual start.
const manualStartTolerance = time.Minute

// Starters lists who started the process with an id: StartedBy and, in a schedule, the person who started it by hand.
func (s ProcessStart) Starters(processID string) []policy.Identity {
	list := slices.Clone(s.StartedBy)
	scheduledAt, err := time.Parse(time.RFC3339, processID[max(0, len(processID)-len("2026-11-23T02:00:00Z")):])
	for _, b := range s.ManualStarts {
		if err == nil && scheduledAt.Sub(b.At).Abs() <= manualStartTolerance {
			list = append(list, policy.Identity{Name: b.By, Account: b.Account})
		}
	}
	return list
}

// PartRef names a part of a process.
type PartRef struct {
	PartNumber   int        `json:"number"` // from 1
	SplitProcess ProcessRef `json:"of"`
	// IsWholeOutputFinal is whether the whole has its final output: the part makes none.
	IsWholeOutputFinal bool `json:"outputFinal,omitempty"`
}

// ProcessRef names a process across its runs. The id alone is not enough: another process may use it later.
type ProcessRef struct {
	ID         string `json:"id"`
	FirstRunID string `json:"firstRunId"`
}

// MaxPendingChildStarts is how many instances a process starts at a time: over two thousand pending children would
// leave the workflow stuck.
const MaxPendingChildStarts = 200

// MemoSimulated is the memo field of a simulated process: no real Tool was run.
const MemoSimulated = "simulated"

// UndoesMetaKey is the key of an Idea's meta that says what its process undoes: {"process", "by", "reason"}; and the
// memo field that names that process.
const UndoesMetaKey = "undoes"

// Memo returns the memo of a process with this Idea. A simulated process is marked.
func Memo(idea *ideafile.Idea) jsonval.Object {
	m := jsonval.Object{MemoPath: idea.ProcessPath, MemoVersion: idea.ProcessVersion}
	if idea.Simulation != nil {
		m[MemoSimulated] = true
	}
	if undoneID := jsonval.Lookup(idea.Source, "meta", UndoesMetaKey, "process"); undoneID != nil {
		m[UndoesMetaKey] = undoneID
	}
	return m
}
