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
	Process string // a root process; its parts and delegates are forgotten with it
	// Instance is the token of the instance to forget; only ForgetInstance reads it.
	Instance string
	Forgotten
	// ReadReferences reads what the histories that will be deleted refer to, and what everything else in Temporal
	// refers to; nil if there is no Temporal. Nothing of the process may be running.
	ReadReferences func(context.Context) (own, others *NamespaceContents, err error)
	// Decrypt decrypts payloads in the store; nil if none is encrypted.
	Decrypt DecryptFunc
	// QuietPeriod is how long to wait for other writers before values are removed; blobs.RemovalQuietPeriod except in
	// tests.
	QuietPeriod time.Duration
}

// ForgetResult is what Forget removed.
type ForgetResult struct {
	// Chains are the processes whose chains have been emptied: the process itself, its parts and its delegates.
	Chains    []string `json:"chains"`
	IdeaCount int      `json:"ideas"`
	// ValueCount counts the removed values, which only this process needed; ValueBytes is their total size as stored.
	ValueCount int   `json:"values"`
	ValueBytes int64 `json:"valueBytes"`
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
	defer wrapError(&err, "forget %s", f.Process)
	ctx = blobs.ForProcess(ctx, "")
	processes, err := s.listProcessTree(ctx, f.Process)
	if err != nil {
		return nil, err
	}
	result = &ForgetResult{Chains: processes, KeyDestroyed: s.values.Keys() != nil}
	for _, process := range processes {
		ideaCount, err := s.sealForgotten(ctx, process, f.Forgotten)
		if err != nil {
			return nil, fmt.Errorf("say so in the chain of %s: %w", process, err)
		}
		result.IdeaCount += ideaCount
	}
	listUnshared := func(ctx context.Context) ([]*collectableValue, error) { return s.unsharedValues(ctx, f, processes) }
	if err := s.removeUnshared(ctx, f.QuietPeriod, listUnshared, result); err != nil {
		return nil, fmt.Errorf("remove values: %w", err)
	}
	for _, process := range processes {
		if err := s.eraseChain(ctx, process); err != nil {
			return nil, fmt.Errorf("empty the chain of %s: %w", process, err)
		}
	}
	return result, s.values.Forget(ctx, f.Process)
}

// listProcessTree lists the process, and its parts and delegates that have a chain.
func (s *Store) listProcessTree(ctx context.Context, process string) ([]string, error) {
	processes, err := s.Processes(ctx)
	tree := []string{process}
	for _, id := range processes {
		if id != process && blobs.RootProcessOf(id) == process {
			tree = append(tree, id)
		}
	}
	return tree, err
}

// sealForgotten appends an Idea to a chain which records that the contents of all Ideas before it were forgotten. It
// does nothing if the chain already ends with such an Idea. It returns the number of Ideas before it.
func (s *Store) sealForgotten(ctx context.Context, process string, f Forgotten) (ideaCount int, err error) {
	numbers, _, err := s.ideaNumbers(ctx, process)
	if err != nil {
		return 0, err
	}
	digests, parent := []any{}, ""
	for _, number := range numbers {
		m, err := s.manifest(ctx, process, number)
		if isBroken(err) {
			continue // it was broken before
		}
		if err != nil {
			return 0, err
		}
		if m.Meta[forgottenKey] != nil && number == numbers[len(numbers)-1] {
			return len(numbers) - 1, nil
		}
		digests, parent = append(digests, m.Digest), m.Digest
	}
	number := 1
	if len(numbers) > 0 {
		number = numbers[len(numbers)-1] + 1
	}
	record := jsonval.AsObject(jsonval.ToJSONValue(f))
	record[digestsKey] = digests
	m, err := s.storeForgetRecord(ctx, Entry{Process: process, Number: number, Parent: parent, Created: f.ForgottenAt,
		Idea: jsonval.Object{"context": []any{}}}, forgottenKey, record, nil)
	if err == nil {
		err = s.values.Write(ctx, ManifestName(process, number), m.encode())
	}
	return len(numbers), err
}

// storeForgetRecord stores the last Idea of a chain, which records under a key of its meta what was forgotten.
func (s *Store) storeForgetRecord(ctx context.Context, e Entry, key string, record jsonval.Object,
	parent *state) (*manifest, error) {
	d, err := e.draft()
	if err != nil {
		return nil, err
	}
	d.meta[key], d.meta[createdAtKey] = record, formatTime(e.Created)
	digest, size, err := d.digest(ctx, s.values)
	if err != nil {
		return nil, err
	}
	m, _, err := s.storeIdea(ctx, d, e.Number, digest, parent, size)
	return m, err
}

// metaKeysKeptByForget are the keys of meta that stay when the contents are forgotten.
var metaKeysKeptByForget = []string{"process", "at", "parent", createdAtKey, originKey}

