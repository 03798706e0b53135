package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"processidea/store/encryption"
)

// location is where a value is stored. key is the id of the key that it is encrypted with; empty if it is not encrypted.
type location struct{ name, key, digest string }

// locations are all places where a value may be: encrypted with each of the keys, and unencrypted, because a store may be
// older than its keys. An encrypted value is not stored under its digest, from which a short value could be guessed.
func (s *Store) locations(digest string) []location {
	var all []location
	for _, id := range s.keys.IDs() {
		name := s.keys.Name(id, digest)
		all = append(all, location{encryptedFolder + id + "/" + name[:2] + "/" + name, id, digest})
	}
	return append(all, plainly(digest))
}

// current is where a value is put now. A value that is stored elsewhere is put here again, so that old keys go out of use.
func (s *Store) current(digest string) location { return s.locations(digest)[0] }

// The folders of values: as they are, and encrypted, by the ids of their keys.
const (
	plainFolder     = "sha256/"
	encryptedFolder = "encrypted/"
)

// plainly is where a value is stored that the store did not encrypt. Values are spread over 256 folders.
func plainly(digest string) location {
	return location{plainFolder + digest[:2] + "/" + digest, "", digest}
}

// putSealed stores bytes that are encrypted already: neither they nor their digest reveal anything.
func (s *Store) putSealed(ctx context.Context, data []byte) (string, error) {
	return s.put(ctx, data, plainly)
}

// getSealed gets what putSealed put.
func (s *Store) getSealed(ctx context.Context, digest string) ([]byte, error) {
	return s.get(ctx, digest, func(digest string) []location { return []location{plainly(digest)} })
}

// What encrypted bytes are bound to: a value to its digest, a named object to its name. A file that is copied over another
// does not open there.
const (
	boundValue = "processidea value 1 "
	boundName  = "processidea name 1 "
	boundCheck = "processidea key check 1"
)

func (s *Store) sealed(ctx context.Context, at location, data []byte) ([]byte, error) {
	if at.key == "" {
		return data, nil
	}
	if err := s.NoteKeys(ctx); err != nil {
		return nil, err
	}
	return s.keys.Seal(data, boundValue+at.digest)
}

func (s *Store) opened(at location, data []byte) ([]byte, error) {
	if at.key == "" {
		return data, nil
	}
	return s.unseal(at.key, data, boundValue+at.digest)
}

// unseal is Keys.Open for what the store keeps.
func (s *Store) unseal(id string, sealed []byte, bound string) ([]byte, error) {
	plain, err := s.keys.Open(id, sealed, bound)
	if errors.Is(err, encryption.ErrAltered) {
		return nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return plain, err
}

// header begins an encrypted named object; the id of the key and a line end follow. JSON never begins like this.
const header = "processidea encrypted 1 "

func (s *Store) sealNamed(ctx context.Context, name string, data []byte) ([]byte, error) {
	if s.keys == nil {
		return data, nil
	}
	if err := s.NoteKeys(ctx); err != nil {
		return nil, err
	}
	sealed, err := s.keys.Seal(data, boundName+name)
	return append([]byte(header+s.keys.Primary()+"\n"), sealed...), err
}

func (s *Store) openNamed(name string, data []byte) ([]byte, error) {
	rest, encrypted := bytes.CutPrefix(data, []byte(header))
	if !encrypted {
		return data, nil
	}
	id, sealed, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return nil, ErrChanged
	}
	return s.unseal(string(id), sealed, boundName+name)
}

// inUse is the folder that lists the keys which have encrypted something here: under the id of each is an object that only
// this key opens.
const inUse = "keys/"

// NoteKeys notes in the bucket that the primary key is in use. The store does so itself before it encrypts anything;
// whoever is about to encrypt elsewhere, in Temporal's histories, calls it before.
func (s *Store) NoteKeys(ctx context.Context) error {
	if s.keys == nil || s.noted.Load() {
		return nil
	}
	check, err := s.keys.Seal(nil, boundCheck)
	if err == nil {
		err = s.writeAll(ctx, inUse+s.keys.Primary(), check)
	}
	if err != nil {
		return fmt.Errorf("blobs: note that key %s is in use: %w", s.keys.Primary(), err)
	}
	s.noted.Store(true)
	return nil
}

// checkKeys compares the keys with those in use. Opened without keys, the store would write unencrypted what should be
// encrypted; with another key under the same id, it would write what nobody can read any more.
func (s *Store) checkKeys(ctx context.Context) error {
	missing, err := s.missing(ctx)
	if err != nil {
		return fmt.Errorf("look which keys are in use: %w", err)
	}
	if s.keys == nil && len(missing) > 0 {
		return &encryption.MissingKeyError{IDs: missing, None: true}
	}
	for _, id := range s.keys.IDs() {
		check, err := s.bucket.ReadAll(ctx, inUse+id)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue
		}
		if err == nil {
			_, err = s.keys.Open(id, check, boundCheck)
		}
		if err != nil {
			return fmt.Errorf("check the key: %w", err)
		}
		if id == s.keys.Primary() {
			s.noted.Store(true)
		}
	}
	return nil
}

// missing lists the keys in use that are not here.
func (s *Store) missing(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.list(ctx, &blob.ListOptions{Prefix: inUse}, func(o *blob.ListObject) error {
		if id := strings.TrimPrefix(o.Key, inUse); !s.keys.Has(id) {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// notFound is the error of a value that was not found: if keys are missing, it may be there all the same.
func (s *Store) notFound(ctx context.Context) error {
	missing, err := s.missing(ctx)
	if err == nil && len(missing) == 0 {
		return ErrMissing
	}
	if err == nil {
		err = fmt.Errorf("not there, or %w", &encryption.MissingKeyError{IDs: missing})
	}
	return err
}
