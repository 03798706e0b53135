package activities

import (
	"context"
	"errors"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// Gather reads the last States of the parts of a process from their chains, and seals the process's own Idea with all of
// them. An instance that was ended before its part sealed anything has none.
func (a *Activities) Gather(ctx context.Context, in protocol.GatherInput) (*protocol.Gathered, error) {
	defer heartbeat(ctx)()
	g := &protocol.Gathered{States: map[string]any{}}
	input := &turn.RequestInput{Process: in.Process}
	for _, part := range in.Parts {
		states, err := a.statesOf(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, token := range part.Tokens {
			g.States[token] = states[token]
			input.Instances = append(input.Instances, turn.InstanceInput{Token: token, State: states[token], Status: part.Statuses[token]})
		}
	}
	sealed, err := a.Seal(ctx, protocol.SealInput{
		Process: in.Process, At: in.At, Parent: in.Parent, Idea: in.Idea, Brief: input, Calls: []ideafile.WrittenCall{}, Output: in.Output,
	})
	if err != nil {
		return nil, err
	}
	g.Last = *sealed
	return g, nil
}

func (a *Activities) statesOf(ctx context.Context, part protocol.GatherPart) (map[string]any, error) {
	if part.Last.At == 0 {
		return nil, nil
	}
	states, err := a.Chains.States(ctx, part.Process, part.Last)
	if errors.Is(err, chain.ErrNoIdea) {
		return nil, nil
	}
	return states, err
}
