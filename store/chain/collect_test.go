package chain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
	"processidea/store/blobs"
)

// age makes everything in the store look as old as it may be collected.
func (s *shelf) age(t testing.TB) {
	t.Helper()
	for name := range s.files(t) {
		if err := os.Chtimes(filepath.Join(s.dir, name), noon, noon); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *shelf) collected(t testing.TB, r CollectRules) *CollectResult {
	t.Helper()
	c, err := s.Collect(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *shelf) put(t testing.TB, text string) (digest string) {
	t.Helper()
	digest, err := s.values.Put(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// later is a time before which everything in the tests was made.
var later = noon.Add(24 * time.Hour)

func TestAnOldChainGoesWithWhatOnlyItNeeds(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	story := newStory(t, s, "young")
	story.seal(idea(t, `{"": {}}`, noCalls, ""))
	entry := story.entry(idea(t, `{"": {"now": true}}`, noCalls, ""))
	entry.Created = later.Add(time.Minute)
	if _, err := s.Seal(t.Context(), entry); err != nil {
		t.Fatal(err)
	}
	s.age(t)
	before := s.files(t)
	counted := s.collected(t, CollectRules{Cutoff: later})
	if after := s.files(t); len(after) != len(before) || counted.WasRemoved {
		t.Fatal("counting took something")
	}
	if !slices.Equal(counted.CollectedProcessIDs, []string{"p"}) || counted.CollectedIdeaCount != 5 ||
		counted.CollectedValueCount < 3 ||
		counted.Retained.ChainCount != 1 || counted.Retained.ValueCount == 0 {
		t.Errorf("%+v", counted)
	}
	taken := s.cold(t).collected(t, CollectRules{Cutoff: later, ShouldRemove: true})
	counted.WasRemoved = true
	if jsonOf(taken) != jsonOf(counted) {
		t.Errorf("counted %s, taken %s", jsonOf(counted), jsonOf(taken))
	}
	size := 0
	for name, data := range before {
		if _, there := s.files(t)[name]; !there {
			size += len(data)
		}
	}
	if want := taken.CollectedIdeaBytes + taken.CollectedValueBytes; int64(size) != want {
		t.Errorf("%d bytes are gone, and it says %d", size, want)
	}
	if r := s.cold(t).verified(t, "young"); !r.IsIntact || r.IdeaCount != 2 {
		t.Errorf("%+v", r)
	}
	if again := s.collected(t,
		CollectRules{Cutoff: later, ShouldRemove: true}); again.CollectedIdeaCount+again.CollectedValueCount != 0 {
		t.Errorf("a second time: %+v", again)
	}
}

func TestAChainOfWhichAnythingIsOpenStays(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"p", "p/①", "p/~part/1", "p/~part/2/main"} {
		for _, chain := range []string{"p", "p/~part/1"} {
			s := newShelf(t)
			newStory(t, s, chain).grow(2)
			s.age(t)
			c := s.collected(t, CollectRules{Cutoff: later,
				TemporalContents: &NamespaceContents{openRootProcessIDs: map[string]bool{blobs.RootProcessID(open): true}},
				ShouldRemove:     true})
			if len(c.CollectedProcessIDs) > 0 || !s.cold(t).verified(t, chain).IsIntact {
				t.Errorf("%s is open, and %s is gone: %+v", open, chain, c)
			}
		}
	}
	s := newShelf(t)
	newStory(t, s, "pq").grow(2)
	s.age(t)
	held := &NamespaceContents{openRootProcessIDs: map[string]bool{"p": true}}
	if c := s.collected(t, CollectRules{Cutoff: later, TemporalContents: held}); len(c.CollectedProcessIDs) != 1 {
		t.Errorf("p is open, and pq stays")
	}
}

func TestWhatAHistoryRefersToStaysWithAllThatItHolds(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	inner := s.put(t, `"inner"`)
	outer := s.put(
		t,
		string(
			jsonval.Encode(
				map[string]any{
					"a": []any{jsonval.BlobHandle{Digest: inner, Size: 7, ValueType: "string"}.AsJSONValue()}})))
	nobodys := s.put(t, `"nobody's"`)
	s.age(t)
	c := s.collected(t, CollectRules{Cutoff: later,
		TemporalContents: &NamespaceContents{referenceSet: map[digestReference]bool{{digest: outer}: true,
			{digest: strings.Repeat("0", 64)}: true}},
		ShouldRemove: true})
	files := s.files(t)
	if c.CollectedValueCount != 1 || len(files) != 2 || files[s.values.Name(t.Context(), nobodys)] != nil ||
		files[s.values.Name(t.Context(), inner)] == nil {
		t.Errorf("%+v, %d files", c, len(files))
	}
}

func TestWhatIsYoungStaysWhoeverNeedsIt(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "young")
	if c := s.collected(t, CollectRules{Cutoff: time.Now().Add(-time.Minute),
		ShouldRemove: true}); c.CollectedValueCount != 0 ||
		c.Retained.ValueCount != 1 || len(s.files(t)) != 1 {
		t.Errorf("%+v", c)
	}
}

// A value that somebody puts again while the collection goes on is needed, whatever was true when it was listed.
func TestWhatSomebodyPutsMeanwhileStays(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	digest := s.put(t, "x")
	s.age(t)
	listed, err := s.values.ListValues(t.Context())
	if err != nil || len(listed) != 1 {
		t.Fatal(listed, err)
	}
	s.cold(t).put(t, "x")
	if removed, err := s.values.RemoveIfUnchanged(t.Context(), listed[0]); removed || err != nil {
		t.Errorf("%v, %v", removed, err)
	}
	if _, err := s.values.GetUncached(t.Context(), digest); err != nil {
		t.Error(err)
	}
}

func TestAChainThatCannotBeReadIsNotTaken(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p").grow(3)
	s.write(t, ManifestName("p", 3), []byte("{"))
	s.write(t, "elsewhere", nil)
	s.age(t)
	before := len(s.files(t))
	if c := s.collected(t, CollectRules{Cutoff: later, ShouldRemove: true}); len(c.CollectedProcessIDs) > 0 ||
		len(s.files(t)) != before {
		t.Errorf("%+v", c)
	}
}

func TestWhatOtherFoldersReferToStays(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	digest := s.put(t, "x")
	if err := s.values.Write(t.Context(), "notes/a.json", []byte(`{"see":"`+digest+`"}`)); err != nil {
		t.Fatal(err)
	}
	s.age(t)
	if c := s.collected(t, CollectRules{Cutoff: later, ShouldRemove: true}); c.CollectedValueCount != 0 ||
		len(s.files(t)) != 2 {
		t.Errorf("%+v", c)
	}
}

func TestEveryDigestIsFoundWhateverStandsAroundIt(t *testing.T) {
	t.Parallel()
	d := strings.Repeat("0123456789abcdef", 4)
	for text, want := range map[string]int{
		"": 0, d[1:]: 0, d: 1, `{"a":"` + d + `"}`: 1, d + d: 65, "x" + d + "g" + d: 2,
		strings.ToUpper(d): 0, "f" + d: 2,
	} {
		n, found := 0, false
		eachDigest([]byte(text), func(b []byte) { n++; found = found || string(b) == d })
		if n != want || found != (want > 0) {
			t.Errorf("%s: %d, %v", text, n, found)
		}
	}
}

// Whatever is kept still verifies and loads, whatever chains and values there were, and who needed what.
func TestWhateverIsKeptIsWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf(t)
		values := []any{}
		for n := range rapid.IntRange(1, 4).Draw(rt, "values") {
			values = append(values, s.stored(rt, []any{json.Number(fmt.Sprint(n)), s.stored(rt, "in all of them")}))
		}
		held := &NamespaceContents{openRootProcessIDs: map[string]bool{}, referenceSet: map[digestReference]bool{}}
		stays, needed := map[string]int{}, map[string]bool{}
		for n := range rapid.IntRange(1, 4).Draw(rt, "chains") {
			process := fmt.Sprint("p", n)
			young, open := rapid.Bool().Draw(rt, "young"), rapid.Bool().Draw(rt, "open")
			held.openRootProcessIDs[process] = open
			story := newStory(t, s, process)
			for range rapid.IntRange(1, 20).Draw(rt, "ideas") {
				i := drawnIdea(rt)
				v := rapid.SampledFrom(values).Draw(rt, "value")
				i["config"] = map[string]any{"value": v}
				h, _ := jsonval.AsBlobHandle(v)
				needed[h.Digest] = needed[h.Digest] || young || open
				entry := story.entry(i, turn.LogEntry{Write: statelog.Write{
					Value: rapid.SampledFrom(values).Draw(rt, "logged")}})
				if young {
					entry.Created = entry.Created.Add(48 * time.Hour)
				}
				sealed, err := s.Seal(t.Context(), entry)
				if err != nil {
					rt.Fatal(err)
				}
				story.last, story.at = sealed.Digest, sealed.IdeaNumber
			}
			if young || open {
				stays[process] = story.at
			}
		}
		nobodys := s.put(t, "nobody's")
		historys := s.put(t, "a history's")
		held.referenceSet[digestReference{digest: historys}] = true
		s.age(t)
		c := s.collected(t, CollectRules{Cutoff: later, TemporalContents: held, ShouldRemove: true})
		cold, files := s.cold(t), s.files(t)
		processes, err := cold.ListProcessIDs(t.Context())
		if err != nil || len(processes) != len(stays) || c.Retained.ChainCount != len(stays) {
			rt.Fatalf("%v stay of %v: %+v, %v", processes, stays, c, err)
		}
		for process, ideas := range stays {
			if r := cold.verified(rt, process); !r.IsIntact || r.IdeaCount != ideas {
				rt.Fatalf("%+v", r)
			}
			cold.load(rt, process, ideas)
		}
		for digest, need := range needed {
			if _, there := files[s.values.Name(t.Context(), digest)]; need && !there {
				rt.Fatalf("%s is needed and gone", digest)
			}
		}
		if files[s.values.Name(t.Context(), nobodys)] != nil || files[s.values.Name(t.Context(), historys)] == nil {
			rt.Fatal("the wrong one was taken")
		}
	})
}

