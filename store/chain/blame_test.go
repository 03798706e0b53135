package chain

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// written is a log entry of a Call.
func written(t *testing.T, request, index int, token, path, value string) turn.LogEntry {
	t.Helper()
	p, err := jsonval.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonval.Decode([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return turn.LogEntry{
		InstanceToken: token, Write: statelog.Write{Path: p, Value: v,
			Author: ideafile.FormatCallID(request, index, token), Request: request, Index: index,
			WrittenAt: noon.Add(time.Duration(request) * time.Hour)},
	}
}

// refund is a process of two instances: two Requests, a Call whose result a person gave, and one that updates a list.
func refund(t *testing.T) *shelf {
	t.Helper()
	s := newShelf(t)
	story := newStory(t, s, "p")
	one := idea(t, `{"①": {"text": "Broken!", "notes": ["begun"]}, "②": {}}`, `{"calls": [
		{"_tool": "judge", "_instance": "①", "text": "†state.text", "rules": ["†input.rules", "†state.never"], "_outputPath": "user.mood"},
		{"_tool": "note", "_instance": "①", "text": "a", "_outputPath": "notes", "_outputMethod": "push"}], "output": null}`, "①", "②")
	one["meta"].(map[string]any)["request"] = 1
	story.seal(one)
	two := idea(t, `{"①": {"text": "Broken!", "user": {"mood": "strong"}, "notes": ["begun", "a"]}, "②": {"a": 1}}`,
		`{"calls": [], "output": null}`, "①", "②")
	two["meta"].(map[string]any)["request"] = 2
	note := written(t, 1, 2, "①", "notes", `"a"`)
	note.OutputMethod = "push"
	story.seal(two, note, written(t, 1, 1, "①", "user.mood", `"strong"`), written(t, 1, 1, "②", "a", `1`))
	three := idea(
		t,
		`{"①": {"text": "Broken!", "user": {"mood": "strong", "name": "Ada"}, "notes": ["begun", "a"], "odd": 1}, "②": {"a": 1}}`, noCalls, "①", "②")
	answer := written(t, 2, 1, "①", "user.name", `"Ada"`)
	answer.Author, answer.AuthorCall = turn.PersonPrefix+"Grace",
		ideafile.ParseWrittenCall(object(t, `{"_tool": "ask", "_instance": "①", "who": "†state.user.mood",
			"how": ["†state.user.mood"]}`)) // what a Call names twice is read once
	answer.Decision = &approval.Decision{Kind: "answer", DecidedBy: "Grace", Reason: "I asked her", DecidedAt: noon}
	story.seal(three, answer)
	story.seal(three)
	return s
}

func TestBlameNamesTheCallThatWrote(t *testing.T) {
	t.Parallel()
	s := refund(t)
	b, err := s.cold(t).Blame(t.Context(), "p", "①:user.mood", 0)
	if err != nil {
		t.Fatal(err)
	}
	if b.Author != "1.1@①" || b.AsOfIdeaNumber != 4 || b.LastWrite.IdeaNumber != 2 || b.Path != "user.mood" ||
		b.Value != "strong" ||
		!b.LastWrite.WrittenAt.Equal(noon.Add(time.Hour)) || b.LastDecision != nil {
		t.Errorf("%+v %+v", b, b.LastWrite)
	}
	want :=
		`{"id":"1.1@①","reads":[{"found":true,"reference":"†input.rules","value":["no spam"]},{"found":false,"reference":"†state.never","value":null},` +
			`{"found":true,"reference":"†state.text","value":"Broken!"}],"request":1,"saw":1,"tool":"judge","written":{"_instance":"①","_outputPath":"user.mood","_tool":"judge","rules":["†input.rules","†state.never"],"text":"†state.text"}}`
	if got := jsonOf(b.Call); got != want {
		t.Errorf("the Call is %s", got)
	}
}

func TestBlameNamesThePersonWhoGaveAValueAndWhy(t *testing.T) {
	t.Parallel()
	b, err := refund(t).Blame(t.Context(), "p", "①:user.name", 0)
	if err != nil {
		t.Fatal(err)
	}
	if b.Author != "person:Grace" || b.LastDecision == nil || b.LastDecision.Reason != "I asked her" ||
		b.Call.ID != "2.1@①" ||
		b.Call.Tool != "ask" || b.Call.SeenIdeaNumber != 2 {
		t.Errorf("%+v %+v %+v", b, b.LastDecision, b.Call)
	}
	if len(b.Call.ResolvedReferences) != 1 || b.Call.ResolvedReferences[0].Value != "strong" {
		t.Errorf("%+v", b.Call.ResolvedReferences)
	}
}

func TestBlameCountsWritesAboveAndBelowAndTakesTheLastOneInThePlan(t *testing.T) {
	t.Parallel()
	s := refund(t)
	for _, c := range []struct {
		place   string
		at      int
		by      string
		earlier int
		value   string
	}{
		{"①:user", 0, "person:Grace", 1, `{"mood":"strong","name":"Ada"}`},
		{"①:user", 2, "1.1@①", 0, `{"mood":"strong"}`},
		{"①:notes", 0, "1.2@①", 0, `["begun","a"]`},
		{"①:notes[1]", 0, "1.2@①", 0, `"a"`},
		{"①:notes[0]", 0, AuthorStart, 0, `"begun"`},
		{"①:†state.notes", 0, "1.2@①", 0, `["begun","a"]`},
		{"②:a", 0, "1.1@②", 0, `1`},
		{"①:text", 0, AuthorStart, 0, `"Broken!"`},
		{"①:odd", 0, AuthorUnknown, 0, `1`},
		{"①:", 2, "1.2@①", 1, `{"notes":["begun","a"],"text":"Broken!","user":{"mood":"strong"}}`},
	} {
		t.Run(fmt.Sprint(c.place, " in ", c.at), func(t *testing.T) {
			b, err := s.Blame(t.Context(), "p", c.place, c.at)
			if err != nil {
				t.Fatal(err)
			}
			if b.Author != c.by || len(b.EarlierWrites) != c.earlier || jsonOf(b.Value) != c.value {
				t.Errorf("by %s, %d earlier, %s", b.Author, len(b.EarlierWrites), jsonOf(b.Value))
			}
			if (c.by == AuthorUnknown) != (b.ShownSinceIdeaNumber == 3) {
				t.Errorf("since %d", b.ShownSinceIdeaNumber)
			}
		})
	}
}

func TestBlameSaysWhatIsWrongWithTheQuestion(t *testing.T) {
	t.Parallel()
	s := refund(t)
	for _, c := range []struct{ process, place, want string }{
		{"p", "mood", "it names none of the 2 instances; write ①:PATH"},
		{"p", "③:mood", "it names none of the 2 instances"},
		{"p", "①:a..b", "bad step"},
		{"p", "①:†input.rules", "only State has authors"},
		{"p", "①:never", "nothing stands there, and nobody wrote there, as of Idea 4, sealed at 2026-11-03T12:03:00Z"},
		{"p", "①:user.mood.deeper", `; what stands above it is "strong"`},
		{"q", "a", "the store has no such Idea"},
	} {
		if b, err := s.Blame(t.Context(), c.process, c.place, 0); err == nil ||
			!strings.HasPrefix(err.Error(), "chain: blame "+c.place+" of "+c.process+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %+v, %v", c.place, c.process, b, err)
		}
	}
	if _, err := s.Blame(t.Context(), "p", "①:a", 9); !errors.Is(err, ErrNoIdea) {
		t.Errorf("got %v", err)
	}
}

func TestThePlaceOfTheAnonymousInstanceIsThePathAlone(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.grow(3)
	b, err := s.Blame(t.Context(), "p", "step1", 0)
	if err != nil || b.Instance != "" || b.Author != "2.1" || b.Call.ID != "2.1" || b.Call.SeenIdeaNumber != 2 ||
		b.Call.Tool != "judge" {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestATokenMayHoldAColon(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p").seal(idea(t, `{"a": {"x": 1}, "a:b": {"x": 2}, "a:b:c": {"x": 3}, "a:b:c:d": {"x": 4}}`,
		noCalls, "a", "a:b", "a:b:c", "a:b:c:d"))
	for range 10 {
		for place, want := range map[string]string{"a:x": "1", "a:b:x": "2", "a:b:c:x": "3", "a:b:c:d:x": "4"} {
			b, err := s.Blame(t.Context(), "p", place, 0)
			if err != nil || jsonOf(b.Value) != want {
				t.Fatalf("%s: %+v, %v", place, b, err)
			}
		}
	}
}

func TestAValueThatNoLogTellsOfIsOlderThanItsLastChangeNever(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	for _, state := range []string{`{"x": 1}`, `{"x": 2}`, `{"x": 2}`, `{}`, `{"x": 2}`, `{"x": 2}`} {
		story.seal(idea(t, `{"": `+state+`}`, noCalls, ""))
	}
	for at, since := range map[int]int{1: 0, 2: 2, 3: 2, 5: 5, 6: 5} {
		b, err := s.Blame(t.Context(), "p", "x", at)
		if err != nil || b.ShownSinceIdeaNumber != since || (b.Author == AuthorStart) != (since == 0) {
			t.Errorf("in Idea %d: %+v, %v", at, b, err)
		}
	}
}

func TestWhatAForkBeganWithNamesItsOrigin(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	i := idea(t, `{"": {"x": 1}}`, noCalls, "")
	i["meta"].(map[string]any)["origin"] = object(t, `{"process": "o", "at": 2, "digest": "d"}`)
	newStory(t, s, "p").seal(i)
	b, err := s.Blame(t.Context(), "p", "x", 0)
	if err != nil || b.Author != AuthorStart || jsonOf(b.ForkOrigin) != `{"at":2,"digest":"d","process":"o"}` ||
		b.FoundInOriginIdea != nil {
		t.Errorf("%+v, %v", b, err)
	}
}

// The Calls of a fork that waited may run before its first Idea: the log of that tells of them, and its State holds
// what they wrote.
func TestWhatAForkWroteBeforeItsFirstIdeaIsBlamedOnItsCall(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "o").seal(idea(t, `{"": {"x": 1}}`, noCalls, ""))
	forked := func(process, from, state string) *story {
		i := idea(t, state, noCalls, "")
		i["meta"].(map[string]any)["origin"] = object(t, fmt.Sprintf(`{"process": %q, "at": 1, "digest": "d"}`, from))
		story := newStory(t, s, process)
		story.seal(i, written(t, 1, 1, "", "paid", `50`))
		return story
	}
	forked("p", "o", `{"": {"x": 1, "paid": 50, "by hand": 2}}`)
	forked("q", "p", `{"": {"x": 1, "paid": 50, "by hand": 2}}`)
	for place, want := range map[string]string{"x": `{"idea":1,"process":"o"}`, `["by hand"]`: "null"} {
		b, err := s.Blame(t.Context(), "p", place, 0)
		if err != nil || b.Author != AuthorStart || jsonOf(b.FoundInOriginIdea) != want {
			t.Errorf("%s: %+v, found in %+v, %v", place, b, b.FoundInOriginIdea, err)
		}
	}
	b, err := s.Blame(t.Context(), "p", "paid", 0)
	if err != nil || b.Author != "1.1" || b.LastWrite == nil || b.LastWrite.IdeaNumber != 1 || b.ForkOrigin != nil {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err = s.Blame(t.Context(), "q", "x", 0); err != nil || b.FoundInOriginIdea == nil ||
		b.FoundInOriginIdea.Process != "o" {
		t.Errorf("a fork of a fork: %+v, %v", b, err)
	}
	b, err = s.Blame(t.Context(), "q", `["by hand"]`, 0)
	if err != nil || b.FoundInOriginIdea == nil || b.FoundInOriginIdea.Process != "p" {
		t.Errorf("put there by hand: %+v, %v", b, err)
	}
}

func TestAStoredValueIsBlamedWithItsContent(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	b, err := s.Blame(t.Context(), "p", "①:nested[0]", 0)
	if err != nil || b.Value != "in it" || jsonOf(b.LastWrite.Value) != `["in it","`+strings.Repeat("y", 500)+`"]` {
		t.Errorf("%+v, %v", b.LastWrite, err)
	}
}

// What people changed about a Call must not vanish behind who approved it last, nor the Tool that ran behind the one
// that did not.
func TestBlameNamesEveryDecisionAndWhatRan(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	one := idea(t, `{"①": {"text": "Broken!"}}`,
		`{"calls": [{"_tool": "pay", "_instance": "①", "n": 600, "_outputPath": "paid"}], "output": null}`, "①")
	one["meta"].(map[string]any)["request"] = 1
	story.seal(one)
	params := map[string]any{"n": 60}
	decisions := []approval.Decision{
		{Kind: "amend", CallID: "1.1@①", DecidedBy: "dan", Reason: "too much", DecidedAt: noon, Tool: "pay",
			ShownParams: map[string]any{"n": 600}, AmendedParams: params},
		{Kind: "replace", CallID: "1.1@①", DecidedBy: "eve", DecidedAt: noon, Tool: "pay", ShownParams: params,
			Replacement: map[string]any{"_tool": "offerVoucher"}},
		{Kind: "pause", DecidedBy: "ann", Reason: "lunch", DecidedAt: noon},
	}
	story.seal(idea(t, `{"①": {"text": "Broken!", "paid": "yes"}}`, noCalls, "①"),
		turn.LogEntry{InstanceToken: "①", Decision: &decisions[0]},
		turn.LogEntry{InstanceToken: "①", Decision: &decisions[1]},
		turn.LogEntry{Decision: &decisions[2]},
		turn.LogEntry{InstanceToken: "①",
			Outcome: &turn.CallOutcome{CallID: "1.1@①", Status: "done",
				ExecutedCall: &turn.ExecutedCall{Tool: "offerVoucher", Params: params}}},
		written(t, 1, 1, "①", "paid", `"yes"`))
	b, err := s.cold(t).Blame(t.Context(), "p", "①:paid", 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Decisions) != 2 || b.Decisions[0].DecidedBy != "dan" || b.Decisions[0].Reason != "too much" ||
		b.LastDecision.DecidedBy != "eve" {
		t.Errorf("decided by %+v", b.Decisions)
	}
	if b.Call.Tool != "offerVoucher" || jsonOf(b.Call.ExecutedCall.Params) != `{"n":60}` ||
		jsonOf(b.Call.ProposedJSON.(map[string]any)["n"]) != "600" {
		t.Errorf("the Call is %s", jsonOf(b.Call))
	}
	links, err := s.List(t.Context(), "p")
	if err != nil || links[1].Counts != (Counts{Instances: 1, Writes: 1, Decisions: 3}) {
		t.Errorf("%+v, %v", links, err)
	}
	if made := s.load(t, "p", 2)["meta"].(map[string]any)["decisions"]; !strings.Contains(jsonOf(made), `"by":"ann"`) ||
		!strings.Contains(jsonOf(made), `"reason":"too much"`) {
		t.Errorf("the Idea says %s", jsonOf(made))
	}
	if report, err := s.Verify(t.Context(), "p"); err != nil || !report.IsIntact {
		t.Errorf("%+v, %v", report, err)
	}
}
