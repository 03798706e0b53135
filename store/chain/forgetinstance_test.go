package chain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
	"processidea/store/blobs"
	"processidea/store/texts"
)

// customers seals Ideas of a process of three: in each the States hold a little more, Ada of ② has a large letter and a
// delegate, and a note over all names her.
func customers(t testing.TB, s *shelf, process string) {
	t.Helper()
	values := blobs.WithProcess(t.Context(), process)
	data := jsonval.Encode(strings.Repeat("Dear Ada ", 20_000))
	letter, err := s.values.Put(values, data)
	if err != nil {
		t.Fatal(err)
	}
	handle := jsonval.BlobHandle{Digest: letter, Size: len(data), ValueType: "string"}.AsJSONValue()
	story := newStory(t, s, process)
	states := map[string]any{}
	for n, name := range []string{"Bob Brown", "Ada Lovelace", "Cid Clark"} {
		states[fmt.Sprint(n+1)] = map[string]any{"name": name, "status": "open"}
	}
	for n := range 4 {
		i := idea(t, string(jsonval.Encode(states)), noCalls, "1", "2", "3")
		i["meta"] = map[string]any{"path": "2", "version": "2"} // this names nobody
		i["solution"] = map[string]any{"output": nil, "calls": []any{
			map[string]any{"_tool": "judge", "_instance": "2", "text": "for Ada Lovelace"},
			map[string]any{"_tool": "judge", "_instance": "3", "text": "for Cid"},
		}}
		i["context"] = append(i["context"].([]any), object(t, `{"type": "plan", "plan": [
			{"_tool": "judge", "_instance": "2", "text": "x"},
			{"_tool": "judge", "_instance": ["2", "3"], "text": "y"}], "record": {
			"1.1": {"done": ["2"], "results": {"2": "Ada is fine"}},
			"1.2": {"done": ["2", "3"], "results": {"2": "Ada pays", "3": "Cid pays"}}}}`))
		if n == 3 {
			i["solution"].(map[string]any)["notes"] = "Ada Lovelace wants her money back, the others do not."
		}
		var log []turn.LogEntry
		for token, state := range states {
			m := state.(map[string]any)
			step := fmt.Sprintf("step%d", n)
			m[step] = fmt.Sprintf("said to %s", m["name"])
			if token == "2" {
				m["letter"] = handle
			}
			log = append(log, turn.LogEntry{
				InstanceToken: token, Write: statelog.Write{Path: jsonval.Path{step}, Value: m[step],
					Author: "1.1@" + token, Request: n + 1, Index: 1, WrittenAt: noon},
			})
		}
		story.seal(i, log...)
	}
	for _, call := range []string{"1.1@2", "1.1@3"} {
		newStory(t, s, process+"/~call/"+call).grow(2)
	}
}

// adasNote is where her name stays.
var adasNote = []Mention{{Process: "p", IdeaNumbers: []int{4, 5}, Path: "solution.notes",
	Reason: "has a text of the instance"}}

func (s *shelf) forgetting(token string) ForgetOptions {
	return ForgetOptions{
		RootProcessID: "p", InstanceToken: token, ForgetRecord: ForgetRecord{ForgottenAt: later, By: "ann"},
		Decrypt: s.values.Keys().OpenPayload, RemovalNoticePeriod: time.Nanosecond,
	}
}

func (s *shelf) forgetInstance(ctx context.Context) (*ForgetResult, error) {
	return s.ForgetInstance(ctx, s.forgetting("2"))
}

// has lists the files that hold a text of Ada's.
func (s *shelf) has(t testing.TB, texts ...string) (names []string) {
	for name, data := range s.files(t) {
		if slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(data, []byte(text)) }) {
			names = append(names, name)
		}
	}
	return names
}

