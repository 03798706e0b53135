package client

import (
	"context"
	"errors"
	"slices"

	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/learn/harden"
	"processidea/learn/past"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/protocol"
	"processidea/store/chain"
)

// HardenOptions select the processes to make a Plan from.
type HardenOptions struct {
	// ProcessIDs are at least one. They have finished, and have their chains in the store.
	ProcessIDs []string
	// Tools distinguishes Tools that code runs from Tools whose results the LLM writes.
	Tools ideafiles.WorkerTools
	// MakesTemplate leaves out the initial data of the first process.
	MakesTemplate bool
	// MustNotAskLLM makes the Plan never ask an LLM. The error wraps ErrInvalid if the Plan needs one.
	MustNotAskLLM bool
}

// Harden makes a Plan that needs no LLM from what finished processes have in common. Differences that the data do not
// explain are listed in the result, not guessed. The error wraps ErrNotFound for a process without a chain, and
// ErrInvalid for a process that has not finished, was simulated or has other Tools. If the processes have nothing in
// common it also wraps harden.ErrNothingCommon, and the result, without an Idea, says why.
func (a *Archive) Harden(ctx context.Context, o HardenOptions) (*harden.Result, error) {
	if len(o.ProcessIDs) == 0 {
		return nil, kind.Errorf(ErrInvalid, "harden: no process is named")
	}
	var recordedProcesses []past.RecordedProcess
	for _, id := range o.ProcessIDs {
		recordedProcess, err := a.ReadProcessWithParts(ctx, id, "harden")
		if err != nil {
			return nil, err
		}
		recordedProcesses = append(recordedProcesses, recordedProcess)
	}
	firstProcessIdeas := recordedProcesses[0].Ideas
	idea, _ := ideafile.ReadIdea(firstProcessIdeas[len(firstProcessIdeas)-1])
	result, err := harden.Harden(recordedProcesses, o.Tools.Bind(idea), o.MakesTemplate)
	if err == nil && o.MustNotAskLLM {
		err = result.MarkComplete()
	}
	return result, kind.WithKind(ErrInvalid, err)
}

// ReadProcessWithParts reads the whole chain of a process, and of its parts if it was split. verb names the operation
// in the error, which wraps ErrNotFound if there is no chain.
func (a *Archive) ReadProcessWithParts(ctx context.Context, id, errorVerb string) (past.RecordedProcess, error) {
	recordedProcess, err := a.Chain(id).readRecordedProcess(ctx, errorVerb)
	if err != nil {
		return recordedProcess, err
	}
	parts, err := a.partChains(ctx, id)
	for n := 0; n < len(parts) && err == nil; n++ {
		var part past.RecordedProcess
		if part, err = parts[n].readRecordedProcess(ctx, errorVerb); err == nil {
			recordedProcess.Parts = append(recordedProcess.Parts, part)
		}
	}
	return recordedProcess, err
}

// partChains returns the chains of the parts, in order.
func (a *Archive) partChains(ctx context.Context, id string) (parts []*Chain, err error) {
	processIDs, err := a.ProcessIDs(ctx)
	var partNumbers []int
	for _, processID := range processIDs {
		if wholeID, n, isPart := spelling.SplitPartID(processID); isPart && wholeID == id {
			partNumbers = append(partNumbers, n)
		}
	}
	slices.Sort(partNumbers)
	for _, n := range partNumbers {
		parts = append(parts, a.Chain(protocol.PartID(id, n)))
	}
	return parts, err
}

// readRecordedProcess reads the whole chain.
func (c *Chain) readRecordedProcess(ctx context.Context, errorVerb string) (past.RecordedProcess, error) {
	recordedProcess := past.RecordedProcess{ProcessID: c.processID}
	lastIdeaNumber, err := c.checkIdeaNumber(ctx, errorVerb, 0)
	for ideaNumber := 1; ideaNumber <= lastIdeaNumber && err == nil; ideaNumber++ {
		var idea map[string]any
		if idea, err = c.chainStore.Load(ctx, c.processID, ideaNumber); err == nil {
			recordedProcess.Ideas = append(recordedProcess.Ideas, idea)
		}
	}
	if err == nil {
		recordedProcess.Log, err = c.chainStore.ListWrites(ctx, c.processID)
	}
	if errors.Is(err, chain.ErrNoIdea) {
		err = kind.WithKind(ErrNotFound, err)
	}
	return recordedProcess, err
}
