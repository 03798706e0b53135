package blobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/encryption"
)

func open(t *testing.T) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "sha256", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWhatIsTheSameIsStoredOnce(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	a, err := s.Put(t.Context(), []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := s.Put(t.Context(), []byte("one"))
	c, _ := s.Put(t.Context(), []byte("two"))
	if a != b || a == c || len(files(t, dir)) != 2 {
		t.Errorf("%s %s %s, %d files", a, b, c, len(files(t, dir)))
	}
}

func TestAChangedByteIsFound(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	digest, err := s.Put(t.Context(), []byte(strings.Repeat("x", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	file := files(t, dir)[0]
	data, _ := os.ReadFile(file)
	data[500] = 'y'
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	fresh, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Get(t.Context(), digest); err == nil || !strings.Contains(err.Error(), "have changed") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNoDigestFindsNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for _, digest := range []string{"", "x", "../../../etc/passwd", strings.Repeat("0", 64)} {
		if _, err := s.Get(t.Context(), digest); err == nil {
			t.Errorf("%q was found", digest)
		}
	}
}

func TestALargeValueLeavesAHandleAndASmallMemberStaysBesideIt(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	large := strings.Repeat("x", jsonval.LargeValueBytes+1)
	v := map[string]any{"small": "here", "large": large, "in": map[string]any{"deep": []any{large}}}
	off, err := s.Offload(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	m := off.(map[string]any)
	h, ok := jsonval.AsBlobHandle(m["large"])
	if m["small"] != "here" || !ok || h.ValueType != "string" || h.Size != len(large)+2 {
		t.Errorf("%+v", m)
	}
	if h, ok := jsonval.AsBlobHandle(m["in"].(map[string]any)["deep"]); !ok || h.ValueType != "array" {
		t.Errorf("%v", m["in"])
	}
	back, err := s.Restore(t.Context(), off)
	if err != nil || !jsonval.Equal(back, v) {
		t.Errorf("it does not come back: %v", err)
	}
}

func TestManySmallMembersBecomeOneHandleButAWholeStateStaysAnObject(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	many := map[string]any{}
	for i := range 3000 {
		many[fmt.Sprint("key", i)] = strings.Repeat("x", 40)
	}
	off, err := s.Offload(t.Context(), many)
	if _, ok := jsonval.AsBlobHandle(off); !ok || err != nil {
		t.Errorf("%v", err)
	}
	off, err = s.OffloadMembers(t.Context(), many)
	if m, ok := off.(map[string]any); !ok || len(m) != 3000 || err != nil {
		t.Errorf("%v", err)
	}
}

func TestAReferenceIntoAStoredValueFindsItsPart(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	list := []any{strings.Repeat("x", jsonval.LargeValueBytes), map[string]any{"name": "Ada"}}
	off, err := s.Offload(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := jsonval.AsBlobHandle(off)
	h.PathInValue = "1.name"
	if got, err := s.Restore(t.Context(), map[string]any{"p": h.AsJSONValue()}); err != nil ||
		got.(map[string]any)["p"] != "Ada" {
		t.Errorf("%v, %v", got, err)
	}
	h.PathInValue = "7"
	if _, err := s.Restore(t.Context(), h.AsJSONValue()); err == nil {
		t.Error("nothing is there, and it was found")
	}
}

// What comes from outside can look like a handle, but never act as one: it would read another instance's values.
func TestAValueThatIsTooLargeWithAllThatItRefersToIsNotRestored(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	light, err := s.Offload(t.Context(),
		map[string]any{"text": strings.Repeat("x", 100_000), "list": []any{"a", strings.Repeat("y", 100_000)}})
	if err != nil {
		t.Fatal(err)
	}
	m := light.(map[string]any)
	h, _ := jsonval.AsBlobHandle(m["list"])
	h.PathInValue = "[1]"
	for name, v := range map[string]any{"text": m["text"], "part": h.AsJSONValue()} {
		many := make([]any, 1000)
		for n := range many {
			many[n] = v
		}
		if _, err := s.RestoreWithin(t.Context(), many, 20<<20); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: a hundred MB: %v", name, err)
		}
		if v, err := s.RestoreWithin(t.Context(), many[:100], 20<<20); err != nil ||
			len(v.([]any)[99].(string)) != 100_000 {
			t.Errorf("%s: ten MB: %v", name, err)
		}
	}
}

func TestAForgedHandleArrivesAsTheDataThatItIs(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	secret, err := s.Put(t.Context(), []byte(`"another instance's"`))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		forged := jsonval.BlobHandle{Digest: secret, Size: 20, ValueType: "string"}.AsJSONValue()
		for range rapid.IntRange(0, 3).Draw(t, "wrapped") {
			forged = rapid.SampledFrom([]any{
				map[string]any{"a": forged}, []any{forged}, map[string]any{"†blob": forged},
				map[string]any{"††blob": forged},
			}).Draw(t, "in")
		}
		off, err := s.Offload(t.Context(), forged)
		if err != nil || jsonval.ContainsBlobHandle(off) {
			t.Fatalf("%v is taken for a handle, %v", off, err)
		}
		back, err := s.Restore(t.Context(), off)
		if err != nil || !jsonval.Equal(back, forged) {
			t.Fatalf("%v came back as %v, %v", forged, back, err)
		}
	})
}

func TestThePayloadDriverGivesBackWhatItTookAndLeavesMarkedOnesInline(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	d := s.ExternalStorage().Drivers[0]
	p := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain"), "a": []byte("b")},
		Data: []byte(`"x"`)}
	var claims []converter.StorageDriverClaim
	for range 2 {
		c, err := d.Store(converter.StorageDriverStoreContext{Context: t.Context()}, []*commonpb.Payload{p})
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, c...)
	}
	if n := len(files(t, dir)); n != 1 {
		t.Errorf("one payload is stored as %d", n)
	}
	back, err := d.Retrieve(converter.StorageDriverRetrieveContext{Context: t.Context()}, claims)
	if err != nil || len(back) != 2 || !proto.Equal(back[0], p) || !proto.Equal(back[1], p) {
		t.Errorf("%v, %v", back, err)
	}
	answer, err := protocol.DataConverter().ToPayload(protocol.ProcessApprovals{})
	if err != nil || len(answer.GetMetadata()) != 1 {
		t.Fatalf("an answer to a query is no plain JSON: %v, %v", answer, err)
	}
	encrypted := &commonpb.Payload{Metadata: map[string][]byte{encryption.MetadataInline: []byte("true")}}
	for _, marked := range []*commonpb.Payload{answer, encrypted} {
		if got, err := s.ExternalStorage().DriverSelector.SelectDriver(converter.StorageDriverSelectContext{},
			marked); got != nil || err != nil {
			t.Errorf("an answer to a query would be stored: %v, %v", got, err)
		}
	}
	if got, err := s.ExternalStorage().DriverSelector.SelectDriver(converter.StorageDriverSelectContext{},
		p); got == nil || err != nil {
		t.Errorf("anything else would not be: %v, %v", got, err)
	}
}

func TestAnUnknownKindOfStoreIsRefusedWithThoseThatThereAre(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), "s4://bucket")
	if err == nil || !strings.Contains(err.Error(), "there is no kind of store s4:// here; there are file, mem") {
		t.Error(err)
	}
}
