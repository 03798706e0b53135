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
	// Open decrypts payloads in the store; nil if none is encrypted.
	Open Opener
	// QuietPeriod is how long to wait for other writers before values are removed; blobs.RemovalSettleTime except in
	// tests.
	QuietPeriod time.Duration
}

// ForgottenContents is what Forget removed.
type ForgottenContents struct {
	// Chains are the processes whose chains have been emptied: the process itself, its parts and its delegates.
	Chains []string `json:"chains"`
	Ideas  int      `json:"ideas"`
	// Values counts the removed values, which only this process needed; ValueBytes is their total size as stored.
	Values     int   `json:"values"`
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
func (s *Store) Forget(ctx context.Context, f ForgetOptions) (done *ForgottenContents, err error) {
	defer wrapError(&err, "forget %s", f.Process)
	ctx = blobs.ForProcess(ctx, "")
	tree, err := s.processTree(ctx, f.Process)
	if err != nil {
		return nil, err
	}
	done = &ForgottenContents{Chains: tree, KeyDestroyed: s.values.Keys() != nil}
	for _, process := range tree {
		ideas, err := s.sealForgotten(ctx, process, f.Forgotten)
		if err != nil {
			return nil, fmt.Errorf("say so in the chain of %s: %w", process, err)
		}
		done.Ideas += ideas
	}
	unshared := func(ctx context.Context) ([]*collectableValue, error) { return s.unsharedValues(ctx, f, tree) }
	if err := s.removeUnshared(ctx, f.QuietPeriod, unshared, done); err != nil {
		return nil, fmt.Errorf("remove values: %w", err)
	}
	for _, process := range tree {
		if err := s.eraseChain(ctx, process); err != nil {
			return nil, fmt.Errorf("empty the chain of %s: %w", process, err)
		}
	}
	return done, s.values.Forget(ctx, f.Process)
}

// processTree lists the process, and its parts and delegates that have a chain.
func (s *Store) processTree(ctx context.Context, process string) ([]string, error) {
	processes, err := s.Processes(ctx)
	tree := []string{process}
	for _, id := range processes {
		if id != process && blobs.RootOf(id) == process {
			tree = append(tree, id)
		}
	}
	return tree, err
}

// sealForgotten appends an Idea to a chain which records that the contents of all Ideas before it were forgotten. It
// does nothing if the chain already ends with such an Idea. It returns the number of Ideas before it.
func (s *Store) sealForgotten(ctx context.Context, process string, f Forgotten) (ideas int, err error) {
	numbers, _, err := s.ideaNumbers(ctx, process)
	if err != nil {
		return 0, err
	}
	digests, parent := []any{}, ""
	for _, at := range numbers {
		m, err := s.manifest(ctx, process, at)
		if isBroken(err) {
			continue // it was broken before
		}
		if err != nil {
			return 0, err
		}
		if m.Meta[forgottenKey] != nil && at == numbers[len(numbers)-1] {
			return len(numbers) - 1, nil
		}
		digests, parent = append(digests, m.Digest), m.Digest
	}
	at := 1
	if len(numbers) > 0 {
		at = numbers[len(numbers)-1] + 1
	}
	says := jsonval.AsObject(jsonval.ToJSONValue(f))
	says[digestsKey] = digests
	m, err := s.storeNote(ctx, Entry{Process: process, At: at, Parent: parent, Created: f.At,
		Idea: jsonval.Object{"context": []any{}}}, forgottenKey, says, nil)
	if err == nil {
		err = s.values.Write(ctx, Place(process, at), m.encode())
	}
	return len(numbers), err
}

// storeNote stores the last Idea of a chain, which records under a key of its meta what was forgotten.
func (s *Store) storeNote(ctx context.Context, e Entry, key string, says jsonval.Object,
	parent *state) (*manifest, error) {
	d, err := e.draft()
	if err != nil {
		return nil, err
	}
	d.meta[key], d.meta[createdAt] = says, dateOf(e.Created)
	digest, size, err := d.digest(ctx, s.values)
	if err != nil {
		return nil, err
	}
	m, _, err := s.storeIdea(ctx, d, e.At, digest, parent, size)
	return m, err
}

// metaKeysKeptByForget are the keys of meta that stay when the contents are forgotten.
var metaKeysKeptByForget = []string{"process", "at", "parent", createdAt, originKey}

// eraseChain reduces all Ideas of a chain except the last to what links them.
func (s *Store) eraseChain(ctx context.Context, process string) error {
	s.tips.Remove(process)
	numbers, strange, err := s.ideaNumbers(ctx, process)
	if err != nil {
		return err
	}
	for _, name := range strange {
		if err := s.values.Remove(ctx, name); err != nil {
			return err
		}
	}
	last, err := s.manifest(ctx, process, numbers[len(numbers)-1])
	if err != nil {
		return err
	}
	for _, at := range numbers[:len(numbers)-1] {
		if err := s.eraseIdea(ctx, process, at, last.forgotten()); err != nil {
			return err
		}
	}
	return s.removeUnfinished(func(name string) bool { return strings.HasPrefix(name, placeOf(process)) })
}

func (s *Store) eraseIdea(ctx context.Context, process string, at int, f *Forgotten) error {
	m, err := s.manifest(ctx, process, at)
	switch {
	case isBroken(err):
		return s.values.Remove(ctx, Place(process, at))
	case err != nil || m.Forgotten != nil:
		return err
	}
	left := manifest{Format: manifestFormat, Digest: m.Digest, Meta: jsonval.Object{}, lineage: lineage{Since: at},
		Forgotten: f}
	for _, k := range metaKeysKeptByForget {
		if v, has := m.Meta[k]; has {
			left.Meta[k] = v
		}
	}
	return s.values.Write(ctx, Place(process, at), left.encode())
}

// maxRemovalRounds bounds how often removal is repeated for values that others wrote meanwhile.
const maxRemovalRounds = 3

// removeUnshared removes the values that list returns, in reverse order: a value goes before what refers to it.
func (s *Store) removeUnshared(
	ctx context.Context, settle time.Duration, list func(context.Context) ([]*collectableValue, error),
	done *ForgottenContents,
) error {
	for range maxRemovalRounds {
		before := time.Now().Add(time.Hour) // owned values have no other writer, so their age does not matter
		unshared, err := list(ctx)
		if err != nil || len(unshared) == 0 {
			return err
		}
		if slices.ContainsFunc(unshared, func(v *collectableValue) bool { return !blobs.IsOwned(v.Name) }) {
			if before, err = s.values.AnnounceRemoval(ctx); err != nil {
				return err
			}
			if err := pause.For(ctx, settle); err != nil {
				return err
			}
			// Meanwhile somebody may have started to use a value, and may have rewritten it.
			if unshared, err = list(ctx); err != nil {
				return err
			}
		}
		if err := s.removeOlder(ctx, unshared, before, done); err != nil {
			return err
		}
	}
	return errors.New("other writers keep storing the same values again: forget again when they have stopped")
}

func (s *Store) removeOlder(
	ctx context.Context, values []*collectableValue, before time.Time, done *ForgottenContents,
) error {
	names := map[string]bool{}
	for _, v := range slices.Backward(values) {
		names[v.Name] = true
		if !v.Written.Before(before) {
			continue
		}
		removed, err := s.values.RemoveUntouched(ctx, v.Item)
		if err != nil {
			return err
		}
		if removed {
			done.Values++
			done.ValueBytes += v.Size
		}
	}
	return s.removeUnfinished(func(name string) bool {
		of, _, _ := strings.Cut(name, ".")
		return names[of]
	})
}

// removeUnfinished removes the half-written files of programs that were killed.
func (s *Store) removeUnfinished(of func(name string) bool) error {
	items, err := s.values.Unfinished()
	for _, i := range items {
		if err == nil && of(i.Name) {
			err = s.values.Remove(context.Background(), i.Name)
		}
	}
	return err
}

// unsharedValues lists the values that only the process refers to, each after something that refers to it.
func (s *Store) unsharedValues(ctx context.Context, f ForgetOptions, tree []string) ([]*collectableValue, error) {
	ownHeld, otherHeld, err := f.readHeld(ctx)
	if err != nil {
		return nil, err
	}
	own, err := s.markReferred(ctx, ownHeld, f, tree, false, nil)
	if err != nil || len(own.found) == 0 {
		return nil, err
	}
	others, err := s.markReferred(ctx, otherHeld, f, tree, true, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(own.found,
		func(v *collectableValue) bool { return others.listed[v.Name] != nil && others.listed[v.Name].needed }), nil
}

// readHeld calls ReadReferences, if it is set.
func (f ForgetOptions) readHeld(ctx context.Context) (own, others *NamespaceContents, err error) {
	if f.ReadReferences == nil {
		return nil, nil, nil
	}
	return f.ReadReferences(ctx)
}

// markReferred marks the values that the chains and held refer to. With elsewhere, it marks the values that held and
// everything except these chains refer to. onNeeded, if not nil, is called for each marked value.
func (s *Store) markReferred(
	ctx context.Context, held *NamespaceContents, f ForgetOptions, chains []string, elsewhere bool,
	onNeeded func(reference) error,
) (*collector, error) {
	c := s.collector(ctx, Rules{Open: f.Open})
	c.onNeeded = onNeeded
	return c, c.mark(ctx, held, func(_ context.Context, process string, _ []blobs.Item) (bool, error) {
		return slices.Contains(chains, process) != elsewhere, nil
	}, elsewhere)
}
