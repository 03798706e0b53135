package chain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// load gives an Idea and checks that its digest is that of its canonical bytes.
func (s *shelf) load(t rapid.TB, process string, at int) map[string]any {
	t.Helper()
	whole, err := s.Load(context.Background(), process, at)
	if err != nil {
		t.Fatal(err)
	}
	meta := whole["meta"].(map[string]any)
	digest := meta["digest"]
	delete(meta, "digest")
	if sum := sha256.Sum256(jsonval.Encode(whole)); hex.EncodeToString(sum[:]) != digest {
		t.Fatalf("Idea %d says that it is %v and is %x", at, digest, sum)
	}
	return whole
}

// Lists of processes read these names: that an Idea takes back what another process did stands in the Idea alone.
func TestAProcessThatTakesAnotherBackIsNamedOnceItHasAnIdea(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	given := idea(t, `{"": {}}`, noCalls, "")
	newStory(t, s, "p").seal(given)
	given["meta"] = object(t, `{"undoes": {"process": "p", "by": "ann"}}`)
	for range 2 {
		newStory(t, s, "p-undo-1/~call/0.2").seal(given)
	}
	for process, want := range map[string][]string{"p": {"p-undo-1/~call/0.2"}, "p-undo-1": nil} {
		got, err := s.ListUndoingProcesses(t.Context(), process)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is taken back by %q, %v", process, got, err)
		}
	}
}

func TestAnIdeaComesBackWholeWithItsMetaAndDigest(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	given := idea(t, `{"①": {"n": 12345678901234567890, "f": 1.50, "none": null, "text": "<b> & é"}}`, noCalls, "①")
	given["meta"].(map[string]any)["origin"] = object(t, `{"process": "o", "at": 4, "digest": "d"}`)
	given["meta"].(map[string]any)["parent"] = "that of the file that the process started from"
	story.seal(given)
	first := story.last
	story.seal(given, turn.LogEntry{InstanceToken: "①", Write: statelog.Write{Path: jsonval.Path{"n"}, Value: 5,
		Author: "1.1@①", Request: 1, Index: 1}})

	got := s.cold(t).load(t, "p", 2)
	meta := got["meta"].(map[string]any)
	log := meta["log"]
	delete(meta, "log")
	want := `{"at":2,"createdAt":"2026-11-03T12:01:00Z","origin":{"at":4,"digest":"d","process":"o"},"parent":"` +
		first + `","path":"moderation","process":"p","version":"7"}`
	if jsonOf(meta) != want {
		t.Errorf("meta is %s", jsonOf(meta))
	}
	if text, _ := log.(string); len(text) != 64 {
		t.Errorf("meta.log is %v", log)
	}
	delete(got, "meta")
	delete(given, "meta")
	if !jsonval.Equal(got, given) {
		t.Errorf("it came back as %s", jsonOf(got))
	}
	if _, has := s.load(t, "p", 1)["meta"].(map[string]any)["parent"]; has {
		t.Error("the first Idea names a parent")
	}
}

func TestLargeValuesStandWholeInTheIdeaAndOnceInTheStore(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	large := strings.Repeat("x", 2*jsonval.LargeValueBytes)
	lookalike := map[string]any{"†blob": map[string]any{"digest": strings.Repeat("0", 64)}}
	state, err := s.values.OffloadMembers(t.Context(), map[string]any{"large": large, "odd": lookalike})
	if err != nil {
		t.Fatal(err)
	}
	story := newStory(t, s, "p")
	for range 3 {
		i := idea(t, `{}`, noCalls, "")
		i["context"].([]any)[2].(map[string]any)["state"] = state
		story.seal(i)
	}
	if got := s.bytes(t); got > len(large)+10_000 {
		t.Errorf("%d bytes for one value of %d", got, len(large))
	}
	got := s.cold(t).load(t, "p", 3)
	back := got["context"].([]any)[2].(map[string]any)["state"].(map[string]any)
	if back["large"] != large || !jsonval.Equal(back["odd"], lookalike) {
		t.Error("the values came back as others")
	}
}

