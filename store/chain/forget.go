package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/internal/pause"
	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// ForgetOptions says what is to be forgotten, by whom and why.
type ForgetOptions struct {
	RootProcessID string // a root process; its parts and delegates are forgotten with it
	// InstanceToken is the token of the instance to forget; only ForgetInstance reads it.
	InstanceToken string
	ForgetRecord
	// ReadReferences reads what the histories that will be deleted refer to, and what everything else in Temporal
	// refers to; nil if there is no Temporal. Nothing of the process may be running.
	ReadReferences func(context.Context) (own, others *NamespaceContents, err error)
	// Decrypt decrypts payloads in the store; nil if none is encrypted.
	Decrypt DecryptFunc
	// RemovalNoticePeriod is how long to wait for other writers before values are removed; blobs.RemovalNoticePeriod
	// except in tests.
	RemovalNoticePeriod time.Duration
}

// ForgetResult is what Forget removed.
type ForgetResult struct {
	// AffectedProcessIDs are the processes whose chains have been emptied: the process itself, its parts and its
	// delegates.
	AffectedProcessIDs []string `json:"chains"`
	AffectedIdeaCount  int      `json:"ideas"`
	// RemovedValueCount counts the removed values, which only this process needed; RemovedValueBytes is their total
	// size as stored.
	RemovedValueCount int   `json:"values"`
	RemovedValueBytes int64 `json:"valueBytes"`
	// KeyDestroyed reports that the process's data key was destroyed: copies of what it encrypted can no longer be
	// decrypted.
	KeyDestroyed bool `json:"keyDestroyed"`
	// Mentions are remaining places that may reveal a forgotten instance.
	Mentions []Mention `json:"mentions,omitempty"`
}

// Forget removes the contents of a process from the store, and the values that only it needed. Every Idea keeps its
// digest, its parent's digest, and when it was sealed; a last Idea records when and by whom the contents were
// forgotten. After an interruption, calling Forget again completes it, because the records of where contents are stored
// are removed last. Histories in Temporal are such records too: the caller must delete them afterwards.
func (s *Store) Forget(ctx context.Context, f ForgetOptions) (result *ForgetResult, err error) {
	defer wrapError(&err, "forget %s", f.RootProcessID)
	ctx = blobs.WithProcess(ctx, "")
	processIDs, err := s.listProcessTree(ctx, f.RootProcessID)
	if err != nil {
		return nil, err
	}
	result = &ForgetResult{AffectedProcessIDs: processIDs, KeyDestroyed: s.blobStore.Keys() != nil}
	for _, processID := range processIDs {
		ideaCount, err := s.sealForgetRecord(ctx, processID, f.ForgetRecord)
		if err != nil {
			return nil, fmt.Errorf("say so in the chain of %s: %w", processID, err)
		}
		result.AffectedIdeaCount += ideaCount
	}
	listUnshared := func(ctx context.Context) ([]*collectableValue,
		error) {
		return s.unsharedValues(ctx, f, processIDs)
	}
	if err := s.removeUnshared(ctx, f.RemovalNoticePeriod, listUnshared, result); err != nil {
		return nil, fmt.Errorf("remove values: %w", err)
	}
	for _, processID := range processIDs {
		if err := s.eraseChain(ctx, processID); err != nil {
			return nil, fmt.Errorf("empty the chain of %s: %w", processID, err)
		}
	}
	return result, s.blobStore.Forget(ctx, f.RootProcessID)
}

// listProcessTree lists the process, and its parts and delegates that have a chain.
func (s *Store) listProcessTree(ctx context.Context, processID string) ([]string, error) {
	processIDs, err := s.ListProcessIDs(ctx)
	treeProcessIDs := []string{processID}
	for _, id := range processIDs {
		if id != processID && blobs.RootProcessID(id) == processID {
			treeProcessIDs = append(treeProcessIDs, id)
		}
	}
	return treeProcessIDs, err
}

