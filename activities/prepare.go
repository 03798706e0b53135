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
	whole, err := a.restoreIdeaTools(ctx, idea)
	if err != nil {
		return nil, err
	}
	read, problems := ideafile.ReadIdea(whole)
	var within []*ideafile.Idea
	if read != nil && d.Depth == 0 {
		files, err := a.restoreFiles(ctx, d.Files)
		if err != nil {
			return nil, err
		}
		problems.AppendNew(delegate.CheckFiles(read, d.File, files)...)
		within = readFiles(files)
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return &protocol.PrepareResult{Problems: errs}, nil
	}
	r := &protocol.PrepareResult{Lacks: a.missingForTools(append(within, read)...)}
	r.Bindings, r.Problems = kinds.Known{Functions: a.Tools, Runners: a.Runners}.Bind(read)
	r.CanNotify, r.HasLLM = a.Notices != nil && read.Simulation == nil, a.LLM.Configured() || shouldFakeReplies(read)
	r.SaveActions, r.LacksLLM = a.SaveActions, a.lacksLLM(read, r.Bindings)
	r.Problems.Append(check.CheckDirectPlans(read, r.Bindings)...)
	r.Problems.Append(ideafile.StepIDProblems(read.Context)...)
	r.Palette, err = a.storePalette(ctx, idea)
	return r, err
}

// readFiles reads the Ideas of delegates, as far as they can be read.
func readFiles(files jsonval.Object) (list []*ideafile.Idea) {
	for _, file := range jsonval.Sorted(files) {
		if source, ok := file.(jsonval.Object); ok {
			if read, problems := ideafile.ReadIdea(source); len(problems.Errors()) == 0 {
				list = append(list, read)
			}
		}
	}
	return list
}
