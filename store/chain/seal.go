package chain

import (
	"context"
	"errors"

	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
)

// Seal appends an Idea to its process's chain and returns its digest: SHA-256, in hex, over the canonical bytes of the
// whole Idea without meta.digest. Sealing the same Idea again changes nothing and returns the same digest. An Idea that
// others follow is never replaced: the error wraps ErrConflict.
func (s *Store) Seal(ctx context.Context, e Entry) (sealed protocol.IdeaRef, err error) {
	defer wrapError(&err, "seal Idea %d of %s", e.Number, e.Process)
	ctx = blobs.ForProcess(ctx, e.Process)
	d, err := e.draft()
	if err != nil {
		return sealed, err
	}
	sealed = protocol.IdeaRef{Idea: e.Number, Place: ManifestName(e.Process, e.Number)}
	sealed.Digest, err = s.findSealedDigest(ctx, e, d)
	if err != nil || sealed.Digest != "" {
		return sealed, err
	}
	d.meta[createdAtKey] = formatTime(e.Created)
	digest, size, err := d.digest(ctx, s.values)
	if err != nil {
		return sealed, err
	}
	parent, err := s.parentState(ctx, e)
	if err != nil {
		return sealed, err
	}
	if undoneID := jsonval.AsText(jsonval.Lookup(d.meta, "undoes", "process")); undoneID != "" && e.Number == 1 {
		if err := s.RecordUndoingProcess(ctx, undoneID, e.Process); err != nil {
			return sealed, err
		}
	}
	m, st, err := s.storeIdea(ctx, d, e.Number, digest, parent, size)
	if err != nil {
		return sealed, err
	}
	// The manifest is written last, when everything that it names is stored.
	if err := s.values.Write(ctx, sealed.Place, m.encode()); err != nil {
		return sealed, err
	}
	s.latestStates.Put(e.Process, st)
	sealed.Digest = digest
	return sealed, nil
}

// findSealedDigest returns the digest of the Idea if the same Idea was sealed before; empty if not. A different Idea at
// its place was left by an attempt whose result got lost, unless another Idea follows: that is ErrConflict.
func (s *Store) findSealedDigest(ctx context.Context, e Entry, d draft) (string, error) {
	existing, err := s.manifest(ctx, e.Process, e.Number)
	switch {
	case errors.Is(err, ErrNoIdea):
		return "", nil
	case err != nil && !isBroken(err):
		return "", err
	case err == nil && existing.forgotten() != nil:
		return "", &ForgottenError{e.Process, *existing.forgotten()}
	case err == nil:
		d.meta[createdAtKey] = existing.metaText(createdAtKey)
		digest, _, err := d.digest(ctx, s.values)
		if err != nil || digest == existing.Digest {
			return digest, err
		}
	}
	_, hasNext, err := s.values.Read(ctx, ManifestName(e.Process, e.Number+1))
	if hasNext {
		err = ErrConflict
	}
	return "", err
}

// parentState returns the previous Idea; nil if none can be read. A broken chain continues with an Idea that is stored
// whole, and Verify names the gap.
func (s *Store) parentState(ctx context.Context, e Entry) (*state, error) {
	if e.Parent == "" || e.Number == 1 {
		return nil, nil
	}
	if st := s.cachedLatestState(e.Process, e.Parent); st != nil && st.number == e.Number-1 {
		return st, nil
	}
	// The base of a delta may be any Idea before it, even one that is not its parent.
	m, err := s.manifest(ctx, e.Process, e.Number-1)
	var st *state
	if err == nil {
		st, err = s.state(ctx, m, nil)
	}
	if isBroken(err) {
		return nil, nil
	}
	return st, err
}
