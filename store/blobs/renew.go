package blobs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"processidea/store/encryption"
)

// renewedMark stands between a process and the number of its data key, from the second one on, in the owner that the
// data key is made for.
const renewedMark = "/~"

// Renewal moves the remaining values of a process to another data key, so that copies of the removed ones become
// unreadable: Value and Named for all that stays, then Finish. Until Finish everything is read as before, and all steps
// can be repeated.
type Renewal struct {
	store   *Store
	process string
	old     *encryption.Key
	next    string // owner of the new data key
}

// RenewDataKey begins a Renewal; nil where the process has no data key. Nobody may write for the process.
func (s *Store) RenewDataKey(ctx context.Context, process string) (*Renewal, error) {
	s.dataKeys.Remove(process)
	old, err := s.dataKeyOf(ctx, process)
	if old == nil || err != nil {
		return nil, err
	}
	number := 1
	if _, text, has := strings.Cut(old.Owner, renewedMark); has {
		if number, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("blobs: data key of %s: %w", old.Owner, err)
		}
	}
	return &Renewal{s, process, old, process + renewedMark + strconv.Itoa(number+1)}, nil
}

func (r *Renewal) withNewKey(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownerKey{}, r.next)
}

// KeepValue keeps a value, if it is encrypted with the data key.
func (r *Renewal) KeepValue(ctx context.Context, digest string) error {
	data, err := r.store.readFirst(ctx, []location{encryptedWith(r.old, digest)})
	if errors.Is(err, ErrMissing) {
		return nil
	}
	if err == nil {
		_, err = r.store.Put(r.withNewKey(ctx), data)
	}
	if err != nil {
		return fmt.Errorf("blobs: encrypt %s anew: %w", digest, err)
	}
	return nil
}

// KeepNamed keeps what lies under a name.
func (r *Renewal) KeepNamed(ctx context.Context, name string) error {
	data, ok, err := r.store.Read(ctx, name)
	if err == nil && ok {
		err = r.store.Write(r.withNewKey(ctx), name, data)
	}
	return err
}

// Finish destroys the data key that was, and removes what is left of what it encrypted.
func (r *Renewal) Finish(ctx context.Context) error {
	if _, err := r.store.keyToWrite(r.withNewKey(ctx)); err != nil {
		return err
	}
	owners, err := r.store.ownersOf(ctx, r.process)
	if err != nil {
		return err
	}
	for _, owner := range slices.DeleteFunc(owners, func(o string) bool { return o == r.next }) {
		if err := r.store.retireKey(ctx, owner, movedKeyText+r.next+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// ownersOf lists what the data keys of a process were made for: the process, and what stands for it since it got
// another.
func (s *Store) ownersOf(ctx context.Context, process string) ([]string, error) {
	owners := []string{process}
	items, err := s.ownersUnder(ctx, url.PathEscape(process+renewedMark))
	for _, i := range items {
		owners = append(owners, i.Name)
	}
	return owners, err
}
