package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/store/ideadiff"
)

// compared seals Ideas and compares two of them.
func compared(t *testing.T, a, b int, ideas ...map[string]any) *ideadiff.Diff {
	t.Helper()
	s := newShelf(t)
	story := newStory(t, s, "p")
	for _, i := range ideas {
		story.seal(i)
	}
	d, err := s.Diff(t.Context(), "p", a, b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestADiffTellsEachValueByInstance(t *testing.T) {
	t.Parallel()
	one := idea(
		t, `{"①": {"n": 9007199254740993, "old": 1, "list": [1, 2, 3], "a/b": {"~": 1}, "same": 1}, "②": {"a": 1}}`,
		noCalls, "①", "②")
	two := idea(
		t,
		`{"①": {"n": 9007199254740992, "new": null, "list": [1, 5, 3, 4, 4], "a/b": {"~": 2}, "same": 1}, "③": {"a": 1}}`, noCalls, "①", "③")
	two["config"] = object(t, `{"limits": {"requests": 100}}`)
	two["schema"].(map[string]any)["tools"].(map[string]any)["note"] = object(t, `{}`)
	two["context"].([]any)[0] = object(t, `{"type": "instruction", "instruction": "Be kind."}`)
	two["context"].([]any)[1] = object(t, `{"type": "input", "rules": []}`)
	d := compared(t, 1, 2, one, two)
	var lines []string
	for _, c := range d.Changes {
		lines = append(lines, fmt.Sprintf("%s %s %s %s>%s", c.Instance, c.Kind, c.Path, jsonOf(c.From), jsonOf(c.To)))
	}
	want := []string{
		` changed config.limits.requests 50>100`,
		` added schema.tools.note null>{}`,
		` removed text "` + strings.Repeat("Judge every comment. ", 20) + `">null`,
		` added instruction null>"Be kind."`,
		` removed †input.rules.0 "no spam">null`,
		`① changed †state.a/b.~ 1>2`,
		`① changed †state.list.1 2>5`,
		`① added †state.list.3 null>4`,
		`① added †state.list.4 null>4`,
		`① changed †state.n 9007199254740993>9007199254740992`,
		`① added †state.new null>null`,
		`① removed †state.old 1>null`,
		`③ added †state null>{"a":1}`,
		`② removed †state {"a":1}>null`,
	}
	if got := strings.Join(lines, "\n"); !sameLines(lines, want) {
		t.Errorf("got\n%s", got)
	}
	back := compared(t, 2, 1, one, two)
	if len(back.Changes) != len(d.Changes) {
		t.Errorf("the way back has %d changes", len(back.Changes))
	}
}

// A step keeps its id where it stands elsewhere among the steps, which the LLM reads in their order.
func TestADiffTellsThatStepsStandInAnotherOrder(t *testing.T) {
	t.Parallel()
	policy := func(ids ...string) map[string]any {
		i, steps := idea(t, `{"": {}}`, noCalls, ""), []any{}
		for _, id := range ids {
			steps = append(steps, object(t, `{"id": "`+id+`", "text": "Mind it."}`))
		}
		i["context"].([]any)[0] = map[string]any{"type": "instruction", "file": "p.json",
			"instruction": map[string]any{"instruction": map[string]any{"steps": steps}}}
		return i
	}
	for _, c := range []struct {
		from, to []string
		want     string
	}{
		{[]string{"a", "b", "c"}, []string{"c", "a", "b"}, ` changed instruction["p.json"].steps ["a","b","c"]>["c","a","b"]`},
		{[]string{"a", "b", "c"}, []string{"a", "new", "c"}, ""},
	} {
		got := ""
		for _, change := range compared(t, 1, 2, policy(c.from...), policy(c.to...)).Changes {
			if change.Kind == ideadiff.Changed {
				got += fmt.Sprintf("%s %s %s %s>%s", change.Instance, change.Kind, change.Path, jsonOf(change.From),
					jsonOf(change.To))
			}
		}
		if got != c.want {
			t.Errorf("%v to %v: %q", c.from, c.to, got)
		}
	}
}

// sameLines compares texts whose order within an instance does not matter.
func sameLines(got, want []string) bool {
	there := map[string]int{}
	for _, l := range want {
		there[l]++
	}
	for _, l := range got {
		there[l]--
	}
	for _, n := range there {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestWhatIsTakenFromTheEndOfAListIsToldByItsPlace(t *testing.T) {
	t.Parallel()
	d := compared(t, 1, 2, idea(t, `{"": {"l": [1, 2, 3]}}`, noCalls, ""), idea(t, `{"": {"l": [1]}}`, noCalls, ""))
	if len(d.Changes) != 2 || d.Changes[0].Path != "†state.l.1" || d.Changes[1].Path != "†state.l.2" ||
		jsonOf(d.Changes[1].From) != "3" {
		t.Errorf("%+v", d.Changes)
	}
}

func TestADiffTellsCallsAsAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	one := idea(t, `{"①": {}}`, `{"calls": [
		{"_tool": "judge", "_instance": "①", "text": "a", "_outputPath": "mood"},
		{"_tool": "judge", "_instance": "②", "text": "same"},
		{"_tool": "note", "_instance": "①", "text": "gone"}, "no call"], "output": null}`, "①")
	two := idea(t, `{"①": {}}`, `{"calls": [
		{"_tool": "judge", "_instance": "②", "text": "same"},
		{"_tool": "judge", "_instance": "②", "text": "same"},
		{"_tool": "judge", "_instance": "①", "text": "b", "_outputPath": "mood"}], "output": null}`, "①")
	two["meta"].(map[string]any)["request"] = 2
	var lines []string
	for _, c := range compared(t, 1, 2, one, two).Calls {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", c.Instance, c.Kind, c.ID, c.Tool))
	}
	if got := strings.Join(lines, "|"); got != " removed  |① changed 2.3 judge|① removed  note|② added 2.2 judge" {
		t.Errorf("got %s", got)
	}
}

func TestADiffTellsWhichCallsWereTakenBack(t *testing.T) {
	t.Parallel()
	with := func(first, second string) map[string]any {
		i := idea(t, `{"①": {}, "②": {}}`, noCalls, "①", "②")
		i["context"] = append(i["context"].([]any), object(t, `{"type": "plan", "stage": "complete",
			"plan": [{"_tool": "book"}, {"_tool": "write"}], "record": {"0.1": `+first+`, "0.2": `+second+`}}`))
		return i
	}
	d := compared(t, 1, 2, with(`{"done": ["①"], "undone": ["②"]}`, `"done"`),
		with(`"undone"`, `{"failed": ["①"], "undone": ["②"]}`))
	got := jsonOf(d.Calls)
	if got != `[{"from":"done","id":"0.1","instance":"①","to":"undone","tool":"book","what":"undone"},`+
		`{"from":"done","id":"0.2","instance":"②","to":"undone","tool":"write","what":"undone"}]` {
		t.Error(got)
	}
}

func TestAnIdeaDoesNotDifferFromItself(t *testing.T) {
	t.Parallel()
	d := compared(t, 1, 1, idea(t, `{"①": {"a": 1}}`, `{"calls": [{"_tool": "x"}], "output": null}`, "①"))
	if jsonOf(d) != `{"a":1,"b":1,"calls":[],"changes":[],"patch":[],"process":"p"}` {
		t.Errorf("%s", jsonOf(d))
	}
}

func TestIdeasThatAreNotThereAreNotCompared(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p").grow(2)
	for _, c := range [][2]int{{1, 3}, {3, 1}, {0, 1}} {
		if _, err := s.Diff(t.Context(), "p", c[0], c[1]); !errors.Is(err, ErrNoIdea) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestThePatchOfADiffLeadsFromOneIdeaToTheOther(t *testing.T) {
	t.Parallel()
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		s, process := openShelf(t, dir), fmt.Sprint("p", runs)
		last := ""
		for n := range 2 {
			i := drawnIdea(rt)
			i["solution"] = map[string]any{"calls": []any{},
				"output": json.Number(rapid.SampledFrom([]string{"9007199254740993", "9007199254740992", "1",
					"1.0"}).Draw(rt, "output"))}
			sealed, err := s.Seal(context.Background(),
				IdeaToSeal{ProcessID: process, IdeaNumber: n + 1, ParentDigest: last, Idea: i, Created: noon})
			if err != nil {
				rt.Fatal(err)
			}
			last = sealed.Digest
		}
		d, err := s.Diff(context.Background(), process, 1, 2)
		if err != nil {
			rt.Fatal(err)
		}
		from, _ := s.Load(context.Background(), process, 1)
		to, _ := s.Load(context.Background(), process, 2)
		patch, err := jsonpatch.DecodePatch(jsonval.Encode(d.Patch))
		if err != nil {
			rt.Fatal(err)
		}
		got, err := patch.Apply(jsonval.Encode(from))
		if err != nil {
			rt.Fatalf("%s on %s: %v", jsonOf(d.Patch), jsonOf(from), err)
		}
		if v, err := decodeStoredJSON(got); err != nil || !jsonval.Equal(v, to) {
			rt.Fatalf("%s leads to %s, %v", jsonOf(d.Patch), got, err)
		}
	})
}

// Diff compares two Ideas of a process.
func (s *Store) Diff(ctx context.Context, process string, a, b int) (*ideadiff.Diff, error) {
	from, err := s.Load(ctx, process, a)
	if err != nil {
		return nil, err
	}
	to, err := s.Load(ctx, process, b)
	if err != nil {
		return nil, err
	}
	return ideadiff.Compare(process, a, b, from, to)
}
