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
type Keys struct{ ring []*Key }

// Key is one key, with the keys that are derived from it for each use.
type Key struct {
	// ID names the key. Owner is, for a data key, what the key was made for: a process, or the name of its renewed key.
	ID, Owner string
	aead      *subtle.AESSIV
	names     []byte
}

// keySize is the size of a key in bytes. The 64 that AES-SIV takes are derived from them.
const keySize = 32

func newKey(id string, secret []byte) (*Key, error) {
	siv, err := hkdf.Key(sha256.New, secret, nil, "processidea aes-siv 1", subtle.AESSIVKeySize)
	if err != nil {
		return nil, err
	}
	names, err := hkdf.Key(sha256.New, secret, nil, "processidea names 1", sha256.Size)
	if err != nil {
		return nil, err
	}
	aead, err := subtle.NewAESSIV(siv)
	return &Key{ID: id, aead: aead, names: names}, err
}

// Primary returns the id of the key that encrypts; empty without keys.
func (k *Keys) Primary() string {
	if k == nil {
		return ""
	}
	return k.ring[0].ID
}

// All returns the keys; the first one encrypts.
func (k *Keys) All() []*Key {
	if k == nil {
		return nil
	}
	return k.ring
}

// IDs returns the ids of all keys; the first one encrypts.
func (k *Keys) IDs() []string {
	var ids []string
	for _, one := range k.All() {
		ids = append(ids, one.ID)
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
	for _, one := range k.All() {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// String returns the ids of the keys, and no secret.
func (k *Keys) String() string { return "keys " + strings.Join(k.IDs(), ", ") }

// GoString is String, so that dumps show no secret either.
func (k *Keys) GoString() string { return k.String() }

// Seal encrypts with the primary key, which must exist. The result can only be opened with the same bound. bound says
// what the bytes are and where they belong, so that they cannot be used elsewhere.
func (k *Keys) Seal(plain []byte, bound string) ([]byte, error) {
	return k.ring[0].Seal(plain, bound)
}

// Open decrypts what Seal encrypted with the key of an id. The error is a *MissingKeyError, or wraps ErrAltered.
func (k *Keys) Open(id string, sealed []byte, bound string) ([]byte, error) {
	if err := k.Require(id); err != nil {
		return nil, err
	}
	return k.find(id).Open(sealed, bound)
}

// Seal is Keys.Seal with this key.
func (k *Key) Seal(plain []byte, bound string) ([]byte, error) {
	sealed, err := k.aead.EncryptDeterministically(plain, []byte(bound))
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.ID, err)
	}
	return sealed, nil
}

// Open decrypts what Seal made. The error wraps ErrAltered.
func (k *Key) Open(sealed []byte, bound string) ([]byte, error) {
	plain, err := k.aead.DecryptDeterministically(sealed, []byte(bound))
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.ID, ErrAltered)
	}
	return plain, nil
}

// HideName returns a name for an object whose own name would reveal what it is: an HMAC under the key, in hex.
func (k *Key) HideName(of string) string {
	mac := hmac.New(sha256.New, k.names)
	mac.Write([]byte(of))
	return hex.EncodeToString(mac.Sum(nil))
}
