package chain

import (
	"context"
	"errors"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
)

// Load returns a whole Idea of a process, with its digest: a file from which a process can start. The error wraps
// ErrNoIdea if the chain has no Idea with the number; it names a part that is missing or broken.
func (s *Store) Load(ctx context.Context, processID string, ideaNumber int) (wholeIdea jsonval.Object, err error) {
	defer wrapError(&err, "load Idea %d of %s", ideaNumber, processID)
	ctx = blobs.WithProcess(ctx, processID)
	m, err := s.manifest(ctx, processID, ideaNumber)
	if err == nil {
		wholeIdea, _, err = s.load(ctx, m, nil)
	}
	return wholeIdea, err
}

// load returns the whole Idea of a manifest, after checking that it has the digest that the manifest names.
func (s *Store) load(ctx context.Context, m *manifest, previous *loadedIdea) (jsonval.Object, *loadedIdea, error) {
	st, err := s.readIdea(ctx, m, previous)
	if err != nil {
		return nil, nil, err
	}
	wholeIdea, err := restoreIdea(ctx, s.blobStore, m.Meta, st.body)
	if err != nil {
		return nil, st, err
	}
	if digestOf(wholeIdea) != m.contentDigest() {
		return nil, st, brokenErrorf(m.name(), "what it leads to has another digest")
	}
	return withDigest(wholeIdea, m.Digest), st, nil
}

// withDigest puts the digest into an Idea's meta.
func withDigest(wholeIdea jsonval.Object, digest string) jsonval.Object {
	jsonval.AsObject(wholeIdea["meta"])["digest"] = digest
	return wholeIdea
}

// log reads an Idea's log, after checking that it has the digest that the Idea names. With shouldRestore, handles are
// replaced by their values.
func (s *Store) log(ctx context.Context, m *manifest, shouldRestore bool) ([]turn.LogEntry, error) {
	v, err := s.logValue(ctx, m)
	if err == nil && shouldRestore {
		v, err = s.blobStore.Restore(ctx, v)
	}
	if err != nil || v == nil {
		return nil, err
	}
	log, err := turn.DecodeLog(v)
	if err != nil {
		return nil, &brokenObjectError{m.name(), err}
	}
	return log, nil
}

// logValue returns the log as it is hashed; nil if there is none.
func (s *Store) logValue(ctx context.Context, m *manifest) (any, error) {
	if err := m.checkNotForgotten(); err != nil {
		return nil, err
	}
	digest := m.metaText("log")
	if m.LogNode == nil && digest == "" {
		return nil, nil
	}
	v, err := s.loadNode(ctx, m.LogNode)
	if err == nil && digestOf(v) != digest {
		err = errors.New("the log is not the one that meta.log names")
	}
	if err != nil {
		return nil, m.wrapBroken(err)
	}
	return v, nil
}

// readContent reads the Idea of a manifest. previous is an Idea read before, which may spare some reading.
func (s *Store) readContent(ctx context.Context, m *manifest, previous *loadedIdea) (ideaContent, *loadedIdea, error) {
	st, err := s.readIdea(ctx, m, previous)
	if err != nil {
		return ideaContent{}, previous, err
	}
	log, err := s.logValue(ctx, m)
	return ideaContent{m.Meta, st.body, log}, st, err
}

// ListWrites returns the writes in the logs of all Ideas of a process, in order, with stored values restored. The error
// wraps ErrNoIdea if the process has none.
func (s *Store) ListWrites(ctx context.Context, processID string) (writes []turn.LogEntry, err error) {
	defer wrapError(&err, "read the log of %s", processID)
	ctx = blobs.WithProcess(ctx, processID)
	manifests, err := s.manifests(ctx, processID)
	if err != nil {
		return nil, err
	}
	err = s.eachLogEntry(ctx, manifests, true, func(_ *manifest, e turn.LogEntry) {
		if e.IsWrite() {
			writes = append(writes, e)
		}
	})
	return writes, err
}

// eachLogEntry visits the log entries of Ideas, in order.
func (s *Store) eachLogEntry(ctx context.Context, manifests []*manifest, shouldRestore bool,
	visit func(*manifest, turn.LogEntry)) error {
	for _, m := range manifests {
		log, err := s.log(ctx, m, shouldRestore)
		if err != nil {
			return err
		}
		for _, e := range log {
			visit(m, e)
		}
	}
	return nil
}

// LogAt returns all log entries of one Idea.
func (s *Store) LogAt(ctx context.Context, processID string, ideaNumber int) ([]turn.LogEntry, error) {
	return s.logAt(ctx, processID, ideaNumber, true)
}

// LogWithHandlesAt is LogAt, with handles in place of large values.
func (s *Store) LogWithHandlesAt(ctx context.Context, processID string, ideaNumber int) ([]turn.LogEntry, error) {
	return s.logAt(ctx, processID, ideaNumber, false)
}

func (s *Store) logAt(ctx context.Context, processID string, ideaNumber int,
	shouldRestore bool) (log []turn.LogEntry, err error) {
	defer wrapError(&err, "read the log of Idea %d of %s", ideaNumber, processID)
	ctx = blobs.WithProcess(ctx, processID)
	m, err := s.manifest(ctx, processID, ideaNumber)
	if err == nil {
		log, err = s.log(ctx, m, shouldRestore)
	}
	return log, err
}

// States returns the State of every instance of an Idea, by token, with handles in place of large values.
func (s *Store) States(ctx context.Context, processID string, ref protocol.IdeaRef) (states jsonval.Object, err error) {
	defer wrapError(&err, "read the States of Idea %d of %s", ref.IdeaNumber, processID)
	st, err := s.readOrCachedIdea(ctx, processID, ref)
	if err != nil {
		return nil, err
	}
	splitContext := ideafile.SplitContextByInstance(st.body["context"])
	states = make(jsonval.Object, len(splitContext.InstanceTokens))
	for _, token := range splitContext.InstanceTokens {
		states[token] = statelog.NewState(splitContext.InstanceView(token).PayloadByKind[ideafile.TypeState]).Snapshot()
	}
	return states, nil
}

// IdeaContext returns the context of an Idea, with handles in place of large values.
func (s *Store) IdeaContext(ctx context.Context, processID string, ref protocol.IdeaRef) (ideaContext any, err error) {
	defer wrapError(&err, "read the context of Idea %d of %s", ref.IdeaNumber, processID)
	st, err := s.readOrCachedIdea(ctx, processID, ref)
	if err != nil {
		return nil, err
	}
	return st.body["context"], nil
}

// readOrCachedIdea returns an Idea from the cache, or reads it.
func (s *Store) readOrCachedIdea(ctx context.Context, processID string, ref protocol.IdeaRef) (*loadedIdea, error) {
	if st := s.cachedLatestIdea(processID, ref.Digest); st != nil {
		return st, nil
	}
	ctx = blobs.WithProcess(ctx, processID)
	m, err := s.manifest(ctx, processID, ref.IdeaNumber)
	if err != nil {
		return nil, err
	}
	if m.Digest != ref.Digest {
		return nil, brokenErrorf(m.name(), "it is not Idea %s, which was asked for", ref.Digest)
	}
	st, err := s.readIdea(ctx, m, nil)
	if err == nil {
		s.latestIdeas.Put(processID, st)
	}
	return st, err
}
