package activities

import (
	"context"
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
)

// restoreStates adds the States to a Request's input, which travels without them: the States of the Idea that the
// Request builds on, with the changes since.
func (a *Activities) restoreStates(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	states protocol.RequestStates) error {
	base, err := a.loadStates(ctx, setup, input, states.Base)
	if err == nil {
		err = input.RestoreStates(base, states.Changes)
	}
	if err != nil {
		return fmt.Errorf("activities: restore the States for Request %d: %w", input.RequestNumber, err)
	}
	return nil
}

func (a *Activities) loadStates(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	base protocol.IdeaRef) (map[string]any, error) {
	if base.Idea > 0 {
		return a.Chains.States(ctx, input.ProcessID, base)
	}
	idea, err := ideaOrError(ideafile.ReadIdeaWithCheckedTools(setup.Idea))
	if err != nil {
		return nil, err
	}
	return turn.InitialStates(idea.Context, input.InstanceTokens()), nil
}
