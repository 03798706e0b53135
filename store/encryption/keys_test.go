package encryption

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fresh makes a key as an entry of the variable.
func fresh(t *testing.T, id string) string {
	t.Helper()
	entry, err := GenerateKey(id)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

// parse reads keys that are given as entries.
func parse(t *testing.T, entries ...string) *Keys {
	t.Helper()
	k, err := Parse(strings.Join(entries, ","))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTheFirstKeyEncryptsAndAllDecrypt(t *testing.T) {
	t.Parallel()
	k1, k2 := fresh(t, "k1"), fresh(t, "k2")
	before := parse(t, k1)
	sealed, err := before.Seal([]byte("hello"), "here")
	if err != nil {
		t.Fatal(err)
	}
	after := parse(t, k2, k1)
	if after.PrimaryID() != "k2" || !slices.Equal(after.IDs(), []string{"k2", "k1"}) {
		t.Errorf("%q, %q", after.PrimaryID(), after.IDs())
	}
	if plain, err := after.Open("k1", sealed, "here"); err != nil || string(plain) != "hello" {
		t.Errorf("%q, %v", plain, err)
	}
	anew, _ := after.Seal([]byte("hello"), "here")
	if slices.Equal(anew, sealed) {
		t.Error("the second key encrypts")
	}
	_, err = before.Open("k2", anew, "here")
	var missing *MissingKeyError
	if !errors.As(err, &missing) || err.Error() != "encrypted with key k2, which is not in PROCESSIDEA_KEYS" {
		t.Error(err)
	}
	_, err = (*Keys)(nil).Open("k2", anew, "here")
	if !errors.As(err, &missing) || err.Error() != "encrypted with key k2, and PROCESSIDEA_KEYS is not set" {
		t.Error(err)
	}
}

func TestWhatIsTheSameIsTheSameEncryptedAndWhatIsNotIsNot(t *testing.T) {
	t.Parallel()
	k := parse(t, fresh(t, "k"))
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(rapid.Byte()).Draw(t, "a"), rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		one, _ := k.Seal(a, "here")
		again, _ := k.Seal(a, "here")
		other, _ := k.Seal(b, "here")
		elsewhere, _ := k.Seal(a, "there")
		if !slices.Equal(one, again) || slices.Equal(one, other) != slices.Equal(a, b) || slices.Equal(one, elsewhere) {
			t.Errorf("%x %x %x %x", one, again, other, elsewhere)
		}
		if plain, err := k.Open("k", one, "here"); err != nil || !slices.Equal(plain, a) {
			t.Errorf("%x, %v", plain, err)
		}
	})
}

