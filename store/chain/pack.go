package chain

import (
	"context"
	"fmt"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// storeIdea stores an Idea as the difference from an earlier one. It stores the Idea whole if there is no base for it,
// or if reading the differences would take longer than reading the Idea.
func (s *Store) storeIdea(ctx context.Context, d draft, ideaNumber int, digest string, parentIdea *loadedIdea,
	size int) (*manifest, *loadedIdea, error) {
	m := &manifest{Format: manifestFormat, Digest: digest, Meta: d.meta, Counts: d.counts(),
		lineage: lineage{RootIdeaNumber: ideaNumber}}
	st := &loadedIdea{number: ideaNumber, digest: digest}
	node, err := s.storeBody(ctx, d.body, m, st, parentIdea, size)
	if err != nil {
		return nil, nil, err
	}
	m.BodyNode, st.lineage = node, m.lineage
	if d.log != nil {
		m.LogNode, err = s.storeValue(ctx, d.log, maxOwnInlineBytes)
	}
	return m, st, err
}

func (s *Store) storeBody(ctx context.Context, body jsonval.Object, m *manifest, st, parentIdea *loadedIdea,
	size int) (any, error) {
	base := deltaBaseFor(st.number, parentIdea)
	if base != nil {
		delta, _ := jsonval.ComputeDelta(base.body, body)
		data := jsonval.Encode(delta)
		if base.DeltaBytes+len(data) <= size {
			m.DeltaBaseNumber, m.lineage = base.number, lineage{base.RootIdeaNumber, base.DeltaCount + 1,
				base.DeltaBytes + len(data)}
			st.base, st.fullBytes = base, base.fullBytes
			return s.storeDelta(ctx, data, st)
		}
	}
	data := jsonval.Encode(body)
	st.fullBytes = len(data)
	var err error
	st.body, err = decodeObject(data)
	if err != nil {
		return nil, err
	}
	return s.storeFullBody(ctx, st.body)
}

// deltaBaseFor returns the Idea that this one is stored as a delta of; nil if it is to be stored whole.
func deltaBaseFor(ideaNumber int, parentIdea *loadedIdea) *loadedIdea {
	if parentIdea == nil || ideaNumber-parentIdea.RootIdeaNumber >= maxDeltaDistance {
		return nil
	}
	return parentIdea.find(parentIdea.RootIdeaNumber + deltaBaseOffset(ideaNumber-parentIdea.RootIdeaNumber))
}

// storeDelta stores a delta, and rebuilds the state from its bytes, so that the cached state equals what will be read.
func (s *Store) storeDelta(ctx context.Context, data []byte, st *loadedIdea) (any, error) {
	delta, err := decodeObject(data)
	if err != nil {
		return nil, err
	}
	body, err := jsonval.ApplyDelta(st.base.body, delta)
	if err != nil {
		return nil, err
	}
	st.body = body.(jsonval.Object) // a delta of an object leads to an object
	return s.storeValue(ctx, delta, maxOwnInlineBytes)
}

// decodeObject decodes bytes, so that the cached state shares nothing with a caller's values.
func decodeObject(data []byte) (jsonval.Object, error) {
	v, err := decodeStored(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(jsonval.Object)
	if !ok {
		return nil, fmt.Errorf("want an object, not %s", jsonval.TypeOf(v))
	}
	return m, nil
}

// unpack returns the value that a node represents.
func (s *Store) unpack(ctx context.Context, node any) (any, error) {
	m := jsonval.AsObject(node)
	v, isValue := m[nodeValueKey]
	digest, isPart := m[nodeDigestKey].(string)
	members, isObject := m[nodeObjectKey].(jsonval.Object)
	runs, isRuns := m[nodeRunsKey].([]any)
	switch {
	case len(m) != 1:
	case isValue:
		return v, nil
	case isPart:
		return s.readStoredPart(ctx, digest)
	case isObject:
		out := make(jsonval.Object, len(members))
		for k, n := range members {
			v, err := s.unpack(ctx, n)
			if err != nil {
				return nil, err
			}
			out[k] = v
		}
		return out, nil
	case isRuns:
		return s.unpackRuns(ctx, runs)
	}
	return nil, fmt.Errorf("%s is not a node of a manifest", jsonval.ClipForError(jsonval.EncodeToString(node)))
}

func (s *Store) unpackRuns(ctx context.Context, runs []any) (any, error) {
	out := []any{}
	for _, n := range runs {
		v, err := s.unpack(ctx, n)
		if err != nil {
			return nil, err
		}
		run, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("a run of Messages is a list, not %s", jsonval.TypeOf(v))
		}
		out = append(out, run...)
	}
	return out, nil
}

// readStoredPart reads a part that is stored under its own digest.
func (s *Store) readStoredPart(ctx context.Context, digest string) (any, error) {
	data, err := s.blobStore.Get(ctx, digest)
	if err != nil {
		return nil, s.storedPartError(ctx, digest, err)
	}
	v, err := decodeStored(data)
	if err != nil {
		return nil, &brokenPartError{s.blobStore.Name(ctx, digest), err}
	}
	return v, nil
}

// storedPartError names the part if it is lost.
func (s *Store) storedPartError(ctx context.Context, digest string, err error) error {
	if isBroken(err) || !blobs.IsDigest(digest) {
		return &brokenPartError{s.blobStore.Name(ctx, digest), err}
	}
	return err
}

// decodeStored decodes JSON that this package wrote. Numbers stay as they were written. Depth is not bounded, because a
// delta is nested deeper than what it changes.
func decodeStored(data []byte) (any, error) {
	var v any
	if err := jsonval.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	return v, nil
}
