package encryption

import (
	"errors"
	"fmt"
	"strings"
)

// ErrAltered means that bytes cannot be decrypted with the key that they name: they were changed or moved, or the key
// of that id is another one here.
var ErrAltered = errors.New("the bytes were changed, or the key of that id is another one")

// IsKeyError reports whether an error is about the keys that this program was given: one is malformed, missing, or not
// the key that it used to be.
func IsKeyError(err error) bool {
	_, isMissing := errors.AsType[*MissingKeyError](err)
	_, isInvalid := errors.AsType[*invalidKeyEntryError](err)
	return isMissing || isInvalid || errors.Is(err, ErrAltered)
}

// invalidKeyEntryError says what is wrong with an entry of the environment variable.
type invalidKeyEntryError struct {
	entryNumber int // from 1
	cause       error
}

func (e *invalidKeyEntryError) Error() string {
	return fmt.Sprintf("encryption: parse %s: entry %d: %s", KeysVariable, e.entryNumber, e.cause)
}

// MissingKeyError means that something is encrypted with a key that this program does not have.
type MissingKeyError struct {
	IDs    []string // id of the key, or of every key that it may be
	NoKeys bool     // there are no keys at all
}

// Error names the missing key and where it belongs.
func (e *MissingKeyError) Error() string {
	var ids []string
	for _, id := range e.IDs {
		if !idPattern.MatchString(id) { // it came from outside
			id = fmt.Sprintf("%.40q", id)
		}
		ids = append(ids, id)
	}
	text := "encrypted with key " + strings.Join(ids, ", ")
	if e.NoKeys {
		return text + ", and " + KeysVariable + " is not set"
	}
	return text + ", which is not in " + KeysVariable
}
