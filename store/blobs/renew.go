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

// renewedKeySeparator separates a process and a number in the owner of the process's second and later data keys.
const renewedKeySeparator = "/~"

// KeyRenewal moves the remaining data of a process to a new data key, so that copies of removed data become unreadable.
// Call ReencryptValue and ReencryptObject for all that remains, then Finish. Until Finish, everything can be read as
// before, and every step can be repeated.
type KeyRenewal struct {
	store     *Store
	processID string
	oldKey    *encryption.Key
	newOwner  string // owner of the new data key
}

// BeginKeyRenewal begins a KeyRenewal; nil if the process has no data key. Nobody else may write for the process
// meanwhile.
func (s *Store) BeginKeyRenewal(ctx context.Context, processID string) (*KeyRenewal, error) {
	s.dataKeys.Remove(processID)
	oldKey, err := s.dataKeyOf(ctx, processID)
	if oldKey == nil || err != nil {
		return nil, err
	}
	keyNumber := 1
	if _, numberText, isRenewed := strings.Cut(oldKey.Owner, renewedKeySeparator); isRenewed {
		if keyNumber, err = strconv.Atoi(numberText); err != nil {
			return nil, fmt.Errorf("blobs: data key of %s: %w", oldKey.Owner, err)
		}
	}
	return &KeyRenewal{s, processID, oldKey, processID + renewedKeySeparator + strconv.Itoa(keyNumber+1)}, nil
}

func (r *KeyRenewal) withNewKey(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownerContextKey{}, r.newOwner)
}

// ReencryptValue encrypts a value with the new data key, if the previous one encrypts it.
func (r *KeyRenewal) ReencryptValue(ctx context.Context, digest string) error {
	data, err := r.store.readFirst(ctx, []location{encryptedLocation(r.oldKey, digest)})
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

// ReencryptObject encrypts a named object with the new data key.
func (r *KeyRenewal) ReencryptObject(ctx context.Context, name string) error {
	data, ok, err := r.store.Read(ctx, name)
	if err == nil && ok {
		err = r.store.Write(r.withNewKey(ctx), name, data)
	}
	return err
}

// Finish destroys the previous data keys, and removes the values that they still encrypt.
func (r *KeyRenewal) Finish(ctx context.Context) error {
	if _, err := r.store.ensureWriteKey(r.withNewKey(ctx)); err != nil {
		return err
	}
	owners, err := r.store.dataKeyOwnersOf(ctx, r.processID)
	if err != nil {
		return err
	}
	for _, owner := range slices.DeleteFunc(owners, func(other string) bool { return other == r.newOwner }) {
		if err := r.store.retireKeyAndValues(ctx, owner, movedKeyPrefix+r.newOwner+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// dataKeyOwnersOf lists the owners of a process's data keys: the process itself, and the owner of each renewed key.
func (s *Store) dataKeyOwnersOf(ctx context.Context, processID string) ([]string, error) {
	owners := []string{processID}
	items, err := s.dataKeyOwnersWithPrefix(ctx, url.PathEscape(processID+renewedKeySeparator))
	for _, i := range items {
		owners = append(owners, i.Name)
	}
	return owners, err
}