// withoutAda checks that p has no word of Ada's but in the note that tells of her, and is otherwise as it was.
func (s *shelf) withoutAda(t testing.TB, before []Link, others []any) {
	t.Helper()
	links, err := s.List(t.Context(), "p")
	if err != nil || len(links) != len(before)+1 {
		t.Fatalf("%+v, %v", links, err)
	}
	for n, l := range before {
		if links[n].Digest != l.Digest || links[n].ParentDigest != l.ParentDigest || links[n].Counts.Instances != 3 {
			t.Errorf("%+v, and it was %+v", links[n], l)
		}
	}
	r := s.verified(t, "p")
	said := ForgottenInstance{ForgetRecord{ForgottenAt: later, By: "ann"}, "2", adasNote}
	if !r.IsIntact || jsonOf(r.ForgottenInstances) != jsonOf([]ForgottenInstance{said}) {
		t.Errorf("%+v", r)
	}
	forgotten, err := s.ForgottenInstances(t.Context(), "p")
	if err != nil || len(forgotten) != 1 || forgotten["2"] != said.ForgetRecord {
		t.Errorf("%+v, %v", forgotten, err)
	}
	for n, want := range others {
		if got := othersOf(s.left(t, n+1)); !jsonval.Equal(got, want) {
			t.Errorf("Idea %d has of the others\n%s, and had\n%s", n+1, jsonOf(got), jsonOf(want))
		}
	}
	for at := range len(links) {
		text := strings.ReplaceAll(jsonOf(s.left(t, at+1)), "Ada Lovelace wants", "")
		record := `"record":{"1.2":{"done":["3"],"results":{"3":"Cid pays"}}}`
		if strings.Contains(text, "Ada") || !strings.Contains(text, record) {
			t.Errorf("Idea %d: %s", at+1, text)
		}
	}
	if s.verified(t, "p/~call/1.1@2").Forgotten == nil || s.verified(t, "p/~call/1.1@3").Forgotten != nil {
		t.Error("the delegate of another, or not her own, is forgotten")
	}
	var export bytes.Buffer
	if err := s.Export(t.Context(), "p", &export); err != nil {
		t.Fatal(err)
	}
	if r, err := VerifyExport(&export, nil); err != nil || !r.IsIntact || len(r.ForgottenInstances) != 1 {
		t.Errorf("the export: %+v, %v", r, err)
	}
}

// othersOf is what an Idea has of the instances 1 and 3, and of their Calls.
func othersOf(idea map[string]any) (list []any) {
	for _, of := range []any{idea["context"], idea["solution"].(map[string]any)["calls"]} {
		for _, e := range of.([]any) {
			if m := e.(map[string]any); m["_instance"] != "2" && m["type"] != "plan" {
				list = append(list, e)
			}
		}
	}
	return list
}

// left is an Idea of p, which has the digest that it had before something was taken out of it.
func (s *shelf) left(t testing.TB, at int) map[string]any {
	t.Helper()
	idea, err := s.Load(t.Context(), "p", at)
	if err != nil {
		t.Fatal(err)
	}
	return idea
}

