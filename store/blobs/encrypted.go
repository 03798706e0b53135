package blobs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"gocloud.dev/gcerrors"

	"processidea/store/encryption"
)

// location is where a value is stored: encrypted with key, or unencrypted if key is nil.
type location struct {
	name, digest string
	key          *encryption.Key
}

// possibleLocations returns all places where a value may be stored: encrypted with the data key of the context's
// process, encrypted with each of the keys, and unencrypted, because a store may be older than its data keys or its
// keys.
func (s *Store) possibleLocations(ctx context.Context, digest string) (locations []location, err error) {
	dataKey, err := s.dataKey(ctx)
	if err != nil {
		return nil, err
	}
	if dataKey != nil {
		locations = append(locations, encryptedLocation(dataKey, digest))
	}
	for _, key := range s.keys.All() {
		locations = append(locations, encryptedLocation(key, digest))
	}
	return append(locations, plainLocation(digest)), nil
}

// writeLocation returns where a value is written now. A value that is stored elsewhere is written here again, so that
// old keys go out of use.
func (s *Store) writeLocation(ctx context.Context, digest string) (location, error) {
	key, err := s.ensureWriteKey(ctx)
	if key == nil || err != nil {
		return plainLocation(digest), err
	}
	return encryptedLocation(key, digest), nil
}

// ensureWriteKey returns the key that encrypts what is written now; nil if nothing is encrypted.
func (s *Store) ensureWriteKey(ctx context.Context) (*encryption.Key, error) {
	if s.keys == nil {
		return nil, nil
	}
	if err := s.RecordPrimaryKeyInUse(ctx); err != nil {
		return nil, err
	}
	key, err := s.ensureDataKey(ctx)
	if key == nil && err == nil {
		key = s.keys.All()[0]
	}
	return key, err
}

// The folders of values: unencrypted, and encrypted, by the ids of their keys.
const (
	plainFolder     = "sha256/"
	encryptedFolder = "encrypted/"
)

// plainLocation returns where a value is stored that the store does not encrypt. Values are spread over 256 folders.
func plainLocation(digest string) location {
	return location{name: plainFolder + digest[:2] + "/" + digest, digest: digest}
}

// encryptedLocation returns where a value is stored that a key encrypts. Its name is not its digest, from which a short
// value could be guessed.
func encryptedLocation(key *encryption.Key, digest string) location {
	folder := encryptedFolder + key.ID + "/"
	if key.Owner != "" {
		folder = valuesFolder(key.Owner)
	}
	name := key.HideName(digest)
	return location{name: folder + name[:2] + "/" + name, key: key, digest: digest}
}

// putEncrypted stores bytes that are encrypted already: neither they nor their digest reveal anything.
func (s *Store) putEncrypted(ctx context.Context, data []byte) (string, error) {
	return s.put(ctx, data, true)
}

// getEncrypted reads what putEncrypted stored.
func (s *Store) getEncrypted(ctx context.Context, digest string) ([]byte, error) {
	return s.get(ctx, digest, true)
}

// The contexts that encrypted bytes are bound to: a value to its digest, a named object to its name. A file that is
// copied over another cannot be decrypted there.
const (
	aadValue       = "processidea value 1 "
	aadNamedObject = "processidea name 1 "
	aadKeyCheck    = "processidea key check 1"
)

func (s *Store) encryptAt(loc location, data []byte) ([]byte, error) {
	if loc.key == nil {
		return data, nil
	}
	return loc.key.Seal(data, aadValue+loc.digest)
}

func (s *Store) decryptAt(loc location, data []byte) ([]byte, error) {
	if loc.key == nil {
		return data, nil
	}
	return wrapAlteredAsChanged(loc.key.Open(data, aadValue+loc.digest))
}

