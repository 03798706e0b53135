package activities

import (
	"context"
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
)

// recall puts the States into a Brief that came without them: those of the Idea from which they grew, and what they
// differ in since.
func (a *Activities) recall(ctx context.Context, setup protocol.RequestSetup, brief *turn.RequestInput, states protocol.RequestStates) error {
	known, err := a.statesAt(ctx, setup, brief, states.Base)
	if err == nil {
		err = brief.RestoreStates(known, states.Changes)
	}
	if err != nil {
		return fmt.Errorf("activities: recall the States for Request %d: %w", brief.Number, err)
	}
	return nil
}

func (a *Activities) statesAt(ctx context.Context, setup protocol.RequestSetup, brief *turn.RequestInput, base protocol.Sealed) (map[string]any, error) {
	if base.At > 0 {
		return a.Chains.States(ctx, brief.Process, base)
	}
	idea, problems := ideafile.ReadIdea(setup.Idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, final(turn.CodeInvalidIdea, errs)
	}
	return turn.InitialStates(idea.Context, brief.Tokens()), nil
}