// A delta lies twice as deep as what it changes: what a file may hold must not be too deep for a manifest.
func TestAStateAsDeepAsAFileMayBeComesBack(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	for n := range 3 {
		deep := strings.Repeat(`{"a":`, 120) + fmt.Sprint(n) + strings.Repeat(`}`, 120)
		story.seal(idea(t, `{"": `+deep+`}`, noCalls, ""))
		got := s.cold(t).load(t, "p", n+1)["context"].([]any)[2].(map[string]any)["state"]
		if jsonOf(got) != deep {
			t.Errorf("it came back as %s", jsonOf(got))
		}
	}
	if !s.cold(t).verified(t, "p").IsIntact || !verifiedExport(t, exported(t, s, "p")).IsIntact {
		t.Error("it is not whole")
	}
}

func TestSealingTheSameAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.grow(2)
	again := story.entry(idea(t, `{"①": {"a": 1}}`, noCalls, "①"),
		turn.LogEntry{Write: statelog.Write{Path: jsonval.Path{"a"}, Value: 1, Author: "1.1"}})
	first, err := s.Seal(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	before := s.files(t)
	again.Created = again.Created.Add(time.Hour)
	for _, s := range []*shelf{s, s.cold(t)} {
		second, err := s.Seal(t.Context(), again)
		if err != nil || second != first {
			t.Errorf("%+v, then %+v, %v", first, second, err)
		}
	}
	if after := s.files(t); jsonOf(after) != jsonOf(before) {
		t.Error("the store has changed")
	}
}

func TestAnIdeaThatNobodyFollowsIsReplacedAndOneThatSomebodyFollowsNever(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.seal(idea(t, `{"": {"n": 1}}`, noCalls, ""))
	second := story.entry(idea(t, `{"": {"n": 2}}`, noCalls, ""))
	story.seal(second.Idea)
	second.Idea = idea(t, `{"": {"n": 3}}`, noCalls, "")
	replaced, err := s.Seal(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	story.last = replaced.Digest
	story.seal(idea(t, `{"": {"n": 4}}`, noCalls, ""))
	before := s.files(t)
	second.Idea = idea(t, `{"": {"n": 5}}`, noCalls, "")
	if _, err := s.Seal(t.Context(), second); !errors.Is(err, ErrConflict) ||
		!strings.HasPrefix(err.Error(), "chain: seal Idea 2 of p: ") {
		t.Errorf("got %v", err)
	}
	if after := s.files(t); jsonOf(after) != jsonOf(before) {
		t.Error("the store has changed")
	}
	if r := s.verified(t, "p"); !r.IsIntact {
		t.Errorf("%+v", r.Broken)
	}
}

func TestWhatIsNoIdeaOfAChainIsNotSealed(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, e := range []IdeaToSeal{{ProcessID: "p"}, {ProcessID: "p", IdeaNumber: -1}, {IdeaNumber: 1}} {
		if _, err := s.Seal(t.Context(), e); err == nil {
			t.Errorf("%+v was sealed", e)
		}
	}
	if len(s.files(t)) != 0 {
		t.Error("something was stored")
	}
}

func TestAChainGrowsByWhatIsNew(t *testing.T) {
	t.Parallel()
	bytes := map[int]int{}
	for _, ideas := range []int{50, 100, 200} {
		s := newShelf(t)
		newStory(t, s, "p").grow(ideas)
		bytes[ideas] = s.bytes(t)
	}
	if bytes[200] > 1_200_000 {
		t.Errorf("200 Ideas, each with a kilobyte more, are %d bytes", bytes[200])
	}
	if first, second := bytes[100]-bytes[50], bytes[200]-bytes[100]; second > 5*first/2 {
		t.Errorf("50 Ideas more are %d bytes, 100 more after them %d", first, second)
	}
}

func TestManyInstancesThatWriteLittleCostLittle(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	states, tokens := map[string]any{}, []string{}
	for n := range 100 {
		token := fmt.Sprint("i", n)
		tokens = append(tokens, token)
		states[token] = map[string]any{"text": strings.Repeat("x", 500)}
	}
	story.seal(idea(t, jsonOf(states), noCalls, tokens...))
	start := s.bytes(t)
	for n := range 20 {
		states[fmt.Sprint("i", n)].(map[string]any)["mood"] = "strong"
		story.seal(idea(t, jsonOf(states), noCalls, tokens...))
	}
	if grown := s.bytes(t) - start; grown > 20*1200 {
		t.Errorf("20 writes of a word are %d bytes", grown)
	}
}

func TestTenThousandInstancesAreSealedAndLoaded(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	states, tokens := map[string]any{}, []string{}
	for n := range 10_000 {
		token := fmt.Sprint(n)
		tokens = append(tokens, token)
		states[token] = map[string]any{"n": json.Number(token)}
	}
	i := idea(t, jsonOf(states), noCalls, tokens...)
	story.seal(i)
	start := s.bytes(t)
	var log []turn.LogEntry
	for _, token := range tokens {
		states[token].(map[string]any)["done"] = true
		log = append(log, turn.LogEntry{InstanceToken: token,
			Write: statelog.Write{Path: jsonval.Path{"done"}, Value: true,
				Author: ideafile.FormatCallID(1, 1, token), Request: 1, Index: 1}})
	}
	after := idea(t, jsonOf(states), noCalls, tokens...)
	story.seal(after, log...)
	if grown := s.bytes(t) - start; grown > 10_000*200 {
		t.Errorf("a word for each of them is %d bytes", grown)
	}
	got := s.cold(t).load(t, "p", 2)
	if !jsonval.Equal(got["context"], after["context"]) {
		t.Error("they came back as others")
	}
}

func TestWhatProcessesOfOneFileShareIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p0").seal(idea(t, `{"": {}}`, noCalls, ""))
	parts := len(s.files(t)) - 1
	for n := range 10 {
		newStory(t, s, fmt.Sprint("p", n+1)).seal(idea(t, `{"": {}}`, noCalls, ""))
	}
	if got := len(s.files(t)) - 11; got != parts || parts == 0 {
		t.Errorf("eleven processes have %d parts, one has %d", got, parts)
	}
}

