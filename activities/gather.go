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
	defer Heartbeat(ctx)()
	result := &protocol.GatherResult{States: map[string]any{}}
	input, log, llmUsages := &turn.RequestInput{ProcessID: in.Process}, in.Log, in.LLMUsages
	var partIdeas []protocol.PartIdea
	// The whole may have a hundred thousand instances in a thousand parts, so it is read once.
	planPositionsByToken := turn.DirectPlanPositionsByToken(in.Idea["context"])
	initialContext := sync.OnceValues(func() (ideafile.ContextByInstance, error) {
		idea, err := a.readIdeaWithTools(ctx, in.Idea)
		if err != nil {
			return ideafile.ContextByInstance{}, err
		}
		return ideafile.SplitMessagesByInstance(idea.Context), nil
	})
	for _, part := range in.Parts {
		lastContext, states, err := a.latestPartIdea(ctx, initialContext, part)
		if err != nil {
			return nil, err
		}
		if part.Last.Idea > 0 {
			partIdeas = append(partIdeas, protocol.PartIdea{Process: part.Process, At: part.Last.Idea,
				Digest: part.Last.Digest})
		}
		partLog, err := a.readPartLog(ctx, part)
		if err != nil {
			return nil, err
		}
		log = append(log, partLog...)
		firstIndex := len(input.Instances)
		input.AddPartContext(planPositionsByToken, lastContext, part.Tokens, states)
		for n, token := range part.Tokens {
			result.States[token] = states[token]
			if status, hasStatus := part.Statuses[token]; hasStatus {
				input.Instances[firstIndex+n].Status = status
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
			return result.States[token]
		},
			nil)
	}
	if result.Fault != nil || in.StatesOnly {
		return result, nil
	}
	sealed, err := a.sealIdea(ctx, protocol.SealInput{
		Process: in.Process, At: in.At, Parent: in.Parent, Idea: in.Idea, Brief: input, Calls: []ideafile.WrittenCall{},
		Output: result.Output,
		Log:    log, LLMUsages: llmUsages, Parts: partIdeas, Quality: in.Quality, Delegation: in.Delegation,
	})
	if err != nil {
		return nil, err
	}
	if result.Last = *sealed; in.WithoutStates {
		result.States = nil
	}
	return result, nil
}

// latestPartIdea returns the context of the last Idea of a part, and the States in it. If the part has sealed no Idea,
// it returns no context, and the States that the part's instances have in the initial context of the whole.
func (a *Activities) latestPartIdea(
	ctx context.Context, initialContext func() (ideafile.ContextByInstance, error), part protocol.GatherPart,
) (lastContext any, stateByToken map[string]any, err error) {
	if part.Last.Idea > 0 {
		lastContext, err = a.Chains.Context(ctx, part.Process, part.Last)
		if err == nil {
			stateByToken, err = a.Chains.States(ctx, part.Process, part.Last)
		}
		if !errors.Is(err, chain.ErrNoIdea) {
			return lastContext, stateByToken, err
		}
	}
	initial, err := initialContext()
	if err != nil {
		return nil, nil, err
	}
	return nil, turn.InitialStates(initial, part.Tokens), nil
}

// readPartLog returns the log of a part since it was gathered last, without what the process has sent to all parts.
func (a *Activities) readPartLog(ctx context.Context, part protocol.GatherPart) (log []turn.LogEntry, err error) {
	for number := part.GatheredThrough + 1; number <= part.Last.Idea; number++ {
		entries, err := a.Chains.LogWithHandlesAt(ctx, part.Process, number)
		if errors.Is(err, chain.ErrNoIdea) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Decision == nil || !strings.HasPrefix(e.Decision.SignalID, protocol.ForwardedSignalID) {
				e.PartProcessID = part.Process
				log = append(log, e)
			}
		}
	}
	return log, nil
}