// wrapAlteredAsChanged returns the results of Open, with ErrAltered wrapped in the store's own ErrChanged.
func wrapAlteredAsChanged(plain []byte, err error) ([]byte, error) {
	if errors.Is(err, encryption.ErrAltered) {
		return nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return plain, err
}

// The headers of encrypted named objects. The id of the key (storeKeyEncryptedHeader) or the owner of the data key
// (dataKeyEncryptedHeader) and a line end follow. JSON never begins like this.
const (
	storeKeyEncryptedHeader = "processidea encrypted 1 "
	dataKeyEncryptedHeader  = "processidea encrypted 2 "
)

func (s *Store) encryptNamedObject(ctx context.Context, name string, data []byte) ([]byte, error) {
	key, err := s.ensureWriteKey(ctx)
	if key == nil || err != nil {
		return data, err
	}
	header := dataKeyEncryptedHeader
	if key.Owner == "" {
		header = storeKeyEncryptedHeader
	}
	ciphertext, err := key.Seal(data, aadNamedObject+name)
	return append([]byte(header+cmp.Or(key.Owner, key.ID)+"\n"), ciphertext...), err
}

func (s *Store) decryptNamedObject(ctx context.Context, name string, data []byte) ([]byte, error) {
	isUnderDataKey := bytes.HasPrefix(data, []byte(dataKeyEncryptedHeader))
	if !isUnderDataKey && !bytes.HasPrefix(data, []byte(storeKeyEncryptedHeader)) {
		return data, nil
	}
	keyIDOrOwner, ciphertext, ok := bytes.Cut(data[len(storeKeyEncryptedHeader):], []byte("\n"))
	if !ok {
		return nil, ErrChanged
	}
	if !isUnderDataKey {
		return wrapAlteredAsChanged(s.keys.Open(string(keyIDOrOwner), ciphertext, aadNamedObject+name))
	}
	key, err := s.dataKeyOf(ctx, string(keyIDOrOwner))
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, &DataKeyError{string(keyIDOrOwner), dataKeyName(string(keyIDOrOwner)), ErrMissing}
	}
	return wrapAlteredAsChanged(key.Open(ciphertext, aadNamedObject+name))
}

// keysInUseFolder is the folder that lists the keys which have encrypted something here: under the id of each is an
// object that only this key opens.
const keysInUseFolder = "keys/"

// RecordPrimaryKeyInUse records in the bucket that the primary key is in use. The store does so before it encrypts
// anything; a caller that encrypts elsewhere, in Temporal's histories, must call RecordPrimaryKeyInUse first.
func (s *Store) RecordPrimaryKeyInUse(ctx context.Context) error {
	if s.keys == nil || s.isPrimaryKeyRecorded.Load() {
		return nil
	}
	encryptedKeyCheck, err := s.keys.Seal(nil, aadKeyCheck)
	if err == nil {
		err = s.writeNotingFailure(ctx, keysInUseFolder+s.keys.PrimaryID(), encryptedKeyCheck)
	}
	if err != nil {
		return fmt.Errorf("blobs: note that key %s is in use: %w", s.keys.PrimaryID(), err)
	}
	s.isPrimaryKeyRecorded.Store(true)
	return nil
}

// checkKeysInUse compares the keys with those in use. Without keys, the store would write unencrypted what should be
// encrypted; with another key under the same id, it would write what nobody can read any more.
func (s *Store) checkKeysInUse(ctx context.Context) error {
	missingIDs, err := s.missingKeyIDs(ctx)
	if err != nil {
		return fmt.Errorf("look which keys are in use: %w", err)
	}
	if s.keys == nil && len(missingIDs) > 0 {
		return &encryption.MissingKeyError{IDs: missingIDs, NoKeys: true}
	}
	for _, id := range s.keys.IDs() {
		encryptedKeyCheck, err := s.bucket.ReadAll(ctx, keysInUseFolder+id)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue
		}
		if err == nil {
			_, err = s.keys.Open(id, encryptedKeyCheck, aadKeyCheck)
		}
		if err != nil {
			return fmt.Errorf("check the key: %w", err)
		}
		if id == s.keys.PrimaryID() {
			s.isPrimaryKeyRecorded.Store(true)
		}
	}
	return nil
}

// CheckHasKeysInUse returns an error that wraps an *encryption.MissingKeyError if this program lacks a key that has
// encrypted something here.
func (s *Store) CheckHasKeysInUse(ctx context.Context) error {
	missingIDs, err := s.missingKeyIDs(ctx)
	if err == nil && len(missingIDs) > 0 {
		err = &encryption.MissingKeyError{IDs: missingIDs, NoKeys: s.keys == nil}
	}
	if err != nil {
		return fmt.Errorf("some of it is %w", err)
	}
	return nil
}

// missingKeyIDs lists the keys in use that this program does not have.
func (s *Store) missingKeyIDs(ctx context.Context) ([]string, error) {
	var ids []string
	items, err := s.ListUnder(ctx, keysInUseFolder)
	for _, i := range items {
		if id := strings.TrimPrefix(i.Name, keysInUseFolder); !s.keys.Has(id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// notFoundError returns the error for a value that was not found. If keys are missing, the value may exist all the
// same.
func (s *Store) notFoundError(ctx context.Context) error {
	missingIDs, err := s.missingKeyIDs(ctx)
	if err == nil && len(missingIDs) == 0 {
		return ErrMissing
	}
	if err == nil {
		err = fmt.Errorf("not there, or %w", &encryption.MissingKeyError{IDs: missingIDs})
	}
	return err
}