func TestNoIdeaIsFarFromOneThatIsStoredWhole(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	state := map[string]any{"text": strings.Repeat("x", 40_000)}
	for n := range 300 {
		state[fmt.Sprint("step", n)] = n
		story.seal(idea(t, jsonOf(map[string]any{"": state}), noCalls, ""))
	}
	manifests, err := s.manifests(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	most, whole := 0, 0
	for _, m := range manifests {
		most = max(most, m.DeltaCount)
		if m.DeltaBaseNumber == 0 {
			whole++
		}
	}
	if most > 45 || most < 28 || whole != 1 {
		t.Errorf("%d deltas lead to an Idea, and %d are stored whole", most, whole)
	}
}

func TestReadingAnIdeaNeverTakesMuchMoreThanItsOwnSize(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	for n := range 60 {
		story.seal(idea(t, fmt.Sprintf(`{"": {"text": %q}}`, strings.Repeat(fmt.Sprint(n%10), 2000)), noCalls, ""))
	}
	manifests, err := s.manifests(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		if size := len(jsonOf(s.load(t, "p", m.metaNumber("at")))); m.DeltaBytes > size {
			t.Errorf("Idea %d of %d bytes comes from %d bytes of deltas", m.metaNumber("at"), size, m.DeltaBytes)
		}
	}
}

func TestWhatAnotherWorkerSealedMeanwhileIsReadAnew(t *testing.T) {
	t.Parallel()
	a := newShelf(t)
	story := newStory(t, a, "p")
	story.seal(idea(t, `{"": {"n": 1}}`, noCalls, ""))
	second := story.entry(idea(t, `{"": {"n": 2, "more": "yes"}}`, noCalls, ""))
	story.seal(second.Idea)
	second.Idea = idea(t, `{"": {"n": 3}}`, noCalls, "")
	other, err := a.cold(t).Seal(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	story.last = other.Digest
	third := idea(t, `{"": {"n": 3, "more": "yes"}}`, noCalls, "")
	story.seal(third)
	if got := a.cold(t).load(t, "p", 3); !jsonval.Equal(got["context"], third["context"]) {
		t.Errorf("it came back as %s", jsonOf(got["context"]))
	}
}

// drawnIdea draws Ideas that are much alike, as those of one process are.
func drawnIdea(t *rapid.T) map[string]any {
	value := rapid.SampledFrom([]string{`1`, `1.0`, `null`, `"x"`, `{"†blob":1}`, `{"††blob":{}}`, `[1,2]`, `[1,2,3]`,
		`{"a":{"b":[{}]}}`})
	object := func(text string) any {
		v, err := decodeStoredJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	context := []any{
		object(`{"type": "text", "text": "` +
			strings.Repeat("long ", rapid.SampledFrom([]int{1, 200}).Draw(t, "words")) + `"}`)}
	for _, token := range rapid.SampledFrom([][]string{{"①"}, {"①", "②"}, {"②", "①", "③"}}).Draw(t, "tokens") {
		state := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "=", "~"}), 0, 4,
			rapid.ID).Draw(t, "keys") {
			state[key] = object(value.Draw(t, "value"))
		}
		context = append(context, map[string]any{"type": "state", "_instance": token, "state": state})
	}
	if rapid.Bool().Draw(t, "planned") {
		context = append(context, object(`{"type": "plan", "plan": [], "record": {}}`))
	}
	i := map[string]any{"meta": map[string]any{"version": "1"}, "context": context, "solution": object(noCalls)}
	switch rapid.IntRange(0, 9).Draw(t, "odd") {
	case 0:
		i["context"], i["solution"] = nil, nil
	case 1:
		i["schema"] = object(`{"tools": {"` + strings.Repeat("x", 300) + `": {}}, "output": null}`)
	case 2:
		i["schema"], i["config"] = nil, object(`{"limits": {}}`)
	case 3:
		delete(i, "context")
	}
	return i
}