func TestWhatAnEncryptedPayloadRefersToStays(t *testing.T) {
	t.Parallel()
	// The stand-in for a cipher turns letters and digits into others, so that no digest can be read.
	turned := func(data []byte) []byte {
		out := bytes.Clone(data)
		for i := range out {
			out[i] ^= 0x80
		}
		return out
	}
	open := func(p *commonpb.Payload) (*commonpb.Payload, error) {
		return &commonpb.Payload{Data: turned(p.GetData())}, nil
	}
	for _, o := range []DecryptFunc{open, nil} {
		s := newShelf(t)
		value := s.put(t, `"value"`)
		payload, err := proto.Marshal(&commonpb.Payload{Data: turned([]byte(`{"see":"` + value + `"}`))})
		if err != nil {
			t.Fatal(err)
		}
		held := &NamespaceContents{referenceSet: map[digestReference]bool{}, decrypt: o}
		claim := &commonpb.Payload{Data: turned([]byte(s.put(t, string(payload))))}
		if err := held.noteReferences("", claim); err != nil {
			t.Fatal(err)
		}
		s.age(t)
		if c := s.collected(t, CollectRules{Cutoff: later, TemporalContents: held,
			Decrypt: o}); (c.CollectedValueCount == 0) != (o != nil) {
			t.Errorf("opened: %v: %+v", o != nil, c)
		}
	}
}

