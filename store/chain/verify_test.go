package chain

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/internal/longrun"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

func (s *shelf) verified(t rapid.TB, process string) *Report {
	t.Helper()
	r, err := s.Verify(context.Background(), process)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stored puts a value into the store and gives the handle that stands for it. What counts is not its size.
func (s *shelf) stored(t rapid.TB, value any) any {
	t.Helper()
	data := jsonval.Encode(value)
	digest, err := s.values.Put(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	return jsonval.BlobHandle{Digest: digest, Size: len(data), ValueType: jsonval.TypeOf(value)}.AsJSONValue()
}

// smallChain is a chain that has one of everything: parts, deltas, values in values, logs with values.
func smallChain(t *testing.T) *shelf {
	s := newShelf(t)
	story := newStory(t, s, "p")
	value := s.stored(t, []any{"in it", s.stored(t, strings.Repeat("y", 500))})
	story.grow(3)
	i := idea(t, `{"①": {"a": 1}}`, noCalls, "①")
	i["context"].([]any)[2].(map[string]any)["state"] = map[string]any{"nested": value,
		"long": strings.Repeat("z", maxOwnInlineBytes)}
	story.seal(i, turn.LogEntry{InstanceToken: "①", Write: statelog.Write{Path: jsonval.Path{"nested"}, Value: value,
		Author: "1.1@①"}},
		turn.LogEntry{InstanceToken: "①", Write: statelog.Write{Path: jsonval.Path{"long"},
			Value: strings.Repeat("z", maxOwnInlineBytes), Author: "person:Ada"}})
	story.seal(i)
	return s
}

func TestAWholeChainIsFoundWhole(t *testing.T) {
	t.Parallel()
	r := smallChain(t).cold(t).verified(t, "p")
	if !r.IsIntact || r.IdeaCount != 5 || len(r.Digest) != 64 || r.Process != "p" ||
		len(r.Broken)+len(r.UnreadableIdeaNumbers) > 0 {
		t.Errorf("%+v", r)
	}
	if _, err := newShelf(t).Verify(t.Context(), "p"); !errors.Is(err, ErrNoIdea) {
		t.Errorf("a chain that is not there gives %v", err)
	}
}

// positions are so many of a file's, and the first and the last.
func positions(size, many int) []int {
	return append(rand.Perm(size)[:min(size, many)], 0, size-1)
}

// What the bytes of every class do not show, chance may. The ordinary run tries 200 of all files together.
func TestAChangedByteIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	files, tried := s.files(t), 0
	many, least := 200/len(files), 200
	if longrun.Enabled() {
		many, least = 200, 1500
	}
	for name, data := range files {
		for _, at := range positions(len(data), many) {
			changed := bytes.Clone(data)
			changed[at] ^= byte(1 << rand.IntN(8))
			s.write(t, name, changed)
			r := s.cold(t).verified(t, "p")
			if r.IsIntact || len(r.Broken) != 1 || r.Broken[0].Item != name {
				t.Fatalf("byte %d of %s: %q became %q: %+v", at, name, data[at], changed[at], r)
			}
			tried++
		}
		s.write(t, name, data)
	}
	if r := s.cold(t).verified(t, "p"); !r.IsIntact || tried < least {
		t.Errorf("after %d changes: %+v", tried, r)
	}
}

// Who reads that many Ideas cannot be loaded must see which one was changed, and which only stand on it.
func TestAChangedPartNamesTheIdeasThatStandOnIt(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p").grow(8)
	for name, data := range s.files(t) {
		s.write(t, name, append(bytes.Clone(data), ' '))
		r := s.cold(t).verified(t, "p")
		if len(r.Broken) != 1 || !slices.Equal(r.Broken[0].UnloadableIdeaNumbers, r.UnreadableIdeaNumbers) {
			t.Errorf("%s: %+v, and Ideas %v cannot be loaded", name, r.Broken, r.UnreadableIdeaNumbers)
		}
		if name == ManifestName("p", 2) && (r.Broken[0].FirstIdea != 2 || r.Broken[0].UnloadableIdeaNumbers[0] != 2 ||
			len(r.Broken[0].UnloadableIdeaNumbers) < 3) {
			t.Errorf("%+v", r.Broken[0])
		}
		s.write(t, name, data)
	}
}

func TestAMissingFileIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	for name, data := range s.files(t) {
		if name == ManifestName("p", 5) {
			continue // nothing in the store says that there was one more
		}
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
		r := s.cold(t).verified(t, "p")
		if r.IsIntact || len(r.Broken) != 1 || r.Broken[0].Item != name ||
			(!strings.Contains(r.Broken[0].Problem, "missing") && !strings.Contains(r.Broken[0].Problem, "no such")) {
			t.Errorf("%s: %+v", name, r)
		}
		s.write(t, name, data)
	}
}

