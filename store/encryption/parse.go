package encryption

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Parse reads keys in the form of KeysVariable; nil if text is empty. No error contains any part of text.
func Parse(text string) (*Keys, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	k := &Keys{}
	seenSecrets := map[string]bool{}
	for n, entry := range strings.Split(text, ",") {
		id, secret, err := parseEntry(entry)
		switch {
		case err != nil:
		case k.Has(id):
			err = errors.New("its id stands there twice")
		case seenSecrets[string(secret)]:
			err = errors.New("it is the same key as another one")
		default:
			seenSecrets[string(secret)] = true
			var key *Key
			key, err = newKey(id, secret)
			if err == nil {
				k.keys = append(k.keys, key)
			}
		}
		if err != nil {
			return nil, &invalidKeyEntryError{n + 1, err}
		}
	}
	return k, nil
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

func parseEntry(entry string) (id string, secret []byte, err error) {
	id, encoded, ok := strings.Cut(strings.TrimSpace(entry), ":")
	if !ok {
		return "", nil, errors.New("not of the form id:key")
	}
	if err := checkID(id); err != nil {
		return "", nil, err
	}
	secret, err = decodeBase64(encoded)
	if err == nil {
		err = checkSecret(secret)
	}
	return id, secret, err
}

func checkID(id string) error {
	if !idPattern.MatchString(id) {
		return errors.New(
			"its id must be 1 to 32 letters, digits, dots, dashes and underscores, a letter or digit first")
	}
	return nil
}

// decodeBase64 decodes both alphabets of base64, with or without padding.
func decodeBase64(encoded string) ([]byte, error) {
	encoded = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(encoded, "="))
	secret, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("its key is not base64")
	}
	return secret, nil
}

// minDistinctBytes is the minimum number of different bytes in a key. A key whose halves are equal has fewer. 32 random
// bytes have about 30 different ones; one in 10^12 keys has fewer than this.
const minDistinctBytes = 18

// checkSecret refuses keys that cannot have been drawn at random.
func checkSecret(secret []byte) error {
	if len(secret) != keySizeBytes {
		return fmt.Errorf("its key has %d bytes; it must have %d", len(secret), keySizeBytes)
	}
	distinctByteCount, isText := 0, true
	for n, b := range secret {
		if bytes.IndexByte(secret[:n], b) < 0 {
			distinctByteCount++
		}
		isText = isText && b >= ' ' && b < 0x7f
	}
	if isText {
		return errors.New("its key is text in base64; it must be random bytes, such as `starter keys new` prints")
	}
	if distinctByteCount < minDistinctBytes {
		return errors.New("its key repeats itself; it must be random bytes, such as `starter keys new` prints")
	}
	return nil
}

// GenerateKey makes a new key, in the form of an entry of KeysVariable.
func GenerateKey(id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", fmt.Errorf("encryption: make key %q: %w", id, err)
	}
	secret := make([]byte, keySizeBytes)
	_, _ = rand.Read(secret) // it never fails: it ends the program if there is no randomness
	return id + ":" + base64.StdEncoding.EncodeToString(secret), nil
}
