package chain

import (
	"context"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// setProposedCall finds the Call that wrote the value, as the LLM proposed it. A person's own write has no Call.
func (s *Store) setProposedCall(ctx context.Context, b *Blame, manifests []*manifest) error {
	e := b.LastWrite.entry
	if e.CorrectionNumber > 0 {
		return nil
	}
	p := &ProposedCall{ID: ideafile.FormatCallID(e.Request, e.Index, e.InstanceToken), RequestNumber: e.Request,
		ProposedJSON: e.AuthorCall.AsWritten(), ResolvedReferences: []Read{}, ExecutedCall: b.executedCall}
	b.Call = p
	logIndex := slices.IndexFunc(manifests,
		func(m *manifest) bool { return m.metaNumber("at") == b.LastWrite.IdeaNumber })
	logManifest := manifests[logIndex]
	if e.PartProcessID != "" {
		partManifests, err := s.manifests(ctx, e.PartProcessID)
		if err != nil && !isBroken(err) {
			return err
		}
		manifests, p.PartProcessID = partManifests, e.PartProcessID
	}
	for _, m := range manifests {
		switch {
		case m.metaNumber("request") == e.Request && e.Request > 0:
			p.SeenIdeaNumber = m.metaNumber("at")
		case e.Request > 0 || m.metaNumber("at") > 1:
			continue
		}
		if err := s.readProposedCall(ctx, p, e, m); err != nil {
			return err
		}
	}
	call := jsonval.AsObject(p.ProposedJSON)
	p.Tool = jsonval.AsText(call["_tool"])
	if p.ExecutedCall != nil {
		p.Tool = p.ExecutedCall.Tool
	}
	return s.resolveReferences(ctx, p, e, call, logManifest)
}

// readProposedCall reads the Call from the solution of its Request's Idea if the log does not hold it.
func (s *Store) readProposedCall(ctx context.Context, p *ProposedCall, e turn.LogEntry, m *manifest) error {
	if p.ProposedJSON != nil {
		return nil
	}
	wholeIdea, _, err := s.load(ctx, m, nil)
	if err != nil {
		return err
	}
	calls := jsonval.AsList(jsonval.Lookup(wholeIdea, "solution", "calls"))
	if e.Request == 0 {
		calls = ideafile.DirectPlanCallsOfInstance(wholeIdea, e.InstanceToken)
	}
	if e.Index >= 1 && e.Index <= len(calls) {
		p.ProposedJSON = calls[e.Index-1]
	}
	return nil
}

// resolveReferences resolves the References of a Call in the Idea whose log has its write.
func (s *Store) resolveReferences(ctx context.Context, p *ProposedCall, e turn.LogEntry, call jsonval.Object,
	m *manifest) error {
	references := referencesIn(call)
	if len(references) == 0 {
		return nil
	}
	wholeIdea, _, err := s.load(ctx, m, nil)
	if err != nil {
		return err
	}
	payloadByKind := ideafile.SplitContextByInstance(wholeIdea["context"]).InstanceView(e.InstanceToken).PayloadByKind
	for _, r := range references {
		resolved := Read{Reference: r.String()}
		resolved.Value, resolved.Exists = jsonval.ValueAt(payloadByKind[r.Kind], r.Path)
		if !slices.ContainsFunc(p.ResolvedReferences,
			func(other Read) bool { return other.Reference == resolved.Reference }) {
			p.ResolvedReferences = append(p.ResolvedReferences, resolved)
		}
	}
	return nil
}

// referencesIn lists the References in a Call's parameters. A malformed one is listed as written.
func referencesIn(call jsonval.Object) []refexpr.Reference {
	references, _ := refexpr.FindReferences(jsonschema.WithoutMetaKeys(call))
	return references
}

// setUnloggedAuthor handles a value that is in no log: it finds whether the value was there from the beginning, or
// else the first Idea that shows it.
func (s *Store) setUnloggedAuthor(ctx context.Context, b *Blame, manifests []*manifest, path jsonval.Path) error {
	var previousIdea *loadedIdea
	for _, m := range manifests {
		wholeIdea, currentIdea, err := s.load(ctx, m, previousIdea)
		if err != nil {
			return err
		}
		previousIdea = currentIdea
		value, exists := jsonval.ValueAt(stateOfInstance(wholeIdea, b.Instance), path)
		switch {
		case !exists || !jsonval.Equal(value, b.Value):
			b.ShownSinceIdeaNumber = 0
		case b.ShownSinceIdeaNumber == 0:
			b.ShownSinceIdeaNumber = m.metaNumber("at")
		}
	}
	b.Author = AuthorUnknown
	if b.ShownSinceIdeaNumber == manifests[0].metaNumber("at") && b.ShownSinceIdeaNumber == 1 {
		b.Author, b.ShownSinceIdeaNumber, b.ForkOrigin = AuthorStart, 0, manifests[0].Meta[forkOriginMetaKey]
	}
	return nil
}