func TestAChangedBitAnotherPlaceAndAnotherKeyAreFound(t *testing.T) {
	t.Parallel()
	k, impostor := parse(t, fresh(t, "k")), parse(t, fresh(t, "k"))
	sealed, err := k.Seal([]byte("a hundred euros"), "here")
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(sealed) {
		changed := slices.Clone(sealed)
		changed[bit/8] ^= 1 << (bit % 8)
		if plain, err := k.Open("k", changed, "here"); !errors.Is(err, ErrAltered) {
			t.Errorf("bit %d: %q, %v", bit, plain, err)
		}
	}
	for n := range sealed {
		if _, err := k.Open("k", sealed[:n], "here"); !errors.Is(err, ErrAltered) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	if _, err := k.Open("k", sealed, "there"); !errors.Is(err, ErrAltered) {
		t.Errorf("elsewhere: %v", err)
	}
	if _, err := impostor.Open("k", sealed, "here"); !errors.Is(err, ErrAltered) {
		t.Errorf("another key: %v", err)
	}
}

func TestNamesDependOnTheKeyAndAreNotThoseOfTheDigest(t *testing.T) {
	t.Parallel()
	k := parse(t, fresh(t, "k1"), fresh(t, "k2"))
	digest := hex.EncodeToString(make([]byte, 32))
	one, two := k.find("k1").HideName(digest), k.find("k2").HideName(digest)
	if one != k.find("k1").HideName(digest) || one == two || one == digest || len(one) != 64 {
		t.Errorf("%s %s", one, two)
	}
}

func TestWhatIsNoKeyIsRefusedAndNeverShown(t *testing.T) {
	t.Parallel()
	const text = "correct horse battery staple abcd" // 33 characters
	raw := make([]byte, 32)
	for n := range raw {
		raw[n] = byte(31 * n)
	}
	good := base64.StdEncoding.EncodeToString(raw)
	repeated := base64.StdEncoding.EncodeToString(append(slices.Clone(raw[:16]), raw[:16]...))
	for entry, want := range map[string]string{
		good:                       "entry 1: not of the form id:key",
		"k1:" + good + ",":         "entry 2: not of the form id:key",
		"k1:" + good + ",k2":       "entry 2: not of the form id:key",
		":" + good:                 "entry 1: its id must be",
		good + ":k1":               "entry 1: its id must be",
		"a b:" + good:              "entry 1: its id must be",
		"../k:" + good:             "entry 1: its id must be",
		"k1:":                      "entry 1: its key has 0 bytes",
		"k1:" + good + "!":         "entry 1: its key is not base64",
		"k1: " + good:              "entry 1: its key is not base64",
		"k1:" + good[:30]:          "entry 1: its key has 22 bytes; it must have 32",
		"k1:" + good[:43] + "AAAA": "entry 1: its key",
		"k1:" + base64.StdEncoding.EncodeToString([]byte(text[:32])):               "entry 1: its key is text",
		"k1:" + base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("%032d", 7))): "entry 1: its key is text",
		"k1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)):                "entry 1: its key repeats itself",
		"k1:" + repeated: "entry 1: its key repeats itself",
		"k1:" + good + ",k1:" + fresh(t, "x")[2:]: "entry 2: its id stands there twice",
		"k1:" + good + ",k2:" + good:              "entry 2: it is the same key as another one",
	} {
		k, err := Parse(entry)
		if err == nil || k != nil || !strings.Contains(err.Error(), "encryption: parse PROCESSIDEA_KEYS: "+want) {
			t.Errorf("%q: %v", entry, err)
			continue
		}
		for part := range strings.FieldsFuncSeq(entry, func(r rune) bool { return r == ':' || r == ',' }) {
			if len(part) > 6 && strings.Contains(err.Error(), part) {
				t.Errorf("%q stands in %v", part, err)
			}
		}
	}
}

func TestKeysAreReadAsTheyArePrintedAndAsOthersWriteThem(t *testing.T) {
	t.Parallel()
	entry := fresh(t, "2026-11")
	id, encoded, _ := strings.Cut(entry, ":")
	sealed, _ := parse(t, entry).Seal([]byte("x"), "")
	for _, written := range []string{
		entry, " " + entry + " \n", id + ":" + strings.TrimRight(encoded, "="),
		id + ":" + strings.NewReplacer("+", "-", "/", "_").Replace(encoded),
	} {
		if plain, err := parse(t, written).Open(id, sealed, ""); err != nil || string(plain) != "x" {
			t.Errorf("%q: %v", written, err)
		}
	}
	for _, empty := range []string{"", " ", "\n"} {
		if k, err := Parse(empty); k != nil || err != nil {
			t.Errorf("%q: %v, %v", empty, k, err)
		}
	}
	for _, id := range []string{"", "a:b", "a,b", strings.Repeat("k", 33), "ключ"} {
		if entry, err := GenerateKey(id); err == nil {
			t.Errorf("%q: %s", id, entry)
		}
	}
	if fresh(t, "k") == fresh(t, "k") {
		t.Error("two keys are the same")
	}
}

func TestKeysStandInNoDump(t *testing.T) {
	t.Parallel()
	entry := fresh(t, "k1")
	k := parse(t, entry)
	secret, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(entry, "k1:"))
	encoded, _ := json.Marshal(k)
	dump := fmt.Sprintf("%v %+v %#v %s %s", k, k, k, k, encoded) + fmt.Sprintf("%v %+v %#v", struct{ K *Keys }{k},
		struct{ K *Keys }{k}, struct{ K *Keys }{k})
	for _, form := range []string{string(secret), fmt.Sprint(secret)[1:20], hex.EncodeToString(secret), entry,
		fmt.Sprint(k.keys[0].nameKey)[1:20]} {
		if strings.Contains(dump, form) {
			t.Errorf("%q stands in %s", form, dump)
		}
	}
	if !strings.Contains(dump, "keys k1") {
		t.Error(dump)
	}
}
