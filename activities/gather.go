package activities

import (
	"context"
	"errors"
	"strings"
	"sync"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// GatherParts reads the latest States of the parts of a process from their chains, and their logs since its last run.
// It makes the output by the Wirings, if there are any, and seals the process's own Idea with all of them. An instance
// whose part has sealed nothing has its initial State.
func (a *Activities) GatherParts(ctx context.Context, in protocol.GatherInput) (*protocol.GatherResult, error) {
	defer StartHeartbeats(ctx)()
	result := &protocol.GatherResult{StateByInstance: map[string]any{}}
	snapshotInput, log, llmUsages := &turn.RequestInput{ProcessID: in.ProcessID}, in.Log, in.LLMUsages
	var partIdeas []protocol.PartIdea
	planPositionsByToken := turn.DirectPlanPositionsByToken(in.Idea["context"])
	initialContext := a.lazyContextReader(ctx, in.Idea)
	for _, part := range in.Parts {
		lastContext, states, err := a.latestPartContents(ctx, initialContext, part)
		if err != nil {
			return nil, err
		}
		if part.LastIdea.IdeaNumber > 0 {
			partIdeas = append(partIdeas, protocol.PartIdea{ProcessID: part.ProcessID,
				IdeaNumber: part.LastIdea.IdeaNumber, Digest: part.LastIdea.Digest})
		}
		partLog, err := a.readPartLog(ctx, part)
		if err != nil {
			return nil, err
		}
		log = append(log, partLog...)
		firstIndex := len(snapshotInput.Instances)
		snapshotInput.AddPartContext(planPositionsByToken, lastContext, part.InstanceTokens, states)
		for n, token := range part.InstanceTokens {
			result.StateByInstance[token] = states[token]
			if status, hasStatus := part.StatusByInstance[token]; hasStatus {
				snapshotInput.Instances[firstIndex+n].EndStatus = status
			}
		}
	}
	result.Output = in.Output
	if len(in.Wirings) > 0 {
		idea, err := ideaOrError(ideafile.ReadIdea(in.Idea))
		if err != nil {
			return nil, err
		}
		result.Output, result.Fault = loop.ResolveOutputWirings(idea, in.Wirings, func(token string) any {
			return result.StateByInstance[token]
		}, nil)
	}
	if result.Fault != nil || in.GathersOnlyStates {
		return result, nil
	}
	sealedRef, err := a.sealIdea(ctx, protocol.SealInput{
		Process: in.ProcessID, At: in.IdeaNumber, Parent: in.ParentDigest, Idea: in.Idea, Brief: snapshotInput,
		Calls: []ideafile.WrittenCall{}, Output: result.Output, Log: log, LLMUsages: llmUsages, Parts: partIdeas,
		Quality: in.Quality, Delegation: in.Delegation,
	})
	if err != nil {
		return nil, err
	}
	if result.LastIdea = *sealedRef; in.OmitsStates {
		result.StateByInstance = nil
	}
	return result, nil
}

// lazyContextReader returns a function that reads an Idea at its first call and returns its context at each: a process
// of a hundred thousand instances has a thousand parts.
func (a *Activities) lazyContextReader(ctx context.Context,
	source map[string]any) func() (ideafile.ContextByInstance, error) {
	return sync.OnceValues(func() (ideafile.ContextByInstance, error) {
		idea, err := a.readIdeaWithTools(ctx, source)
		if err != nil {
			return ideafile.ContextByInstance{}, err
		}
		return ideafile.SplitMessagesByInstance(idea.Context), nil
	})
}

// latestPartContents returns the context of the last Idea of a part, and the States in it. If the part has sealed no
// Idea, it returns no context, and the States that the part's instances have in the initial context of the whole.
func (a *Activities) latestPartContents(
	ctx context.Context, initialContext func() (ideafile.ContextByInstance, error), part protocol.GatherPart,
) (lastContext any, stateByToken map[string]any, err error) {
	if part.LastIdea.IdeaNumber > 0 {
		lastContext, err = a.Chains.IdeaContext(ctx, part.ProcessID, part.LastIdea)
		if err == nil {
			stateByToken, err = a.Chains.States(ctx, part.ProcessID, part.LastIdea)
		}
		if !errors.Is(err, chain.ErrNoIdea) {
			return lastContext, stateByToken, err
		}
	}
	initial, err := initialContext()
	if err != nil {
		return nil, nil, err
	}
	return nil, turn.InitialStates(initial, part.InstanceTokens), nil
}

// readPartLog returns the log of a part since it was gathered last, without what the process has sent to all parts.
func (a *Activities) readPartLog(ctx context.Context, part protocol.GatherPart) (log []turn.LogEntry, err error) {
	for number := part.GatheredThroughIdea + 1; number <= part.LastIdea.IdeaNumber; number++ {
		entries, err := a.Chains.LogWithHandlesAt(ctx, part.ProcessID, number)
		if errors.Is(err, chain.ErrNoIdea) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Decision == nil || !strings.HasPrefix(e.Decision.SignalID, protocol.ForwardedSteeringSignalID) {
				e.PartProcessID = part.ProcessID
				log = append(log, e)
			}
		}
	}
	return log, nil
}
