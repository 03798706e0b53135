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

// findProposedCall finds the Call that wrote the value, as the LLM proposed it. A person's own write has no Call.
func (s *Store) findProposedCall(ctx context.Context, b *Blame, manifests []*manifest) error {
	e := b.Last.entry
	if e.CorrectionNumber > 0 {
		return nil
	}
	p := &ProposedCall{ID: ideafile.FormatCallID(e.Request, e.Index, e.Instance), Request: e.Request,
		Written: e.Call.AsWritten(), Reads: []Read{}, Ran: b.ran}
	b.Call = p
	at := slices.IndexFunc(manifests, func(m *manifest) bool { return m.metaNumber("at") == b.Last.Idea })
	logged := manifests[at]
	if e.PartProcessID != "" {
		made, err := s.manifests(ctx, e.PartProcessID)
		if err != nil && !isBroken(err) {
			return err
		}
		manifests, p.Part = made, e.PartProcessID
	}
	for _, m := range manifests {
		switch {
		case m.metaNumber("request") == e.Request && e.Request > 0:
			p.SeenIdea = m.metaNumber("at")
		case e.Request > 0 || m.metaNumber("at") > 1:
			continue
		}
		if err := s.readProposedCall(ctx, p, e, m); err != nil {
			return err
		}
	}
	call := jsonval.AsObject(p.Written)
	p.Tool = jsonval.AsText(call["_tool"])
	if p.Ran != nil {
		p.Tool = p.Ran.Tool
	}
	return s.resolveReads(ctx, p, e, call, logged)
}

// readProposedCall reads the Call from the solution of its Request's Idea if the log does not hold it.
func (s *Store) readProposedCall(ctx context.Context, p *ProposedCall, e turn.LogEntry, m *manifest) error {
	if p.Written != nil {
		return nil
	}
	whole, _, err := s.load(ctx, m, nil)
	if err != nil {
		return err
	}
	calls := jsonval.AsList(jsonval.At(whole, "solution", "calls"))
	if e.Request == 0 {
		calls = ideafile.RecordedCallsOfInstance(whole, e.Instance)
	}
	if e.Index >= 1 && e.Index <= len(calls) {
		p.Written = calls[e.Index-1]
	}
	return nil
}

// resolveReads resolves the References of a Call in the Idea whose log has its write.
func (s *Store) resolveReads(ctx context.Context, p *ProposedCall, e turn.LogEntry, call jsonval.Object,
	m *manifest) error {
	references := referencesIn(call)
	if len(references) == 0 {
		return nil
	}
	whole, _, err := s.load(ctx, m, nil)
	if err != nil {
		return err
	}
	payload := ideafile.SplitContextByInstance(whole["context"]).InstanceView(e.Instance).PayloadByKind
	for _, r := range references {
		read := Read{Reference: r.String()}
		read.Value, read.Found = jsonval.ValueAt(payload[r.Kind], r.Path)
		if !slices.ContainsFunc(p.Reads, func(other Read) bool { return other.Reference == read.Reference }) {
			p.Reads = append(p.Reads, read)
		}
	}
	return nil
}

// referencesIn lists the References in a Call's parameters. A malformed one is listed as written.
func referencesIn(call jsonval.Object) []refexpr.Reference {
	references, _ := refexpr.FindReferences(jsonschema.WithoutMetaKeys(call))
	return references
}

// findUnlogged handles a value that is in no log: it finds whether the value was there from the beginning, or else the
// first Idea that shows it.
func (s *Store) findUnlogged(ctx context.Context, b *Blame, manifests []*manifest, path jsonval.Path) error {
	var tip *state
	for _, m := range manifests {
		whole, next, err := s.load(ctx, m, tip)
		if err != nil {
			return err
		}
		tip = next
		value, there := jsonval.ValueAt(stateIn(whole, b.Instance), path)
		switch {
		case !there || !jsonval.Equal(value, b.Value):
			b.Since = 0
		case b.Since == 0:
			b.Since = m.metaNumber("at")
		}
	}
	b.By = ByUnknown
	if b.Since == manifests[0].metaNumber("at") && b.Since == 1 {
		b.By, b.Since, b.Origin = ByStart, 0, manifests[0].Meta[originKey]
	}
	return nil
}
