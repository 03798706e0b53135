package chain

import (
	"context"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// state is the body of an Idea in memory, with the Ideas that it was built from. It shares unchanged values with them.
type state struct {
	number int
	digest string
	body   jsonval.Object
	base   *state // the Idea that it is stored as a delta of; nil if it is stored whole
	lineage
	fullBytes int // bytes of the body of Idea Since
}

// These constants decide which Idea is the base of another's delta. Ideas are counted from the last one that is stored
// whole, in radix deltaRadix. The base of Idea i is the number whose last nonzero digit is one less. So most Ideas are
// stored against the previous one, every 16th against the 16th before, every 256th against the 256th before. A change
// is written three times at most, and at most 45 deltas lead to any Idea.
const (
	deltaRadix       = 16
	maxDeltaDistance = deltaRadix * deltaRadix * deltaRadix
)

// deltaBaseOf returns the base of Idea i. Both are counted from the last Idea that is stored whole.
func deltaBaseOf(i int) int {
	unit := 1
	for i%(unit*deltaRadix) == 0 {
		unit *= deltaRadix
	}
	return i - unit
}

// find returns the Idea with a number among st and the Ideas that it was built from; nil if it is not among them.
func (st *state) find(number int) *state {
	for ; st != nil; st = st.base {
		if st.number == number {
			return st
		}
	}
	return nil
}

// state reads the body of an Idea. known is an Idea read before, which may spare some reading.
func (s *Store) state(ctx context.Context, m *manifest, previous *state) (*state, error) {
	if err := m.checkNotForgotten(); err != nil {
		return nil, err
	}
	st := &state{number: m.metaNumber("at"), digest: m.Digest, lineage: m.lineage}
	body, err := s.unpack(ctx, m.Body)
	if err != nil {
		return nil, m.wrapBroken(err)
	}
	if m.DeltaBase != 0 {
		st.base, err = s.loadBase(ctx, m, previous)
		if err != nil {
			return nil, err
		}
		body, err = jsonval.ApplyDelta(st.base.body, body)
		if err != nil {
			return nil, brokenErrorf(m.place(), "it does not fit Idea %d: %w", m.DeltaBase, err)
		}
		st.fullBytes = st.base.fullBytes
	} else {
		st.fullBytes = len(jsonval.Encode(body))
	}
	var ok bool
	st.body, ok = body.(jsonval.Object)
	if !ok {
		return nil, brokenErrorf(m.place(), "an Idea is an object, not %s", jsonval.TypeOf(body))
	}
	return st, nil
}

// loadBase reads the Idea that another is stored as a delta of.
func (s *Store) loadBase(ctx context.Context, m *manifest, previous *state) (*state, error) {
	if m.DeltaBase < 0 || m.DeltaBase >= m.metaNumber("at") {
		return nil, brokenErrorf(m.place(), "it is stored against Idea %d, which is none before it", m.DeltaBase)
	}
	if base := previous.find(m.DeltaBase); base != nil {
		return base, nil
	}
	baseManifest, err := s.manifest(ctx, m.metaText("process"), m.DeltaBase)
	if err != nil {
		return nil, err
	}
	return s.state(ctx, baseManifest, previous)
}

// wrapBroken adds the manifest's place to an error that names no part.
func (m *manifest) wrapBroken(err error) error {
	if isPartError(err) {
		return err
	}
	return &brokenPartError{m.place(), err}
}

// A Store caches the latest Idea of each of the processes that were sealed last, so that the next Idea is stored
// without reading the previous one.
const (
	maxCachedStates = 1024
	maxStateBytes   = 32 << 20
)

func newStateCache() *blobs.LRU[*state] {
	return blobs.NewLRU(maxCachedStates, maxStateBytes, func(st *state) int { return st.fullBytes + st.DeltaBytes })
}

// cachedLatestState returns the cached Idea of a process if it has the digest; else nil.
func (s *Store) cachedLatestState(process, digest string) *state {
	if st, ok := s.latestStates.Get(process); ok && st.digest == digest {
		return st
	}
	return nil
}