// eraseChain reduces all Ideas of a chain except the last to what links them.
func (s *Store) eraseChain(ctx context.Context, process string) error {
	s.latestStates.Remove(process)
	numbers, otherFiles, err := s.ideaNumbers(ctx, process)
	if err != nil {
		return err
	}
	for _, name := range otherFiles {
		if err := s.values.Remove(ctx, name); err != nil {
			return err
		}
	}
	last, err := s.manifest(ctx, process, numbers[len(numbers)-1])
	if err != nil {
		return err
	}
	for _, number := range numbers[:len(numbers)-1] {
		if err := s.eraseIdea(ctx, process, number, last.forgotten()); err != nil {
			return err
		}
	}
	return s.removeUnfinished(func(name string) bool { return strings.HasPrefix(name, ideasFolder(process)) })
}

func (s *Store) eraseIdea(ctx context.Context, process string, number int, f *Forgotten) error {
	m, err := s.manifest(ctx, process, number)
	switch {
	case isBroken(err):
		return s.values.Remove(ctx, ManifestName(process, number))
	case err != nil || m.Forgotten != nil:
		return err
	}
	remaining := manifest{Format: manifestFormat, Digest: m.Digest, lineage: lineage{RootIdea: number}, Forgotten: f,
		Meta: jsonval.WithOnlyKeys(m.Meta, metaKeysKeptByForget...)}
	return s.values.Write(ctx, ManifestName(process, number), remaining.encode())
}

// maxRemovalRounds bounds how often removal is repeated for values that others wrote meanwhile.
const maxRemovalRounds = 3

// removeUnshared removes the values that list returns, in reverse order: a value goes before what refers to it.
func (s *Store) removeUnshared(
	ctx context.Context, settleTime time.Duration, listValues func(context.Context) ([]*collectableValue, error),
	result *ForgetResult,
) error {
	for range maxRemovalRounds {
		cutoff := time.Now().Add(time.Hour) // owned values have no other writer, so their age does not matter
		unshared, err := listValues(ctx)
		if err != nil || len(unshared) == 0 {
			return err
		}
		if slices.ContainsFunc(unshared, func(v *collectableValue) bool { return !blobs.IsOwned(v.Name) }) {
			if cutoff, err = s.values.AnnounceRemoval(ctx); err != nil {
				return err
			}
			if err := pause.For(ctx, settleTime); err != nil {
				return err
			}
			// Meanwhile somebody may have started to use a value, and may have rewritten it.
			if unshared, err = listValues(ctx); err != nil {
				return err
			}
		}
		if err := s.removeOlder(ctx, unshared, cutoff, result); err != nil {
			return err
		}
	}
	return errors.New("other writers keep storing the same values again: forget again when they have stopped")
}

func (s *Store) removeOlder(
	ctx context.Context, values []*collectableValue, cutoff time.Time, result *ForgetResult,
) error {
	names := map[string]bool{}
	for _, v := range slices.Backward(values) {
		names[v.Name] = true
		if !v.WrittenAt.Before(cutoff) {
			continue
		}
		removed, err := s.values.RemoveIfUnchanged(ctx, v.Item)
		if err != nil {
			return err
		}
		if removed {
			result.ValueCount++
			result.ValueBytes += v.Size
		}
	}
	return s.removeUnfinished(func(name string) bool {
		baseName, _, _ := strings.Cut(name, ".")
		return names[baseName]
	})
}

// removeUnfinished removes the half-written files of programs that were killed.
func (s *Store) removeUnfinished(matches func(name string) bool) error {
	items, err := s.values.ListUnfinished()
	for _, i := range items {
		if err == nil && matches(i.Name) {
			err = s.values.Remove(context.Background(), i.Name)
		}
	}
	return err
}

// unsharedValues lists the values that only the process refers to, each after something that refers to it.
func (s *Store) unsharedValues(ctx context.Context, f ForgetOptions, tree []string) ([]*collectableValue, error) {
	ownContents, otherContents, err := f.readTemporalReferences(ctx)
	if err != nil {
		return nil, err
	}
	ownMarked, err := s.markReferenced(ctx, ownContents, f, tree, false, nil)
	if err != nil || len(ownMarked.neededValues) == 0 {
		return nil, err
	}
	others, err := s.markReferenced(ctx, otherContents, f, tree, true, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ownMarked.neededValues,
		func(v *collectableValue) bool {
			return others.valueByName[v.Name] != nil && others.valueByName[v.Name].isNeeded
		}), nil
}

// readTemporalReferences calls ReadReferences, if it is set.
func (f ForgetOptions) readTemporalReferences(ctx context.Context) (own, others *NamespaceContents, err error) {
	if f.ReadReferences == nil {
		return nil, nil, nil
	}
	return f.ReadReferences(ctx)
}

// markReferenced marks the values that the chains and held refer to. With elsewhere, it marks the values that held and
// everything except these chains refer to. onNeeded, if not nil, is called for each marked value.
func (s *Store) markReferenced(
	ctx context.Context, contents *NamespaceContents, f ForgetOptions, chains []string, skipChains bool,
	onNeeded func(reference) error,
) (*collector, error) {
	c := s.newCollector(ctx, CollectRules{Decrypt: f.Decrypt})
	c.onNeeded = onNeeded
	return c, c.mark(ctx, contents, func(_ context.Context, process string, _ []blobs.Item) (bool, error) {
		return slices.Contains(chains, process) != skipChains, nil
	}, skipChains)
}
