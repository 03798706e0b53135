package harden

import (
	"strings"
	"testing"

	"processidea/learn/past"
	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

const (
	findCall   = `{"_tool": "find", "id": "†state.order", "_outputPath": "†state.item"}`
	searchCall = `{"_tool": "search", "id": "†state.order", "_outputPath": "†state.item"}`
	sendCall   = `{"_tool": "send", "to": "†state.mail", "text": "†state.item", "_outputPath": "†state.sent"}`
)

// triedRun is a process that tried find, then search, and then sent.
func triedRun(n int, record string, done bool) runFixture {
	p := sentRun(n)
	p.calls, p.record = []string{findCall, searchCall, sendCall}, record
	if !done {
		p.end = p.start
	}
	return p
}

func TestACallThatFailedEverywhereStaysBeforeItsFallback(t *testing.T) {
	t.Parallel()
	record := `{"1.1": {"failed": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`
	h := hardenRuns(t, triedRun(1, record, true), triedRun(2, record, true))
	h.is(t, `[`+findCall+`,`+searchCall+`,`+sendCall+`]`)
	h.hasNote(t, "find → †state.item failed wherever it was planned (p1, p2): it stays in the Plan")
}

func TestACallThatNeverRanIsLeftOut(t *testing.T) {
	t.Parallel()
	h := hardenRuns(t, triedRun(1, `{"1.1": {"rejected": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`, true))
	h.is(t, `[`+searchCall+`,`+sendCall+`]`)
	h.hasNote(t, "left out: find → †state.item, which never ran (planned in p1)")
}

// What blocked a Call is gone where the LLM plans it again: the Plan has it once, aligned with where it ran at first.
func TestACallThatWasPlannedAgainAfterItWasBlockedIsThereOnce(t *testing.T) {
	t.Parallel()
	blocked := triedRun(2, `{"1.1": {"failed": 1}, "1.2": {"blocked": 1}, "1.3": {"done": 1}, "1.4": {"done": 1}}`,
		true)
	blocked.calls = []string{findCall, sendCall, searchCall, sendCall}
	done := triedRun(1, `{"1.1": {"failed": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`, true)
	for name, runs := range map[string][]runFixture{"beside one that ran at once": {done, blocked},
		"alone": {blocked}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hardenRuns(t, runs...)
			h.is(t, `[`+findCall+`,`+searchCall+`,`+sendCall+`]`)
			for _, note := range h.Notes {
				if strings.Contains(note, "no. 2") {
					t.Errorf("it speaks of a second one: %s", note)
				}
			}
		})
	}
}

// A Call that came to its turn everywhere, and did not run in one instance, is for a person: the runs do not tell why.
func TestWhatAPersonWouldHaveToDecideIsNamed(t *testing.T) {
	t.Parallel()
	rejected := sentRun(2)
	rejected.record, rejected.end = `{"1.1": {"done": 1}, "1.2": {"rejected": 1}}`,
		`{"order": "o2", "mail": "m2@x", "item": "item 2"}`
	h := hardenRuns(t, sentRun(1), rejected)
	h.is(t, `[`+findCall+`]`,
		"send → †state.sent: it ran in some instances alone: it did not run everywhere it was planned, so a "+
			"person must decide whether it should: rejected in p2 (in p1)")
}