func TestEveryBrokenPlaceIsToldOnceTheFirstFirst(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p").grow(12)
	files := s.files(t)
	for _, at := range []int{10, 3, 7} {
		name := ManifestName("p", at)
		s.write(t, name, append(bytes.Clone(files[name]), ' '))
	}
	if err := os.Remove(filepath.Join(s.dir, ManifestName("p", 5))); err != nil {
		t.Fatal(err)
	}
	s.write(t, "ideas/p/notes.txt", []byte("mine"))
	r := s.cold(t).verified(t, "p")
	var parts []string
	for _, b := range r.Broken {
		parts = append(parts, b.Item)
	}
	if got := strings.Join(parts,
		" "); got != "ideas/p/notes.txt ideas/p/3.json ideas/p/5.json ideas/p/7.json ideas/p/10.json" {
		t.Errorf("%s: %+v", got, r)
	}
	if len(r.UnreadableIdeaNumbers) < 3 || r.IdeaCount != 11 {
		t.Errorf("%+v", r)
	}
	_, err := s.cold(t).Load(t.Context(), "p", 3)
	if err == nil || !strings.HasPrefix(err.Error(), "chain: load Idea 3 of p: ideas/p/3.json: ") {
		t.Errorf("loading says %v", err)
	}
	if _, err := s.cold(t).Load(t.Context(), "p", 13); !errors.Is(err, ErrNoIdea) {
		t.Errorf("loading what never was says %v", err)
	}
}

// A manifest that was written anew with a sum that fits is still found out where it says something wrong.
func TestAForgedManifestIsFound(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	for name, forge := range map[string]func(*manifest){
		"counts":     func(m *manifest) { m.Counts.Calls++ },
		"digest":     func(m *manifest) { m.Digest = strings.Repeat("a", 64) },
		"createdAt":  func(m *manifest) { m.Meta["createdAt"] = "2020-01-01T00:00:00Z" },
		"no time":    func(m *manifest) { m.Meta["createdAt"] = "yesterday" },
		"parent":     func(m *manifest) { m.Meta["parent"] = strings.Repeat("a", 64) },
		"process":    func(m *manifest) { m.Meta["process"] = "q" },
		"number":     func(m *manifest) { m.Meta["at"] = 7 },
		"steps":      func(m *manifest) { m.DeltaCount += 3 },
		"bytes":      func(m *manifest) { m.DeltaBytes -= 10_000 },
		"since":      func(m *manifest) { m.FullIdeaNumber++ },
		"on itself":  func(m *manifest) { m.DeltaBaseNumber = 2 },
		"on nothing": func(m *manifest) { m.DeltaBaseNumber = -1 },
		"log":        func(m *manifest) { m.LogNode = map[string]any{"v": []any{}} },
		"other log":  func(m *manifest) { m.LogNode = map[string]any{"v": []any{map[string]any{"value": 1}}} },
		"other body": func(m *manifest) {
			m.BodyNode = map[string]any{"v": map[string]any{"~": map[string]any{"config": map[string]any{"=": 1}}}}
		},
		"no log":   func(m *manifest) { m.LogNode = nil },
		"bad log":  func(m *manifest) { m.LogNode = 5 },
		"no body":  func(m *manifest) { m.BodyNode = nil },
		"bad body": func(m *manifest) { m.BodyNode = map[string]any{"v": 5} },
		"bad node": func(m *manifest) { m.BodyNode = map[string]any{"v": 5, "p": "x"} },
		"bad part": func(m *manifest) { m.BodyNode = map[string]any{"p": "x"} },
		"bad runs": func(m *manifest) { m.BodyNode = map[string]any{"runs": []any{map[string]any{"v": 1}}} },
		"bad each": func(m *manifest) { m.BodyNode = map[string]any{"each": map[string]any{"a": 1}} },
		"format":   func(m *manifest) { m.Format = 2 },
		"delta":    func(m *manifest) { m.BodyNode = map[string]any{"v": map[string]any{"~": map[string]any{}}} },
	} {
		t.Run(name, func(t *testing.T) {
			place := ManifestName("p", 2)
			before := s.files(t)[place]
			m, err := decodeManifest(before)
			if err != nil {
				t.Fatal(err)
			}
			forge(m)
			s.write(t, place, m.encode())
			r := s.cold(t).verified(t, "p")
			if r.IsIntact || r.Broken[0].FirstIdea != 2 || (r.Broken[0].Item != place && name != "bad part") {
				t.Errorf("%+v", r)
			}
			_, err = s.cold(t).Load(t.Context(), "p", 2)
			if besideTheIdea := slices.Contains([]string{"counts", "steps", "bytes", "since", "log", "other log",
				"no log", "bad log"}, name); (err == nil) != besideTheIdea {
				t.Errorf("loading it gives %v", err)
			}
			s.write(t, place, before)
		})
	}
}

