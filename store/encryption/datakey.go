package encryption

import (
	"bytes"
	"crypto/rand"
)

// DataKey encrypts what belongs to one process. It is random, and kept wrapped by a key of Keys: who destroys what it
// is wrapped in destroys all that it has encrypted.
type DataKey struct {
	key   *key
	owner string
}

// Owner is what the data key was made for: a process, or what stands for one that got another data key.
func (d *DataKey) Owner() string { return d.owner }

// wrapHeader begins a wrapped data key; the id of the key that wraps it and a line end follow.
const wrapHeader = "processidea data key 1 "

// boundDataKey binds a wrapped data key to its process.
const boundDataKey = "processidea data key 1 "

// NewDataKey makes a data key for a process, wrapped by the primary key, which must exist.
func (k *Keys) NewDataKey(process string) (wrapped []byte, err error) {
	secret := make([]byte, keySize)
	_, _ = rand.Read(secret) // it never fails
	sealed, err := k.Seal(secret, boundDataKey+process)
	return append([]byte(wrapHeader+k.Primary()+"\n"), sealed...), err
}

// OpenDataKey unwraps the data key of a process. Errors are those of Open.
func (k *Keys) OpenDataKey(process string, wrapped []byte) (*DataKey, error) {
	rest, isKey := bytes.CutPrefix(wrapped, []byte(wrapHeader))
	id, sealed, complete := bytes.Cut(rest, []byte("\n"))
	if !isKey || !complete {
		return nil, ErrAltered
	}
	secret, err := k.Open(string(id), sealed, boundDataKey+process)
	if err != nil {
		return nil, err
	}
	one, err := newKey("of "+process, secret)
	return &DataKey{one, process}, err
}

// Seal encrypts, as Keys.Seal does.
func (d *DataKey) Seal(plain []byte, bound string) ([]byte, error) { return d.key.seal(plain, bound) }

// Open decrypts what Seal made. The error wraps ErrAltered.
func (d *DataKey) Open(sealed []byte, bound string) ([]byte, error) { return d.key.open(sealed, bound) }

// Name is Keys.Name under the data key.
func (d *DataKey) Name(of string) string { return d.key.name(of) }
