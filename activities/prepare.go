package activities

import (
	"context"

	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/tools/kinds"
)

// PrepareTools checks an Idea and its delegates, and binds its Tools to what this worker knows. That happens once, when
// a process starts.
func (a *Activities) PrepareTools(ctx context.Context, idea jsonval.Object,
	d protocol.DelegationContext) (*protocol.PrepareResult, error) {
	fullIdea, err := a.restoreIdeaTools(ctx, idea)
	if err != nil {
		return nil, err
	}
	parsedIdea, problems := ideafile.ReadIdea(fullIdea)
	var delegateIdeas []*ideafile.Idea
	if parsedIdea != nil && d.Depth == 0 {
		files, err := a.restoreDelegateFiles(ctx, d.Files)
		if err != nil {
			return nil, err
		}
		problems.AppendNew(delegate.CheckFiles(parsedIdea, d.FileKey, files)...)
		delegateIdeas = readDelegateIdeas(files)
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return &protocol.PrepareResult{Problems: errs}, nil
	}
	r := &protocol.PrepareResult{MissingRequirements: a.missingToolRequirements(append(delegateIdeas, parsedIdea)...)}
	r.Bindings, r.Problems = kinds.KnownTools{Functions: a.Tools, Runners: a.Runners}.Bind(parsedIdea)
	r.CanNotify, r.HasLLM = a.NoticeSender != nil && parsedIdea.Simulation == nil, a.LLM.IsConfigured() ||
		fakesLLMReplies(parsedIdea)
	r.MinimizesActions, r.NoUsableLLMReason = a.MinimizesActions, a.noUsableLLMReason(parsedIdea, r.Bindings)
	r.Problems.Append(check.CheckDirectPlans(parsedIdea, r.Bindings)...)
	r.Problems.Append(ideafile.DuplicateStepIDProblems(parsedIdea.Context)...)
	r.StoredPalette, err = a.storePalette(ctx, idea)
	return r, err
}

// readDelegateIdeas reads the Ideas of delegates, as far as they can be read.
func readDelegateIdeas(files jsonval.Object) (list []*ideafile.Idea) {
	for _, file := range jsonval.Sorted(files) {
		if source, ok := file.(jsonval.Object); ok {
			if idea, problems := ideafile.ReadIdea(source); len(problems.Errors()) == 0 {
				list = append(list, idea)
			}
		}
	}
	return list
}
