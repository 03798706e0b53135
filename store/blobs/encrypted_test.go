package blobs

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"processidea/store/encryption"
)

// fresh makes a key as an entry of the variable.
func fresh(t *testing.T, id string) string {
	t.Helper()
	entry, err := encryption.GenerateKey(id)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

// keyed opens a folder with keys; without any, with nil.
func keyed(t *testing.T, dir string, entries ...string) (*Store, error) {
	t.Helper()
	k, err := encryption.Parse(strings.Join(entries, ","))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, WithKeys(k))
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func mustKeyed(t *testing.T, dir string, entries ...string) *Store {
	t.Helper()
	s, err := keyed(t, dir, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tree reads every file of a folder, by its path there.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			all[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func put(t *testing.T, s *Store, text string) string {
	t.Helper()
	digest, err := s.Put(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func write(t *testing.T, s *Store, name, text string) {
	t.Helper()
	if err := s.Write(t.Context(), name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestAnEncryptedStoreGivesBackWhatItTookAndStoresTheSameOnce(t *testing.T) {
	t.Parallel()
	dir, k1 := t.TempDir(), fresh(t, "k1")
	digest := put(t, mustKeyed(t, dir, k1), "one")
	if plain, _ := open(t); digest != put(t, plain, "one") {
		t.Error("its digest is not that of its bytes")
	}
	s := mustKeyed(t, dir, k1)
	if again := put(t, s, "one"); again != digest {
		t.Error(again)
	}
	write(t, s, "ideas/p/1.json", `{"a": 1}`)
	if n := len(tree(t, dir)); n != 4 { // the value, the Idea, the note that the key is in use, and the store's mark
		t.Errorf("%d files", n)
	}
	fresh := mustKeyed(t, dir, k1)
	if data, err := fresh.Get(t.Context(), digest); err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	if data, ok, err := fresh.Read(t.Context(), "ideas/p/1.json"); err != nil || !ok || string(data) != `{"a": 1}` {
		t.Errorf("%q, %v, %v", data, ok, err)
	}
	if _, ok, err := fresh.Read(t.Context(), "ideas/p/2.json"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestNeitherFilesNorTheirNamesTellWhatIsStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustKeyed(t, dir, fresh(t, "k1"))
	digest := put(t, s, "the secret recipe")
	write(t, s, "ideas/p/1.json", `the secret recipe`)
	raw, _ := hex.DecodeString(digest)
	for name, data := range tree(t, dir) {
		for _, tell := range [][]byte{[]byte("secret"), []byte("recipe"), []byte(digest), raw, []byte(digest[:16])} {
			if strings.Contains(name, string(tell)) || bytes.Contains(data, tell) {
				t.Errorf("%q stands in %s", tell, name)
			}
		}
	}
}

func TestAChangedOrMovedFileOfAnEncryptedStoreIsFound(t *testing.T) {
	t.Parallel()
	dir, k1 := t.TempDir(), fresh(t, "k1")
	s := mustKeyed(t, dir, k1)
	digest := put(t, s, strings.Repeat("x", 100))
	other := put(t, s, strings.Repeat("y", 100))
	write(t, s, "ideas/p/1.json", "one")
	write(t, s, "ideas/p/2.json", "two")
	read := func() error {
		s := mustKeyed(t, dir, k1)
		_, a := s.Get(t.Context(), digest)
		_, b := s.Get(t.Context(), other)
		_, _, c := s.Read(t.Context(), "ideas/p/1.json")
		_, _, d := s.Read(t.Context(), "ideas/p/2.json")
		return errors.Join(a, b, c, d)
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	var values, ideas []string
	for name, data := range files {
		switch {
		case strings.HasPrefix(name, "ideas"):
			ideas = append(ideas, name)
		case strings.HasPrefix(name, "encrypted"):
			values = append(values, name)
		default:
			continue
		}
		changed := bytes.Clone(data)
		changed[len(changed)-3] ^= 1
		replace(t, dir, name, changed, func() {
			if err := read(); !errors.Is(err, encryption.ErrAltered) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for _, pair := range [][]string{values, ideas} {
		replace(t, dir, pair[0], files[pair[1]], func() {
			if err := read(); !errors.Is(err, encryption.ErrAltered) {
				t.Errorf("%s in place of %s: %v", pair[1], pair[0], err)
			}
		})
	}
}

// replace puts other bytes into a file while something is done.
func replace(t *testing.T, dir, name string, data []byte, do func()) {
	t.Helper()
	path := filepath.Join(dir, name)
	before, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	do()
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAMissingKeyIsNamed(t *testing.T) {
	t.Parallel()
	dir, k1, k2 := t.TempDir(), fresh(t, "k1"), fresh(t, "k2")
	s := mustKeyed(t, dir, k1)
	digest := put(t, s, "one")
	write(t, s, "ideas/p/1.json", "one")
	late := mustKeyed(t, dir, k2)
	_, one := late.Get(t.Context(), digest)
	_, _, two := late.Read(t.Context(), "ideas/p/1.json")
	for _, err := range []error{one, two} {
		var missing *encryption.MissingKeyError
		if !errors.As(err, &missing) ||
			!strings.Contains(err.Error(), "encrypted with key k1, which is not in PROCESSIDEA_KEYS") ||
			errors.Is(err, ErrMissing) || errors.Is(err, ErrChanged) { // it is not lost
			t.Error(err)
		}
	}
	both := mustKeyed(t, dir, k2, k1)
	if data, err := both.Get(t.Context(), digest); err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	var missing *encryption.MissingKeyError
	if _, err := both.Get(t.Context(), strings.Repeat("0", 64)); err == nil || errors.As(err, &missing) {
		t.Errorf("of what was never there a key is missing: %v", err)
	}
}

// A value that is put again under a new key must not be lost with the old one.
func TestWhatIsPutAgainLiesUnderTheNewKey(t *testing.T) {
	t.Parallel()
	dir, k1, k2 := t.TempDir(), fresh(t, "k1"), fresh(t, "k2")
	digest := put(t, mustKeyed(t, dir, k1), "one")
	both := mustKeyed(t, dir, k2, k1)
	if _, err := both.Get(t.Context(), digest); err != nil {
		t.Fatal(err)
	}
	put(t, both, "one")
	if data, err := mustKeyed(t, dir, k2).Get(t.Context(), digest); err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestAStoreThatWasWrittenWithoutKeysIsReadWithThem(t *testing.T) {
	t.Parallel()
	dir, k1 := t.TempDir(), fresh(t, "k1")
	s := mustKeyed(t, dir)
	digest := put(t, s, "one")
	write(t, s, "ideas/p/1.json", "one")
	later := mustKeyed(t, dir, k1)
	if data, err := later.Get(t.Context(), digest); err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	if data, ok, err := later.Read(t.Context(), "ideas/p/1.json"); err != nil || !ok || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	put(t, later, "one")
	write(t, later, "ideas/p/1.json", "one")
	for name, data := range tree(t, dir) {
		if strings.Contains(string(data), "one") && !strings.HasPrefix(name, "sha256") {
			t.Errorf("%s is not encrypted", name)
		}
	}
}

func TestAnEncryptedStoreIsNotOpenedWithoutItsKeys(t *testing.T) {
	t.Parallel()
	dir, k1 := t.TempDir(), fresh(t, "k1")
	if _, err := keyed(t, dir, k1); err != nil {
		t.Fatal(err)
	}
	if _, err := keyed(t, dir); err != nil {
		t.Errorf("nothing is encrypted yet: %v", err)
	}
	put(t, mustKeyed(t, dir, k1), "one")
	var missing *encryption.MissingKeyError
	if _, err := keyed(t, dir); !errors.As(err, &missing) ||
		!strings.Contains(err.Error(), "encrypted with key k1, and PROCESSIDEA_KEYS is not set") {
		t.Error(err)
	}
	for _, entries := range [][]string{{fresh(t, "k1")}, {fresh(t, "k2"), fresh(t, "k1")}} {
		if _, err := keyed(t, dir, entries...); !errors.Is(err, encryption.ErrAltered) ||
			!strings.Contains(err.Error(), "key k1") {
			t.Errorf("another key of the same id: %v", err)
		}
	}
	mustKeyed(t, dir, fresh(t, "k2"))
}

func TestAnEncryptedPayloadIsStoredOnceAndNotEncryptedAgain(t *testing.T) {
	t.Parallel()
	dir, k1 := t.TempDir(), fresh(t, "k1")
	s := mustKeyed(t, dir, k1)
	plain := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`"hello"`)}
	sealed, err := s.Keys().Codec().Encode([]*commonpb.Payload{plain, plain})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := s.ExternalStorage().Drivers[0].Store(converter.StorageDriverStoreContext{Context: t.Context()},
		sealed)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, dir)); n != 1 || claims[0].ClaimData["key"] != "k1" {
		t.Errorf("%d files, %v", n, claims)
	}
	fresh := mustKeyed(t, dir, k1)
	back, err := fresh.ExternalStorage().Drivers[0].Retrieve(converter.StorageDriverRetrieveContext{
		Context: t.Context()}, claims)
	if err != nil || !proto.Equal(back[1], sealed[0]) {
		t.Errorf("%v, %v", back, err)
	}
	// One that nobody has encrypted is.
	claims, err = s.ExternalStorage().Drivers[0].Store(converter.StorageDriverStoreContext{Context: t.Context()},
		[]*commonpb.Payload{plain})
	if err != nil || claims[0].ClaimData["key"] != "" || len(files(t, dir)) != 1 {
		t.Errorf("%v, %v", claims, err)
	}
}

func TestValuesAreListedAndRemovedWhereverTheyLie(t *testing.T) {
	t.Parallel()
	dir, k1, k2 := t.TempDir(), fresh(t, "k1"), fresh(t, "k2")
	plain, old := put(t, mustKeyed(t, dir), "plain"), put(t, mustKeyed(t, dir, k1), "old")
	s := mustKeyed(t, dir, k2, k1)
	digests := []string{plain, old, put(t, s, "new")}
	listed := map[string]bool{}
	list := func(s *Store) int {
		clear(listed)
		values, err := s.ListValues(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range values {
			listed[i.Name] = true
		}
		return len(listed)
	}
	if n := list(mustKeyed(t, dir, k2)); n != 2 {
		t.Errorf("without the first key %d are listed", n)
	}
	if n := list(s); n != 3 {
		t.Errorf("%d are listed", n)
	}
	for _, digest := range digests {
		if _, err := s.Get(t.Context(), digest); err != nil {
			t.Error(err)
		}
		for _, name := range s.PossibleObjectNames(t.Context(), digest) {
			if !listed[name] {
				continue
			}
			delete(listed, name)
			if err := s.Remove(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Get(t.Context(), digest); !errors.Is(err, ErrMissing) {
			t.Errorf("what was removed is there: %v", err)
		}
	}
	if len(listed) > 0 {
		t.Errorf("nobody knows of %v", listed)
	}
	if again := put(t, s, "new"); again != digests[2] || list(s) != 1 {
		t.Errorf("what was removed is not put again: %v", listed)
	}
}