func TestAChainGoesOnAfterABrokenIdeaAndTheGapIsNamed(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.grow(3)
	if err := os.Remove(filepath.Join(s.dir, ManifestName("p", 3))); err != nil {
		t.Fatal(err)
	}
	story.on = s.cold(t)
	story.grow(2)
	r := s.cold(t).verified(t, "p")
	if len(r.Broken) != 1 || r.Broken[0].Item != ManifestName("p", 3) || len(r.UnreadableIdeaNumbers) != 0 {
		t.Errorf("%+v", r)
	}
	s.cold(t).load(t, "p", 5)
}

func TestAnIdeaThatNamesAnotherParentIsFound(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.grow(2)
	story.last = strings.Repeat("a", 64)
	story.grow(1)
	r := s.cold(t).verified(t, "p")
	if len(r.Broken) != 1 || r.Broken[0].Item != ManifestName("p", 3) ||
		r.Broken[0].Problem != "its parent is not the Idea before it" || len(r.UnreadableIdeaNumbers) > 0 {
		t.Errorf("%+v", r)
	}
	s.cold(t).load(t, "p", 3)
}

func TestWhatIsRememberedDoesNotHideWhatIsBroken(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	for name, data := range s.files(t) {
		s.write(t, name, append(bytes.Clone(data), '\n'))
		if r := s.verified(t, "p"); len(r.Broken) != 1 || r.Broken[0].Item != name {
			t.Errorf("%s: %+v", name, r)
		}
		s.write(t, name, data)
	}
}

func TestAForkNamesItsOriginAndNothingElseOfIt(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	whole, err := s.Load(t.Context(), "p", 2)
	if err != nil {
		t.Fatal(err)
	}
	before := jsonOf(whole)
	digest := whole["meta"].(map[string]any)["digest"].(string)
	forked := ForkedIdea(whole)
	if got := jsonOf(forked["meta"]); got != `{"origin":{"at":2,"digest":"`+digest+
		`","process":"p"},"path":"moderation","request":2,"version":"7"}` {
		t.Error(got)
	}
	if jsonOf(forked["context"]) != jsonOf(whole["context"]) || jsonOf(whole) != before {
		t.Error("something else has changed")
	}
	again := jsonOf(
		ForkedIdea(map[string]any{"meta": map[string]any{"process": "q", "at": 1, "digest": "d",
			"origin": "old"}})["meta"])
	if again != `{"origin":{"at":1,"digest":"d","process":"q"}}` {
		t.Error(again)
	}
}

func TestAWrongOriginIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(origin map[string]any)
		whole  bool
	}{
		"right":            {func(map[string]any) {}, true},
		"not there":        {func(o map[string]any) { o["process"] = "gone" }, true},
		"another Idea":     {func(o map[string]any) { o["at"] = 3 }, false},
		"another text":     {func(o map[string]any) { o["digest"] = strings.Repeat("a", 64) }, false},
		"none that is one": {func(o map[string]any) { delete(o, "process") }, true},
	} {
		s := smallChain(t)
		whole, err := s.Load(t.Context(), "p", 2)
		if err != nil {
			t.Fatal(err)
		}
		i := ForkedIdea(whole)
		o := i["meta"].(map[string]any)["origin"].(map[string]any)
		c.change(o)
		newStory(t, s, "fork").seal(i)
		r := s.cold(t).verified(t, "fork")
		if r.IsIntact != c.whole || jsonOf(r.ForkOrigin) != jsonOf(o) {
			t.Errorf("%s: %+v", name, r)
		}
		if x := verifiedExport(t, exported(t, s, "fork")); jsonOf(x.ForkOrigin) != jsonOf(o) {
			t.Errorf("%s: the export says %s", name, jsonOf(x.ForkOrigin))
		}
	}
}
