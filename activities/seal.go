package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// codeIdeaConflict is the error type of an Idea that can never take its place in the chain: another Idea has the place,
// or the chain was forgotten.
const codeIdeaConflict = "idea_taken"

// SealIdea adds one Idea to a process's chain, and counts its decisions. A repetition changes nothing.
func (a *Activities) SealIdea(ctx context.Context, in protocol.SealInput) (*protocol.IdeaRef, error) {
	sealedRef, err := a.sealIdea(ctx, in)
	if o, ok := a.Observer.(DecisionObserver); ok && err == nil {
		for _, e := range in.Log {
			if d := e.Decision; d != nil && !d.WaitingSince.IsZero() {
				o.ObserveDecision(*d)
			}
		}
	}
	return sealedRef, err
}

// sealIdea is SealIdea without counting the decisions.
func (a *Activities) sealIdea(ctx context.Context, in protocol.SealInput) (*protocol.IdeaRef, error) {
	fullIdea, err := a.restoreIdeaTools(ctx, in.Idea)
	if err != nil {
		return nil, err
	}
	files, err := a.restoreDelegateFiles(ctx, in.Delegation.Files)
	if err != nil {
		return nil, err
	}
	idea := turn.SnapshotIdea(fullIdea, in.Brief, in.Calls, in.Output)
	solution := idea["solution"].(jsonval.Object)
	if in.Finished {
		solution["finished"] = true
	}
	if in.Notes != "" {
		solution["notes"] = in.Notes
	}
	idea = delegate.WithFiles(idea, in.Delegation.FileKey, files)
	meta := buildSealedIdeaMeta(idea["meta"], in.Request, in.LLMUsages)
	if delete(meta, "parts"); len(in.Parts) > 0 {
		meta["parts"] = jsonval.ToJSONValue(in.Parts)
	}
	if delete(meta, turn.EndedByRequestMetaKey); len(in.Brief.TokensEndedByRequest()) > 0 {
		meta[turn.EndedByRequestMetaKey] = jsonval.ToJSONValue(in.Brief.TokensEndedByRequest())
	}
	if delete(meta, quality.ReportMetaKey); in.Quality != nil {
		meta[quality.ReportMetaKey] = jsonval.ToJSONValue(in.Quality)
	}
	idea["meta"] = meta
	sealedRef, err := a.Chains.Seal(ctx, chain.IdeaToSeal{
		ProcessID: in.Process, IdeaNumber: in.At, ParentDigest: in.Parent, Idea: idea, Log: in.Log, Created: time.Now(),
	})
	if errors.Is(err, chain.ErrConflict) || errors.Is(err, blobs.ErrForgotten) {
		// The chain belongs to a former process of this id, or was forgotten: a retry changes nothing.
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), codeIdeaConflict, err)
	}
	if err != nil {
		return nil, err
	}
	return &sealedRef, nil
}

// buildSealedIdeaMeta returns the meta of the Idea that the process started from, with the number of the Request that
// sealed this Idea and the LLMs that answered, the last answer first. Neither these nor the counts of steps are copied
// from the start, which may be an Idea of another process.
func buildSealedIdeaMeta(startMeta any, requestNumber int, llmUsages []turn.LLMUsage) jsonval.Object {
	sealedMeta := jsonval.WithoutKey(jsonval.AsObject(startMeta), "request", "llm", ideafile.StepCountsMetaKey)
	if n := len(llmUsages); n > 0 {
		last := jsonval.AsObject(jsonval.ToJSONValue(llmUsages[n-1]))
		if n > 1 {
			last["earlier"] = jsonval.ToJSONValue(llmUsages[:n-1])
		}
		sealedMeta["llm"] = last
	}
	if requestNumber > 0 {
		sealedMeta["request"] = jsonval.ToJSONValue(requestNumber)
	}
	return sealedMeta
}