// A digest that stands where a payload is cut is in none of its pieces.
func TestWhatAPayloadInPiecesRefersToStaysWhereverItIsCut(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	var needed []string
	var text strings.Builder
	for n := range 5000 {
		needed = append(needed, s.put(t, fmt.Sprintf(`"needed %d"`, n)))
		text.WriteString(needed[n] + " ")
	}
	payload := &commonpb.Payload{Data: []byte(text.String())}
	claims, err := s.values.ExternalStorage().Drivers[0].Store(
		converter.StorageDriverStoreContext{Context: t.Context()}, []*commonpb.Payload{payload})
	if err != nil {
		t.Fatal(err)
	}
	held := &NamespaceContents{referenceSet: map[digestReference]bool{}}
	for _, v := range claims[0].ClaimData {
		held.referenceSet[digestReference{digest: v}] = true
	}
	s.age(t)
	c := s.collected(t, CollectRules{Cutoff: later, TemporalContents: held, ShouldRemove: true})
	if c.CollectedValueCount != 0 || c.Retained.ValueCount <= len(needed) {
		t.Errorf("%d values went, %d stay of %d that are needed, and the pieces", c.CollectedValueCount,
			c.Retained.ValueCount,
			len(needed))
	}
}

// A program that writes, or was killed while it wrote, leaves files of another name beside those that it writes.
func TestWhatIsHalfWrittenBreaksNoChainAndGoesOnceItIsOld(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	before := s.files(t)
	const half = ".18a0b1c2d3e4f506.tmp"
	s.write(t, ManifestName("p", 6)+half, []byte(`{"dig`))
	s.write(t, ManifestName("p", 2)+half, nil)
	if r, err := s.Verify(t.Context(), "p"); err != nil || !r.IsIntact || r.IdeaCount != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if latest, err := s.LatestIdeaNumber(t.Context(), "p"); err != nil || latest != 5 {
		t.Errorf("%d, %v", latest, err)
	}
	young := s.collected(t, CollectRules{Cutoff: noon.Add(-time.Hour), ShouldRemove: true})
	if young.UnfinishedFileCount != 0 {
		t.Errorf("what is younger is taken: %+v", young)
	}
	for _, name := range []string{ManifestName("p", 6) + half, ManifestName("p", 2) + half} {
		if err := os.Chtimes(filepath.Join(s.dir, name), noon.Add(-2*time.Hour), noon.Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, remove := range []bool{false, true} {
		c := s.collected(t, CollectRules{Cutoff: noon.Add(-time.Hour), ShouldRemove: remove})
		if c.UnfinishedFileCount != 2 || c.UnfinishedBytes != 5 ||
			len(c.CollectedProcessIDs)+c.CollectedValueCount != 0 {
			t.Errorf("%+v", c)
		}
	}
	if after := s.files(t); len(after) != len(before) {
		t.Errorf("%d files, and there were %d", len(after), len(before))
	}
}
