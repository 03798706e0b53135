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
func (s *Store) Seal(ctx context.Context, e IdeaToSeal) (sealedRef protocol.IdeaRef, err error) {
	defer wrapError(&err, "seal Idea %d of %s", e.IdeaNumber, e.ProcessID)
	ctx = blobs.WithProcess(ctx, e.ProcessID)
	d, err := e.content()
	if err != nil {
		return sealedRef, err
	}
	sealedRef = protocol.IdeaRef{IdeaNumber: e.IdeaNumber, ManifestName: ManifestName(e.ProcessID, e.IdeaNumber)}
	sealedRef.Digest, err = s.findSealedDigest(ctx, e, d)
	if err != nil || sealedRef.Digest != "" {
		return sealedRef, err
	}
	d.meta[createdAtMetaKey] = formatTime(e.Created)
	digest, ideaBytes, err := d.digest(ctx, s.blobStore)
	if err != nil {
		return sealedRef, err
	}
	parentIdea, err := s.readParentIdea(ctx, e)
	if err != nil {
		return sealedRef, err
	}
	if undoneID := jsonval.AsText(jsonval.Lookup(d.meta, "undoes", "process")); undoneID != "" && e.IdeaNumber == 1 {
		if err := s.RecordUndoingProcess(ctx, undoneID, e.ProcessID); err != nil {
			return sealedRef, err
		}
	}
	m, st, err := s.storeIdea(ctx, d, e.IdeaNumber, digest, parentIdea, ideaBytes)
	if err != nil {
		return sealedRef, err
	}
	// The manifest is written last, when everything that it names is stored.
	if err := s.blobStore.Write(ctx, sealedRef.ManifestName, m.encode()); err != nil {
		return sealedRef, err
	}
	s.latestIdeas.Put(e.ProcessID, st)
	sealedRef.Digest = digest
	return sealedRef, nil
}

// findSealedDigest returns the digest of the Idea if the same Idea was sealed before; empty if not. A different Idea at
// its place was left by an attempt whose result got lost, unless another Idea follows: that is ErrConflict.
func (s *Store) findSealedDigest(ctx context.Context, e IdeaToSeal, d ideaContent) (string, error) {
	existingManifest, err := s.manifest(ctx, e.ProcessID, e.IdeaNumber)
	switch {
	case errors.Is(err, ErrNoIdea):
		return "", nil
	case err != nil && !isBroken(err):
		return "", err
	case err == nil && existingManifest.forgotten() != nil:
		return "", &ForgottenError{e.ProcessID, *existingManifest.forgotten()}
	case err == nil:
		d.meta[createdAtMetaKey] = existingManifest.metaText(createdAtMetaKey)
		digest, _, err := d.digest(ctx, s.blobStore)
		if err != nil || digest == existingManifest.Digest {
			return digest, err
		}
	}
	_, hasNext, err := s.blobStore.Read(ctx, ManifestName(e.ProcessID, e.IdeaNumber+1))
	if hasNext {
		err = ErrConflict
	}
	return "", err
}

// readParentIdea returns the previous Idea; nil if none can be read. A broken chain continues with an Idea that is
// stored whole, and Verify names the gap.
func (s *Store) readParentIdea(ctx context.Context, e IdeaToSeal) (*loadedIdea, error) {
	if e.ParentDigest == "" || e.IdeaNumber == 1 {
		return nil, nil
	}
	if st := s.cachedLatestIdea(e.ProcessID, e.ParentDigest); st != nil && st.number == e.IdeaNumber-1 {
		return st, nil
	}
	// The base of a delta may be any Idea before it, even one that is not its parent.
	m, err := s.manifest(ctx, e.ProcessID, e.IdeaNumber-1)
	var st *loadedIdea
	if err == nil {
		st, err = s.readIdea(ctx, m, nil)
	}
	if isBroken(err) {
		return nil, nil
	}
	return st, err
}
