package signing

import (
	"fmt"

	"processidea/model/jsonval"
)

// Keys are the keys that may speak for people, by their ids. A nil Keys has none.
type Keys struct {
	keyByID         map[string]*Key
	keysInFileOrder []*Key // in the order of the JWKS
}

// maxKeyFileBytes bounds a JWKS, in bytes.
const maxKeyFileBytes = 4 << 20

// ParseKeys reads a JWKS: {"keys": [JWK, …]}. One wrong key makes the whole list invalid; the error names it.
func ParseKeys(data []byte) (*Keys, error) {
	if len(data) > maxKeyFileBytes {
		return nil, fmt.Errorf("signing: read keys: more than %d bytes", maxKeyFileBytes)
	}
	m, err := jsonval.DecodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("signing: read keys: %w", err)
	}
	list, ok := m["keys"].([]any)
	if !ok {
		return nil, fmt.Errorf(`signing: read keys: want a JWKS, {"keys": [JWK, …]}`)
	}
	keys := &Keys{keyByID: map[string]*Key{}}
	for n, entry := range list {
		k, err := readPublicKey(entry)
		if err == nil && keys.keyByID[k.ID] != nil {
			err = fmt.Errorf("another one has the same kid")
		}
		if err != nil {
			return nil, fmt.Errorf("signing: read keys: keys[%d] (kid %s): %w", n,
				jsonval.ClipForError(jsonval.EncodeToString(jsonval.AsObject(entry)["kid"])), err)
		}
		keys.keyByID[k.ID] = k
		keys.keysInFileOrder = append(keys.keysInFileOrder, k)
	}
	return keys, nil
}

// Len returns the number of keys, including withdrawn ones.
func (k *Keys) Len() int {
	if k == nil {
		return 0
	}
	return len(k.keysInFileOrder)
}

// Find returns the key with an id, or nil.
func (k *Keys) Find(id string) *Key {
	if k == nil {
		return nil
	}
	return k.keyByID[id]
}