// What was refused before it could run is the LLM's mistake, and says nothing of the Tool.
func TestACallThatWasRefusedAtOnceIsNoPartOfThePlan(t *testing.T) {
	t.Parallel()
	p := finishedRun(t, 1, triedRun(1, `{"1.1": {"failed": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`, true))
	refusal, _ := jsonval.DecodeObject(
		[]byte(`{"type": "error", "call": "1.1", "error": {"code": "bad_path", "message": "no"}}`))
	p.Ideas[1]["context"] = append(p.Ideas[1]["context"].([]any), refusal)
	h, err := Harden([]past.RecordedProcess{p}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	h.is(t, `[`+searchCall+`,`+sendCall+`]`)
}

func TestTwoFailuresInARowAreNamedTogether(t *testing.T) {
	t.Parallel()
	bad := triedRun(2, `{"1.1": {"failed": 1}, "1.2": {"failed": 1}, "1.3": {"blocked": 1}}`, false)
	hardenRuns(t, triedRun(1, `{"1.1": {"failed": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`, true), bad).is(t,
		`[`+findCall+`,`+searchCall+`,`+sendCall+`]`,
		"find → †state.item failed, and what was planned in its place failed too: search → †state.item (in p2)")
}

// The LLM tried other parameters after each failure: the second and third Calls of a Tool are not its first.
func TestANoteSaysWhichOfSeveralCallsItIsAbout(t *testing.T) {
	t.Parallel()
	p := sentRun(2)
	p.calls = []string{findCall, strings.Replace(findCall, "†state.order", "x1", 1),
		strings.Replace(findCall, "†state.order", "x2", 1), sendCall}
	p.record = `{"1.1": {"failed": 1}, "1.2": {"failed": 1}, "1.3": {"done": 1}, "1.4": {"done": 1}}`
	h := hardenRuns(t, sentRun(1), p)
	h.hasNote(t, "find → †state.item (no. 2) failed wherever it was planned (p2)")
	h.hasNote(
		t,
		`find → †state.item (no. 3) was planned in p2 alone: constants cannot be told from inputs. Kept for every input: find → †state.item (no. 3): parameter "id" = "x2"`)
	for _, note := range h.Notes {
		if strings.HasPrefix(note, "find → †state.item failed") {
			t.Errorf("the first find brought its result in p1, and it says %q", note)
		}
	}
}

func TestAnInstanceThatLacksWhatItsSchemaRequiresIsLeftOutAndNoted(t *testing.T) {
	t.Parallel()
	bad := finishedRun(t, 2, triedRun(2, `{"1.1": {"failed": 1}, "1.2": {"failed": 1}, "1.3": {"blocked": 1}}`, false))
	for _, m := range bad.Ideas[1]["context"].([]any) {
		if m := m.(map[string]any); m["type"] == "state" {
			m["schema"] = map[string]any{"required": []any{"sent"}}
		}
	}
	h, err := Harden([]past.RecordedProcess{finishedRun(t, 1, sentRun(1)), bad}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	h.hasNote(t, "left out: p2, which failed: its State lacks sent")
	h.is(t, `[`+findCall+`,`+sendCall+`]`)
}

// branching is a process in which look took the first of its branches, and two Calls follow: one reads that branch, one
// either.
func branching(t *testing.T) *Result {
	t.Helper()
	const tools = `{"tools": {
		"look": {"type": "object", "properties": {}, "_activity": "look", "_outputPath": "†state.good || †state.bad"},
		"unused": {"type": "object", "properties": {"x": {"const": "†state.never"}}, "_activity": "unused", "_outputPath": "†state.nowhere"},
		"say": {"type": "object", "properties": {"x": {}}, "_activity": "say"}}}`
	const calls = `[{"_tool": "look"}, {"_tool": "say", "x": "†state.good", "_outputPath": "praise"},
		{"_tool": "say", "x": "†state.good || †state.bad", "_outputPath": "verdict"}]`
	idea := func(state, plan, solution string) map[string]any {
		return decoded(t, `{"meta": {"request": 1}, "schema": `+tools+`, "context": [{"type": "state", "state": `+state+`}`+plan+`],
			"solution": {"calls": `+solution+`, "output": null}}`)
	}
	h, err := Harden([]past.RecordedProcess{{ProcessID: "p", Ideas: []map[string]any{
		idea(`{}`, ``, calls),
		idea(`{"good": 1, "praise": 2, "verdict": 3}`, `, {"type": "plan", "plan": `+calls+
			`, "record": {"1.1": "done", "1.2": "done", "1.3": "done"}}`, `[]`),
	}}}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRequiredIsWhatEveryRunBringsWhicheverBranchItTakes(t *testing.T) {
	t.Parallel()
	schema := stateSchemaOf(branching(t))
	if got := string(jsonval.Encode(schema["required"])); got != `["verdict"]` {
		t.Errorf("required is %s", got)
	}
}

func TestTheClosedSchemaHasRoomForToolsThatNoRunUsed(t *testing.T) {
	t.Parallel()
	h := branching(t)
	properties := jsonval.AsObject(stateSchemaOf(h)["properties"])
	for _, k := range []string{"nowhere", "never", "bad"} {
		if properties[k] == nil {
			t.Errorf("it has no place for %s", k)
		}
	}
	idea, _ := ideafile.ReadIdea(h.Idea)
	if errs := check.Check(idea, nil).Errors(); len(errs) > 0 {
		t.Errorf("it does not pass the check: %s", errs)
	}
}

func stateSchemaOf(h *Result) map[string]any {
	idea, _ := ideafile.ReadIdea(h.Idea)
	return jsonval.AsObject(ideafile.InstanceViewOf(idea.Context, "").SchemaByKind[ideafile.TypeState])
}

// The instances of a split process, and their Calls, are in its parts: the process itself knows what they came to.
func TestASplitProcessIsHardenedFromItsParts(t *testing.T) {
	t.Parallel()
	part := func(name, token string, n int) past.RecordedProcess {
		p := finishedRun(t, n, sentRun(n))
		p.ProcessID = "p/" + name
		for _, idea := range p.Ideas {
			for _, m := range idea["context"].([]any) {
				if m := m.(map[string]any); m["type"] == "state" {
					m["_instance"] = token
				}
			}
		}
		return p
	}
	whole := finishedRun(t, 1, runFixture{start: "{}", end: "{}", record: "{}"})
	last := whole.Ideas[1]
	last["meta"] = map[string]any{"process": "p"}
	last["context"] = []any{last["context"].([]any)[0]}
	last["solution"] = map[string]any{"calls": []any{},
		"output": map[string]any{"sent": map[string]any{"①": true, "②": true}}}
	for n, token := range []string{"①", "②", "③"} {
		end := sentRun(n + 1).end
		m := decoded(t, `{"type": "state", "_instance": "`+token+`", "_status": "settled", "state": `+end+`}`)
		last["context"] = append(last["context"].([]any), m)
	}
	whole = past.RecordedProcess{ProcessID: "p", Ideas: []map[string]any{last},
		Parts: []past.RecordedProcess{part("~part/1", "①", 1), part("~part/2", "②", 2)}}
	h, err := Harden([]past.RecordedProcess{whole}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	h.is(t, `[`+findCall+`,`+sendCall+`]`)
	h.hasNote(t, `left out: ③ of p`)
	if m := planOf(t, h); string(jsonval.Encode(m.PlanOutput)) != `{"sent":"†state.sent"}` {
		t.Errorf("its output is %s", jsonval.Encode(m.PlanOutput))
	}
}