// sealForgetRecord appends an Idea to a chain which records that the contents of all Ideas before it were forgotten. It
// does nothing if the chain already ends with such an Idea. It returns the number of Ideas before it.
func (s *Store) sealForgetRecord(ctx context.Context, processID string, f ForgetRecord) (ideaCount int, err error) {
	ideaNumbers, _, err := s.ideaNumbers(ctx, processID)
	if err != nil {
		return 0, err
	}
	digests, parentDigest := []any{}, ""
	for _, ideaNumber := range ideaNumbers {
		m, err := s.manifest(ctx, processID, ideaNumber)
		if isBroken(err) {
			continue // it was broken before
		}
		if err != nil {
			return 0, err
		}
		if m.Meta[forgottenMetaKey] != nil && ideaNumber == ideaNumbers[len(ideaNumbers)-1] {
			return len(ideaNumbers) - 1, nil
		}
		digests, parentDigest = append(digests, m.Digest), m.Digest
	}
	ideaNumber := 1
	if len(ideaNumbers) > 0 {
		ideaNumber = ideaNumbers[len(ideaNumbers)-1] + 1
	}
	record := jsonval.AsObject(jsonval.ToJSONValue(f))
	record[forgottenDigestsKey] = digests
	m, err := s.storeForgetRecord(ctx, IdeaToSeal{ProcessID: processID, IdeaNumber: ideaNumber,
		ParentDigest: parentDigest,
		Created:      f.ForgottenAt,
		Idea:         jsonval.Object{"context": []any{}}}, forgottenMetaKey, record, nil)
	if err == nil {
		err = s.blobStore.Write(ctx, ManifestName(processID, ideaNumber), m.encode())
	}
	return len(ideaNumbers), err
}

// storeForgetRecord stores the last Idea of a chain, which records under a key of its meta what was forgotten.
func (s *Store) storeForgetRecord(ctx context.Context, e IdeaToSeal, metaKey string, record jsonval.Object,
	parentIdea *loadedIdea) (*manifest, error) {
	d, err := e.content()
	if err != nil {
		return nil, err
	}
	d.meta[metaKey], d.meta[createdAtMetaKey] = record, formatTime(e.Created)
	digest, ideaBytes, err := d.digest(ctx, s.blobStore)
	if err != nil {
		return nil, err
	}
	m, _, err := s.storeIdea(ctx, d, e.IdeaNumber, digest, parentIdea, ideaBytes)
	return m, err
}

// metaKeysKeptByForget are the keys of meta that stay when the contents are forgotten.
var metaKeysKeptByForget = []string{"process", "at", "parent", createdAtMetaKey, forkOriginMetaKey}

// eraseChain reduces all Ideas of a chain except the last to what links them.
func (s *Store) eraseChain(ctx context.Context, processID string) error {
	s.latestIdeas.Remove(processID)
	ideaNumbers, otherFiles, err := s.ideaNumbers(ctx, processID)
	if err != nil {
		return err
	}
	for _, name := range otherFiles {
		if err := s.blobStore.Remove(ctx, name); err != nil {
			return err
		}
	}
	lastManifest, err := s.manifest(ctx, processID, ideaNumbers[len(ideaNumbers)-1])
	if err != nil {
		return err
	}
	for _, ideaNumber := range ideaNumbers[:len(ideaNumbers)-1] {
		if err := s.eraseIdea(ctx, processID, ideaNumber, lastManifest.forgotten()); err != nil {
			return err
		}
	}
	return s.removeUnfinishedFiles(func(name string) bool { return strings.HasPrefix(name, ideasFolder(processID)) })
}

func (s *Store) eraseIdea(ctx context.Context, processID string, ideaNumber int, f *ForgetRecord) error {
	m, err := s.manifest(ctx, processID, ideaNumber)
	switch {
	case isBroken(err):
		return s.blobStore.Remove(ctx, ManifestName(processID, ideaNumber))
	case err != nil || m.Forgotten != nil:
		return err
	}
	remainingManifest := manifest{Format: manifestFormat, Digest: m.Digest,
		lineage: lineage{FullIdeaNumber: ideaNumber}, Forgotten: f,
		Meta: jsonval.WithOnlyKeys(m.Meta, metaKeysKeptByForget...)}
	return s.blobStore.Write(ctx, ManifestName(processID, ideaNumber), remainingManifest.encode())
}

// maxRemovalRounds bounds how often removal is repeated for values that others wrote meanwhile.
const maxRemovalRounds = 3

