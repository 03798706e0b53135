package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// codeIdeaTaken is the error type of an Idea whose place is held by another one for good.
const codeIdeaTaken = "idea_taken"

// Seal puts one Idea on a process's chain. Doing it again changes nothing.
func (a *Activities) Seal(ctx context.Context, in protocol.SealInput) (*protocol.Sealed, error) {
	idea := turn.Snapshot(in.Idea, in.Brief, in.Calls, in.Output)
	idea["meta"] = sealMeta(idea["meta"], in.Request)
	sealed, err := a.Chains.Seal(ctx, chain.Entry{
		Process: in.Process, At: in.At, Parent: in.Parent, Idea: idea, Log: in.Log, Created: time.Now(),
	})
	if errors.Is(err, chain.ErrTaken) {
		// The chain is that of a former process of this id: trying again changes nothing.
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), codeIdeaTaken, err)
	}
	if err != nil {
		return nil, err
	}
	return &sealed, nil
}

// sealMeta is the meta of the Idea that the process started from, with the number of the Request that this Idea was sealed
// by. That number is never taken over from an Idea of another process.
func sealMeta(meta any, request int) map[string]any {
	m, _ := meta.(map[string]any)
	out := make(map[string]any, len(m)+1)
	for k, v := range m {
		out[k] = v
	}
	delete(out, "request")
	if request > 0 {
		out["request"] = jsonval.Normal(request)
	}
	return out
}