func chainOfP(t testing.TB, s *shelf) (before []Link, others []any) {
	t.Helper()
	before, err := s.List(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for at := range before {
		others = append(others, othersOf(s.left(t, at+1)))
	}
	return before, others
}

func TestAnInstanceIsForgottenAndTheOthersAreAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		s, _ := open(t)
		customers(t, s, "p")
		customers(t, s, "q")
		before, others := chainOfP(t, s)
		done, err := s.forgetInstance(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		encrypted := name != "plain"
		if done.AffectedIdeaCount != 4 || jsonOf(done.Mentions) != jsonOf(adasNote) || done.KeyDestroyed != encrypted {
			t.Errorf("%s: %+v", name, done)
		}
		s.cold2(t).withoutAda(t, before, others)
		letter := digestOf(strings.Repeat("Dear Ada ", 20_000))
		_, err = s.values.GetUncached(blobs.WithProcess(t.Context(), "p"), letter)
		if encrypted && !errors.Is(err, blobs.ErrMissing) { // in a plain store it is q's too
			t.Errorf("%s: her letter: %v", name, err)
		}
		r, idea := s.verified(t, "q"), jsonOf(s.load(t, "q", 4))
		if !r.IsIntact || r.ForgottenInstances != nil || !strings.Contains(idea, "said to Ada") {
			t.Errorf("%s: %+v", name, r)
		}
		done, err = s.forgetInstance(t.Context()) // again
		if err != nil || done.AffectedIdeaCount+done.RemovedValueCount != 0 ||
			jsonOf(done.Mentions) != jsonOf(adasNote) {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		s.cold2(t).withoutAda(t, before, others)
	}
}

func TestOfAForgottenInstanceNoByteIsLeftInTheStore(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	customers(t, s, "p")
	if len(s.has(t, "Dear Ada", "said to Ada")) == 0 {
		t.Fatal("what is looked for was never there")
	}
	if _, err := s.forgetInstance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := s.has(t, "Dear Ada", "said to Ada", "for Ada"); len(left) > 0 {
		t.Errorf("it still stands in %q", left)
	}
}

// What a copy of the store holds cannot be opened with what is there now.
func TestTheDataKeyThatEncryptedAForgottenInstanceIsDestroyed(t *testing.T) {
	t.Parallel()
	s := keyedShelf(t, t.TempDir(), keys(t, "k1")...)
	customers(t, s, "p")
	backup := t.TempDir()
	if err := os.CopyFS(backup, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		token := fmt.Sprint(2 + n) // and another one, with the key that it has by now
		if _, err := s.ForgetInstance(t.Context(), s.forgetting(token)); err != nil {
			t.Fatal(err)
		}
		if r := s.cold2(t).verified(t, "p"); !r.IsIntact || len(r.ForgottenInstances) != n+1 {
			t.Fatalf("%+v", r)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "processes", "p", "*", "*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	if err := os.CopyFS(filepath.Join(backup, "new"), os.DirFS(filepath.Join(s.dir, "datakeys"))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(backup, "datakeys")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(backup, "new"), filepath.Join(backup, "datakeys")); err != nil {
		t.Fatal(err)
	}
	values, err := blobs.Open(t.Context(), backup, blobs.WithKeys(s.values.Keys()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = values.Close() }()
	if _, err := New(values).Load(t.Context(), "p", 2); err == nil {
		t.Error("the copy can be read")
	}
	s.forget(t)
	if r := s.verified(t, "p"); !r.IsIntact || r.Forgotten == nil {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "processes", "p*", "*", "*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// A program that has read the old data key reads with the new one.
func TestAnotherProgramReadsWithTheNewDataKey(t *testing.T) {
	t.Parallel()
	s := keyedShelf(t, t.TempDir(), keys(t, "k1")...)
	customers(t, s, "p")
	other := s.cold2(t)
	other.load(t, "p", 1)
	if _, err := s.forgetInstance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := other.verified(t, "p"); !r.IsIntact || len(r.ForgottenInstances) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestForgettingAnInstanceThatIsInterruptedIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		for step := range 200 {
			s, _ := open(t)
			customers(t, s, "p")
			before, others := chainOfP(t, s)
			calls := 0
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.cold2(t).forgetInstance(interrupted{ctx, cancel, &calls, step * 23})
			cancel()
			if _, err := s.cold2(t).forgetInstance(t.Context()); err != nil {
				t.Fatalf("%s, broken off after %d: %v", name, step*151, err)
			}
			s.cold2(t).withoutAda(t, before, others)
			if left := s.has(t, "Dear Ada"); len(left) > 0 {
				t.Fatalf("%s, broken off after %d: %q", name, step*151, left)
			}
			if t.Failed() || err == nil {
				break
			}
		}
	}
}

func TestWhoHasNoSuchInstanceOrNoOtherIsRefused(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p").seal(idea(t, `{"2": {"name": "Ada"}}`, noCalls, "2"))
	if _, err := s.forgetInstance(t.Context()); !errors.Is(err, ErrOnlyInstance) {
		t.Errorf("%v", err)
	}
	newStory(t, s, "q").grow(1)
	if _, err := s.FindInstance(t.Context(), "q", "2"); !errors.Is(err, ErrNoInstance) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsLeftOfAnInstancesIdeasCannotBeAlteredUnseen(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	customers(t, s, "p")
	if _, err := s.forgetInstance(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := s.manifest(t.Context(), "p", 2)
	if err != nil {
		t.Fatal(err)
	}
	m.Meta["request"] = jsonval.ToJSONValue(77)
	st, err := s.readIdea(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.RedactedDigest, _, err = (ideaContent{meta: m.Meta, body: st.body}).digest(t.Context(), s.values); err != nil {
		t.Fatal(err)
	}
	s.write(t, ManifestName("p", 2), m.encode())
	if r := s.cold(t).verified(t, "p"); r.IsIntact {
		t.Errorf("%+v", r)
	}
}

func TestATextIsFoundWithTheInstancesThatHoldIt(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	customers(t, s, "p")
	for text, want := range map[string][]InstanceMatch{
		"dear ada": {{Instance: "2", Paths: []string{"context.state.letter"}, FirstIdeaNumber: 2, LastIdeaNumber: 4}},
		"said to BOB": {{Instance: "1", FirstIdeaNumber: 1, LastIdeaNumber: 4, Paths: []string{
			"log.value", "context.state.step0", "context.state.step1", "context.state.step2",
		}}},
		"nobody's own": nil,
		"her money":    {{Paths: []string{"solution.notes"}, FirstIdeaNumber: 4, LastIdeaNumber: 4}},
	} {
		f, err := s.Find(t.Context(), "p", texts.NewNeedle(text))
		if err != nil {
			t.Fatal(err)
		}
		got := f.Matches
		if jsonOf(got) != jsonOf(want) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