// removeUnshared removes the values that list returns, in reverse order: a value goes before what refers to it.
func (s *Store) removeUnshared(
	ctx context.Context, noticePeriod time.Duration, listValues func(context.Context) ([]*collectableValue, error),
	result *ForgetResult,
) error {
	for range maxRemovalRounds {
		cutoff := time.Now().Add(time.Hour) // owned values have no other writer, so their age does not matter
		unshared, err := listValues(ctx)
		if err != nil || len(unshared) == 0 {
			return err
		}
		if slices.ContainsFunc(unshared, func(v *collectableValue) bool { return !blobs.IsOwnedByProcess(v.Name) }) {
			if cutoff, err = s.blobStore.AnnounceRemoval(ctx); err != nil {
				return err
			}
			if err := pause.For(ctx, noticePeriod); err != nil {
				return err
			}
			// Meanwhile somebody may have started to use a value, and may have rewritten it.
			if unshared, err = listValues(ctx); err != nil {
				return err
			}
		}
		if err := s.removeValuesBefore(ctx, unshared, cutoff, result); err != nil {
			return err
		}
	}
	return errors.New("other writers keep storing the same values again: forget again when they have stopped")
}

func (s *Store) removeValuesBefore(
	ctx context.Context, values []*collectableValue, cutoff time.Time, result *ForgetResult,
) error {
	valueNames := map[string]bool{}
	for _, v := range slices.Backward(values) {
		valueNames[v.Name] = true
		if !v.WrittenAt.Before(cutoff) {
			continue
		}
		isRemoved, err := s.blobStore.RemoveIfUnchanged(ctx, v.ObjectInfo)
		if err != nil {
			return err
		}
		if isRemoved {
			result.RemovedValueCount++
			result.RemovedValueBytes += v.Size
		}
	}
	return s.removeUnfinishedFiles(func(name string) bool {
		baseName, _, _ := strings.Cut(name, ".")
		return valueNames[baseName]
	})
}

// removeUnfinishedFiles removes the half-written files of programs that were killed.
func (s *Store) removeUnfinishedFiles(matches func(name string) bool) error {
	items, err := s.blobStore.ListTemporaryFiles()
	for _, i := range items {
		if err == nil && matches(i.Name) {
			err = s.blobStore.Remove(context.Background(), i.Name)
		}
	}
	return err
}

// unsharedValues lists the values that only the process refers to, each after something that refers to it.
func (s *Store) unsharedValues(ctx context.Context, f ForgetOptions, processIDs []string) ([]*collectableValue, error) {
	ownContents, otherContents, err := f.readTemporalReferences(ctx)
	if err != nil {
		return nil, err
	}
	ownCollector, err := s.markReferenced(ctx, ownContents, f, processIDs, false, nil)
	if err != nil || len(ownCollector.neededValues) == 0 {
		return nil, err
	}
	otherCollector, err := s.markReferenced(ctx, otherContents, f, processIDs, true, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ownCollector.neededValues,
		func(v *collectableValue) bool {
			return otherCollector.valueByName[v.Name] != nil && otherCollector.valueByName[v.Name].isNeeded
		}), nil
}

// readTemporalReferences calls ReadReferences, if it is set.
func (f ForgetOptions) readTemporalReferences(ctx context.Context) (ownContents, otherContents *NamespaceContents,
	err error) {
	if f.ReadReferences == nil {
		return nil, nil, nil
	}
	return f.ReadReferences(ctx)
}

// markReferenced marks the values that the chains of the processes and contents refer to. With marksOtherProcesses, it
// marks the values that contents and everything except these chains refer to. onNeededValue, if not nil, is called for
// each marked value.
func (s *Store) markReferenced(
	ctx context.Context, contents *NamespaceContents, f ForgetOptions, processIDs []string, marksOtherProcesses bool,
	onNeededValue func(digestReference) error,
) (*collector, error) {
	c := s.newCollector(ctx, CollectRules{Decrypt: f.Decrypt})
	c.onNeededValue = onNeededValue
	return c, c.mark(ctx, contents, func(_ context.Context, processID string, _ []blobs.ObjectInfo) (bool, error) {
		return slices.Contains(processIDs, processID) != marksOtherProcesses, nil
	}, marksOtherProcesses)
}
