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

// location is where a value lies. key is the id of the key that it is encrypted with; empty where it is not.
type location struct{ name, key, digest string }

// locations are all places where a value may lie: encrypted with each of the keys, and as it is, since stores are older
// than their keys. Encrypted, it does not lie under its digest, from which a short value could be guessed.
func (s *Store) locations(digest string) []location {
	var all []location
	for _, id := range s.keys.IDs() {
		name := s.keys.Name(id, digest)
		all = append(all, location{encryptedFolder + id + "/" + name[:2] + "/" + name, id, digest})
	}
	return append(all, plainly(digest))
}

// current is where a value is put today. One that lies elsewhere is put there again, so that old keys get out of use.
func (s *Store) current(digest string) location { return s.locations(digest)[0] }

// The folders of values: as they are, and encrypted, by the ids of their keys.
const (
	plainFolder     = "sha256/"
	encryptedFolder = "encrypted/"
)

// plainly is where a value lies that the store did not encrypt. Values are spread over 256 folders.
func plainly(digest string) location {
	return location{plainFolder + digest[:2] + "/" + digest, "", digest}
}

// putSealed puts what is encrypted already: it tells nothing, nor does its digest.
func (s *Store) putSealed(ctx context.Context, data []byte) (string, error) {
	return s.put(ctx, data, plainly)
}

// getSealed gets what putSealed put.
func (s *Store) getSealed(ctx context.Context, digest string) ([]byte, error) {
	return s.get(ctx, digest, func(digest string) []location { return []location{plainly(digest)} })
}

// What encrypted bytes are bound to: a value to its digest, a named object to its name. A file that is put in another's
// place does not open there.
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

// header begins a named object that is encrypted; the id of the key and a line end follow. No JSON begins like this.
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

// inUse is the folder that says which keys have encrypted something here: under the id of each lies something that this
// key alone opens.
const inUse = "keys/"

// NoteKeys says in the bucket that the primary key is in use. It is done by itself before anything is encrypted; who is
// about to encrypt elsewhere, in Temporal's histories, does it before.
func (s *Store) NoteKeys(ctx context.Context) error {
	if s.keys == nil || s.noted.Load() {
		return nil
	}
	check, err := s.keys.Seal(nil, boundCheck)
	if err == nil {
		err = s.bucket.WriteAll(ctx, inUse+s.keys.Primary(), check, nil)
	}
	if err != nil {
		return fmt.Errorf("blobs: note that key %s is in use: %w", s.keys.Primary(), err)
	}
	s.noted.Store(true)
	return nil
}

// checkKeys compares the keys with those in use: written on without keys, a store would hold in the clear what belongs
// encrypted, and with another key of the same id what nobody can read any more.
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

// notFound says why a value is not found: where keys are missing, it may be there.
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
