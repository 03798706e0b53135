package encryption

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/daead/subtle"
)

// KeysVariable names the environment variable that holds the keys: `id:key,id:key,…`, each key 32 random bytes in
// base64. The first one encrypts, all of them decrypt.
const KeysVariable = "PROCESSIDEA_KEYS"

// Keys are the keys of one deployment. They are safe for concurrent use. Nil encrypts nothing and opens nothing.
type Keys struct{ keys []*Key }

// Key is one key, with the keys that are derived from it for each use.
type Key struct {
	// ID names the key. Owner is, for a data key, what the key was made for: a process, or the name of its renewed key.
	ID, Owner string
	aead      *subtle.AESSIV
	nameKey   []byte
}

// keySizeBytes is the size of a key in bytes. The 64 that AES-SIV takes are derived from them.
const keySizeBytes = 32

func newKey(id string, secret []byte) (*Key, error) {
	sivKey, err := hkdf.Key(sha256.New, secret, nil, "processidea aes-siv 1", subtle.AESSIVKeySize)
	if err != nil {
		return nil, err
	}
	nameKey, err := hkdf.Key(sha256.New, secret, nil, "processidea names 1", sha256.Size)
	if err != nil {
		return nil, err
	}
	aead, err := subtle.NewAESSIV(sivKey)
	return &Key{ID: id, aead: aead, nameKey: nameKey}, err
}

// PrimaryID returns the id of the key that encrypts; empty without keys.
func (k *Keys) PrimaryID() string {
	if k == nil {
		return ""
	}
	return k.keys[0].ID
}

// All returns the keys; the first one encrypts.
func (k *Keys) All() []*Key {
	if k == nil {
		return nil
	}
	return k.keys
}

// IDs returns the ids of all keys; the first one encrypts.
func (k *Keys) IDs() []string {
	var ids []string
	for _, key := range k.All() {
		ids = append(ids, key.ID)
	}
	return ids
}

// Has reports whether there is a key with an id.
func (k *Keys) Has(id string) bool { return k.find(id) != nil }

// Require returns a *MissingKeyError if there is no key with an id.
func (k *Keys) Require(id string) error {
	if k.Has(id) {
		return nil
	}
	return &MissingKeyError{IDs: []string{id}, NoKeys: k == nil}
}

func (k *Keys) find(id string) *Key {
	for _, key := range k.All() {
		if key.ID == id {
			return key
		}
	}
	return nil
}

// String returns the ids of the keys, and no secret.
func (k *Keys) String() string { return "keys " + strings.Join(k.IDs(), ", ") }

// GoString is String, so that dumps show no secret either.
func (k *Keys) GoString() string { return k.String() }

// Seal encrypts with the primary key, which must exist. The result can only be opened with the same associatedData,
// which says what the bytes are and where they belong, so that they cannot be used elsewhere.
func (k *Keys) Seal(plaintext []byte, associatedData string) ([]byte, error) {
	return k.keys[0].Seal(plaintext, associatedData)
}

// Open decrypts what Seal encrypted with the key of an id. The error is a *MissingKeyError, or wraps ErrAltered.
func (k *Keys) Open(id string, ciphertext []byte, associatedData string) ([]byte, error) {
	if err := k.Require(id); err != nil {
		return nil, err
	}
	return k.find(id).Open(ciphertext, associatedData)
}

// Seal is Keys.Seal with this key.
func (k *Key) Seal(plaintext []byte, associatedData string) ([]byte, error) {
	ciphertext, err := k.aead.EncryptDeterministically(plaintext, []byte(associatedData))
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.ID, err)
	}
	return ciphertext, nil
}

// Open decrypts what Seal made. The error wraps ErrAltered.
func (k *Key) Open(ciphertext []byte, associatedData string) ([]byte, error) {
	plaintext, err := k.aead.DecryptDeterministically(ciphertext, []byte(associatedData))
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.ID, ErrAltered)
	}
	return plaintext, nil
}

// HideName returns a name for an object whose own name would reveal what it is: an HMAC under the key, in hex.
func (k *Key) HideName(name string) string {
	mac := hmac.New(sha256.New, k.nameKey)
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil))
}
