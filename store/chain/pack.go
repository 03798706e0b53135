package chain

import (
	"context"
	"fmt"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// storeIdea stores an Idea as the difference from an earlier one. It stores the Idea whole if there is no base for it,
// or if reading the differences would take longer than reading the Idea.
func (s *Store) storeIdea(ctx context.Context, d ideaContent, ideaNumber int, digest string, parentIdea *loadedIdea,
	ideaBytes int) (*manifest, *loadedIdea, error) {
	m := &manifest{Format: manifestFormat, Digest: digest, Meta: d.meta, Counts: d.counts(),
		lineage: lineage{FullIdeaNumber: ideaNumber}}
	storedIdea := &loadedIdea{number: ideaNumber, digest: digest}
	node, err := s.storeBody(ctx, d.body, m, storedIdea, parentIdea, ideaBytes)
	if err != nil {
		return nil, nil, err
	}
	m.BodyNode, storedIdea.lineage = node, m.lineage
	if d.log != nil {
		m.LogNode, err = s.storeValue(ctx, d.log, maxOwnInlineBytes)
	}
	return m, storedIdea, err
}

func (s *Store) storeBody(ctx context.Context, body jsonval.Object, m *manifest, storedIdea, parentIdea *loadedIdea,
	ideaBytes int) (any, error) {
	base := deltaBaseFor(storedIdea.number, parentIdea)
	if base != nil {
		delta, _ := jsonval.ComputeDelta(base.body, body)
		data := jsonval.Encode(delta)
		if base.DeltaBytes+len(data) <= ideaBytes {
			m.DeltaBaseNumber, m.lineage = base.number, lineage{base.FullIdeaNumber, base.DeltaCount + 1,
				base.DeltaBytes + len(data)}
			storedIdea.base, storedIdea.fullIdeaBodyBytes = base, base.fullIdeaBodyBytes
			return s.storeDelta(ctx, data, storedIdea)
		}
	}
	data := jsonval.Encode(body)
	storedIdea.fullIdeaBodyBytes = len(data)
	var err error
	storedIdea.body, err = decodeObject(data)
	if err != nil {
		return nil, err
	}
	return s.storeFullBody(ctx, storedIdea.body)
}

// deltaBaseFor returns the Idea that this one is stored as a delta of; nil if it is to be stored whole.
func deltaBaseFor(ideaNumber int, parentIdea *loadedIdea) *loadedIdea {
	if parentIdea == nil || ideaNumber-parentIdea.FullIdeaNumber >= maxDeltaDistance {
		return nil
	}
	return parentIdea.find(parentIdea.FullIdeaNumber + deltaBaseOffset(ideaNumber-parentIdea.FullIdeaNumber))
}

// storeDelta stores a delta, and rebuilds the state from its bytes, so that the cached state equals what will be read.
func (s *Store) storeDelta(ctx context.Context, data []byte, storedIdea *loadedIdea) (any, error) {
	delta, err := decodeObject(data)
	if err != nil {
		return nil, err
	}
	body, err := jsonval.ApplyDelta(storedIdea.base.body, delta)
	if err != nil {
		return nil, err
	}
	storedIdea.body = body.(jsonval.Object) // a delta of an object leads to an object
	return s.storeValue(ctx, delta, maxOwnInlineBytes)
}

// decodeObject decodes bytes, so that the cached state shares nothing with a caller's values.
func decodeObject(data []byte) (jsonval.Object, error) {
	v, err := decodeStoredJSON(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(jsonval.Object)
	if !ok {
		return nil, fmt.Errorf("want an object, not %s", jsonval.TypeOf(v))
	}
	return m, nil
}

// loadNode returns the value that a node represents.
func (s *Store) loadNode(ctx context.Context, node any) (any, error) {
	m := jsonval.AsObject(node)
	v, isValue := m[nodeValueKey]
	digest, isStoredValue := m[nodeDigestKey].(string)
	members, isObject := m[nodeObjectKey].(jsonval.Object)
	messageRuns, isMessageRuns := m[nodeMessageRunsKey].([]any)
	switch {
	case len(m) != 1:
	case isValue:
		return v, nil
	case isStoredValue:
		return s.readStoredValue(ctx, digest)
	case isObject:
		out := make(jsonval.Object, len(members))
		for k, n := range members {
			v, err := s.loadNode(ctx, n)
			if err != nil {
				return nil, err
			}
			out[k] = v
		}
		return out, nil
	case isMessageRuns:
		return s.loadMessageRuns(ctx, messageRuns)
	}
	return nil, fmt.Errorf("%s is not a node of a manifest", jsonval.ClipForError(jsonval.EncodeToString(node)))
}

func (s *Store) loadMessageRuns(ctx context.Context, messageRuns []any) (any, error) {
	out := []any{}
	for _, n := range messageRuns {
		v, err := s.loadNode(ctx, n)
		if err != nil {
			return nil, err
		}
		messageRun, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("a run of Messages is a list, not %s", jsonval.TypeOf(v))
		}
		out = append(out, messageRun...)
	}
	return out, nil
}

// readStoredValue reads a part that is stored under its own digest.
func (s *Store) readStoredValue(ctx context.Context, digest string) (any, error) {
	data, err := s.blobStore.Get(ctx, digest)
	if err != nil {
		return nil, s.storedValueError(ctx, digest, err)
	}
	v, err := decodeStoredJSON(data)
	if err != nil {
		return nil, &brokenObjectError{s.blobStore.Name(ctx, digest), err}
	}
	return v, nil
}

// storedValueError names the part if it is lost.
func (s *Store) storedValueError(ctx context.Context, digest string, err error) error {
	if isBroken(err) || !blobs.IsDigest(digest) {
		return &brokenObjectError{s.blobStore.Name(ctx, digest), err}
	}
	return err
}

// decodeStoredJSON decodes JSON that this package wrote. Numbers stay as they were written. Depth is not bounded,
// because a delta is nested deeper than what it changes.
func decodeStoredJSON(data []byte) (any, error) {
	var v any
	if err := jsonval.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	return v, nil
}