// Whatever a process seals, and wherever it was sealed, comes back as it was, and the chain is whole.
func TestWhateverIsSealedComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		s, process := openShelf(t, dir), fmt.Sprint("p/~part/", runs)
		var given []map[string]any
		last := ""
		for n := range rapid.IntRange(1, 40).Draw(rt, "ideas") {
			if rapid.IntRange(0, 9).Draw(rt, "another worker") == 0 {
				s = openShelf(t, dir)
			}
			i := drawnIdea(rt)
			if n > 0 && rapid.Bool().Draw(rt, "the same again") {
				i = given[n-1]
			}
			sealed, err := s.Seal(t.Context(), IdeaToSeal{ProcessID: process, IdeaNumber: n + 1, ParentDigest: last,
				Idea: i, Created: noon})
			if err != nil {
				rt.Fatal(err)
			}
			given, last = append(given, i), sealed.Digest
		}
		cold := openShelf(t, dir)
		for n, want := range given {
			got := cold.load(rt, process, n+1)
			restored, err := s.values.Restore(t.Context(), want)
			if err != nil {
				rt.Fatal(err)
			}
			delete(got, "meta")
			body := restored.(map[string]any)
			delete(body, "meta")
			if !jsonval.Equal(got, body) {
				rt.Fatalf("Idea %d was sealed as %s and came back as %s", n+1, jsonOf(body), jsonOf(got))
			}
		}
		if r := cold.verified(rt, process); !r.IsIntact || r.IdeaCount != len(given) || r.Digest != last {
			rt.Fatalf("%+v", r)
		}
	})
}

func TestTheIdeasOfAProcessAreListedInOrder(t *testing.T) {
	t.Parallel()
	s := refund(t)
	links, err := s.cold(t).List(t.Context(), "p")
	if err != nil || len(links) != 4 {
		t.Fatalf("%+v, %v", links, err)
	}
	for i, l := range links {
		if l.IdeaNumber != i+1 || (i > 0 && l.ParentDigest != links[i-1].Digest) ||
			!l.Created.Equal(noon.Add(time.Duration(i)*time.Minute)) {
			t.Errorf("%+v", l)
		}
	}
	if l := links[1]; l.Request != 2 || l.Counts != (Counts{Instances: 2, Writes: 3}) {
		t.Errorf("%+v", l)
	}
	if links[0].Counts.Calls != 2 || links[2].Counts.Decisions != 1 || links[2].Request != 0 {
		t.Errorf("%+v", links)
	}
	if _, err := s.List(t.Context(), "q"); !errors.Is(err, ErrNoIdea) {
		t.Errorf("got %v", err)
	}
}

func TestProcessesAreListedByTheirNamesWhateverTheseHold(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	names := []string{"a b①%41?#é", "p", "p/~part/3", "x.attrs"}
	for _, name := range names {
		newStory(t, s, name).grow(11)
	}
	got, err := s.ListProcessIDs(t.Context())
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range names {
		if n, err := s.LatestIdeaNumber(t.Context(), name); n != 11 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if n, err := s.LatestIdeaNumber(t.Context(), "q"); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
