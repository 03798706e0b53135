package chain

import (
	"context"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// loadedIdea is the body of an Idea in memory, with the Ideas that it was built from. It shares unchanged values with
// them.
type loadedIdea struct {
	number int
	digest string
	body   jsonval.Object
	base   *loadedIdea // the Idea that it is stored as a delta of; nil if it is stored whole
	lineage
	fullIdeaBodyBytes int // bytes of the body of Idea Since
}

// These constants decide which Idea is the base of another's delta. Ideas are counted from the last one that is stored
// whole, in radix skipDeltaRadix. The base of Idea i is the number whose last nonzero digit is one less. So most Ideas
// are stored against the previous one, every 16th against the 16th before, every 256th against the 256th before. A
// change is written three times at most, and at most 45 deltas lead to any Idea.
const (
	skipDeltaRadix   = 16
	maxDeltaDistance = skipDeltaRadix * skipDeltaRadix * skipDeltaRadix
)

// deltaBaseOffset returns the base of the Idea ideaOffset. Both are counted from the last Idea that is stored whole.
func deltaBaseOffset(ideaOffset int) int {
	unit := 1
	for ideaOffset%(unit*skipDeltaRadix) == 0 {
		unit *= skipDeltaRadix
	}
	return ideaOffset - unit
}

// find returns the Idea with a number among st and the Ideas that it was built from; nil if it is not among them.
func (st *loadedIdea) find(ideaNumber int) *loadedIdea {
	for ; st != nil; st = st.base {
		if st.number == ideaNumber {
			return st
		}
	}
	return nil
}

// readIdea reads the body of an Idea. previous is an Idea read before, which may spare some reading.
func (s *Store) readIdea(ctx context.Context, m *manifest, previous *loadedIdea) (*loadedIdea, error) {
	if err := m.checkNotForgotten(); err != nil {
		return nil, err
	}
	st := &loadedIdea{number: m.metaNumber("at"), digest: m.Digest, lineage: m.lineage}
	body, err := s.loadNode(ctx, m.BodyNode)
	if err != nil {
		return nil, m.wrapBroken(err)
	}
	if m.DeltaBaseNumber != 0 {
		st.base, err = s.loadBase(ctx, m, previous)
		if err != nil {
			return nil, err
		}
		body, err = jsonval.ApplyDelta(st.base.body, body)
		if err != nil {
			return nil, brokenErrorf(m.name(), "it does not fit Idea %d: %w", m.DeltaBaseNumber, err)
		}
		st.fullIdeaBodyBytes = st.base.fullIdeaBodyBytes
	} else {
		st.fullIdeaBodyBytes = len(jsonval.Encode(body))
	}
	var ok bool
	st.body, ok = body.(jsonval.Object)
	if !ok {
		return nil, brokenErrorf(m.name(), "an Idea is an object, not %s", jsonval.TypeOf(body))
	}
	return st, nil
}

// loadBase reads the Idea that another is stored as a delta of.
func (s *Store) loadBase(ctx context.Context, m *manifest, previous *loadedIdea) (*loadedIdea, error) {
	if m.DeltaBaseNumber < 0 || m.DeltaBaseNumber >= m.metaNumber("at") {
		return nil, brokenErrorf(m.name(), "it is stored against Idea %d, which is none before it", m.DeltaBaseNumber)
	}
	if base := previous.find(m.DeltaBaseNumber); base != nil {
		return base, nil
	}
	baseManifest, err := s.manifest(ctx, m.metaText("process"), m.DeltaBaseNumber)
	if err != nil {
		return nil, err
	}
	return s.readIdea(ctx, baseManifest, previous)
}

// wrapBroken adds the manifest's place to an error that names no part.
func (m *manifest) wrapBroken(err error) error {
	if isBrokenObjectError(err) {
		return err
	}
	return &brokenObjectError{m.name(), err}
}

// A Store caches the latest Idea of each of the processes that were sealed last, so that the next Idea is stored
// without reading the previous one.
const (
	maxCachedIdeas     = 1024
	maxCachedIdeaBytes = 32 << 20
)

func newIdeaCache() *blobs.LRU[*loadedIdea] {
	return blobs.NewLRU(maxCachedIdeas, maxCachedIdeaBytes, func(st *loadedIdea) int {
		return st.fullIdeaBodyBytes +
			st.DeltaBytes
	})
}

// cachedLatestIdea returns the cached Idea of a process if it has the digest; else nil.
func (s *Store) cachedLatestIdea(processID, digest string) *loadedIdea {
	if st, ok := s.latestIdeas.Get(processID); ok && st.digest == digest {
		return st
	}
	return nil
}
