package encryption

import (
	"bytes"
	"crypto/rand"
)

// A data key encrypts the data of one process. It is random, and is stored wrapped by a key of Keys. Destroying the
// wrapped key makes everything that it encrypted unreadable.

// wrappedKeyHeader begins a wrapped data key. The id of the wrapping key and a line end follow.
const wrappedKeyHeader = "processidea data key 1 "

// aadDataKey binds a wrapped data key to its process.
const aadDataKey = "processidea data key 1 "

// NewDataKey makes a data key for a process, wrapped by the primary key, which must exist.
func (k *Keys) NewDataKey(owner string) (wrappedKey []byte, err error) {
	secret := make([]byte, keySizeBytes)
	_, _ = rand.Read(secret) // it never fails
	ciphertext, err := k.Seal(secret, aadDataKey+owner)
	return append([]byte(wrappedKeyHeader+k.PrimaryID()+"\n"), ciphertext...), err
}

// OpenDataKey unwraps the data key of a process. It returns the errors of Open.
func (k *Keys) OpenDataKey(owner string, wrappedKey []byte) (*Key, error) {
	idAndCiphertext, hasHeader := bytes.CutPrefix(wrappedKey, []byte(wrappedKeyHeader))
	id, ciphertext, isComplete := bytes.Cut(idAndCiphertext, []byte("\n"))
	if !hasHeader || !isComplete {
		return nil, ErrAltered
	}
	secret, err := k.Open(string(id), ciphertext, aadDataKey+owner)
	if err != nil {
		return nil, err
	}
	key, err := newKey("of "+owner, secret)
	if err == nil {
		key.Owner = owner
	}
	return key, err
}
