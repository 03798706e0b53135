package chain

import (
	"errors"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"processidea/model/jsonval"
	"processidea/store/blobs"
	"processidea/store/encryption"
)

func keys(t testing.TB, ids ...string) []string {
	t.Helper()
	var entries []string
	for _, id := range ids {
		entry, err := encryption.GenerateKey(id)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

// keyedShelf opens a folder with keys.
func keyedShelf(t testing.TB, dir string, entries ...string) *shelf {
	t.Helper()
	k, err := encryption.Parse(strings.Join(entries, ","))
	if err != nil {
		t.Fatal(err)
	}
	values, err := blobs.Open(t.Context(), dir, blobs.WithKeys(k))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = values.Close() })
	return &shelf{New(values), values, dir}
}

func TestAnEncryptedChainVerifiesAndAChangedByteOfItIsNamed(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), keys(t, "k1")
	s := keyedShelf(t, dir, k...)
	newStory(t, s, "p").grow(5)
	if r := keyedShelf(t, dir, k...).verified(t, "p"); !r.IsIntact || r.IdeaCount != 5 {
		t.Fatalf("%+v", r)
	}
	for name, data := range s.files(t) {
		if strings.Contains(string(data), "Judge every comment") {
			t.Errorf("%s is not encrypted", name)
		}
		if strings.HasPrefix(name, "keys/") {
			continue
		}
		changed := append([]byte{}, data...)
		changed[len(changed)-1] ^= 1
		s.write(t, name, changed)
		r := keyedShelf(t, dir, k...).verified(t, "p")
		if r.IsIntact || !strings.Contains(jsonOf(r), name) {
			t.Errorf("%s was changed, and is not named: %s", name, jsonOf(r))
		}
		s.write(t, name, data)
	}
}

func TestACollectionOfAnEncryptedStoreTakesWhatNobodyNeedsAlone(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), keys(t, "k2", "k1")
	// Some of it is older than the second key, and some than the first.
	plain, before, s := keyedShelf(t, dir), keyedShelf(t, dir, k[1]), keyedShelf(t, dir, k...)
	newStory(t, s, "p").grow(3)
	var inner []string
	for n, shelf := range []*shelf{plain, before, s} {
		inner = append(inner, shelf.put(t, strings.Repeat("x", n+1)))
	}
	outer := before.put(t, string(jsonval.Encode([]any{
		jsonval.BlobHandle{Digest: inner[0], Size: 1, ValueType: "string"}.AsJSONValue(),
		jsonval.BlobHandle{Digest: inner[1], Size: 2, ValueType: "string"}.AsJSONValue(),
	})))
	held := &NamespaceContents{openRootProcessIDs: map[string]bool{"p": true}, referenceSet: map[digestReference]bool{},
		decrypt: s.values.Keys().OpenPayload}
	if err := held.noteReferences("", claimOf(t, s, `{"see":"`+outer+`","and":"`+inner[2]+`"}`)); err != nil {
		t.Fatal(err)
	}
	nobodys := []string{plain.put(t, "nobody's"), before.put(t, "no one's"), s.put(t, "not a soul's")}
	s.age(t)
	rules := CollectRules{Cutoff: later, TemporalContents: held, Decrypt: s.values.Keys().OpenPayload,
		ShouldRemove: true}
	if c := keyedShelf(t, dir, k...).collected(t, rules); c.CollectedValueCount != len(nobodys) ||
		len(c.CollectedProcessIDs) > 0 {
		t.Errorf("%+v", c)
	}
	cold := keyedShelf(t, dir, k...)
	for _, digest := range append(inner, outer) {
		if _, err := cold.values.Get(t.Context(), digest); err != nil {
			t.Error(err)
		}
	}
	for _, digest := range nobodys {
		if _, err := cold.values.Get(t.Context(), digest); !errors.Is(err, blobs.ErrMissing) {
			t.Error(err)
		}
	}
	if r := cold.verified(t, "p"); !r.IsIntact {
		t.Errorf("%+v", r)
	}
}

// claimOf stores an encrypted payload, and gives what stands for it in a history.
func claimOf(t testing.TB, s *shelf, text string) *commonpb.Payload {
	t.Helper()
	p, err := s.values.Keys().Codec().Encode(
		[]*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := s.values.ExternalStorage().Drivers[0].Store(
		converter.StorageDriverStoreContext{Context: t.Context()}, p)
	if err != nil {
		t.Fatal(err)
	}
	return &commonpb.Payload{Data: jsonval.Encode(jsonval.ToJSONValue(claims[0].ClaimData))}
}

// Who cannot read what refers to a value cannot say that nobody needs it.
func TestACollectionWithoutAllKeysTakesNothing(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), keys(t, "k2", "k1")
	newStory(t, keyedShelf(t, dir, k[1]), "p").grow(3)
	s := keyedShelf(t, dir, k[0])
	s.put(t, "nobody's")
	s.age(t)
	before := len(s.files(t))
	_, err := s.Collect(t.Context(), CollectRules{Cutoff: later, ShouldRemove: true})
	var missing *encryption.MissingKeyError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "key k1") || len(s.files(t)) != before {
		t.Errorf("%v, %d of %d files are left", err, len(s.files(t)), before)
	}
	if _, err := s.Verify(t.Context(), "p"); !errors.As(err, &missing) {
		t.Errorf("a key that is missing is taken for a broken chain: %v", err)
	}
}
