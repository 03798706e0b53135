package client

import (
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestTheDigestIsOfWhatAProcessStartsFromAndNotOfHowItIsWritten(t *testing.T) {
	t.Parallel()
	digest := func(text string, o StartOptions) string {
		o.Idea = ideaOf(t, text).Source
		return o.contentDigest()
	}
	const idea = `{"context":[{"type":"text","text":"a"}],"meta":{}}`
	first := digest(idea, StartOptions{ScriptedReplies: "r"})
	if got := digest(`{"meta": {}, "context": [{"text": "a", "type": "text"}]}`,
		StartOptions{ScriptedReplies: "r", ID: "x", ForkSourceID: "y"}); got != first {
		t.Error("the same start has another digest")
	}
	ordered := func(order string) StartOptions {
		tools := jsonval.Object{"t": modeltest.DecodeJSON(t, `{"properties": {"a": {"properties": {"c": {}}`+order+`}}`+order+`}`)}
		return StartOptions{ScriptedReplies: "r",
			DelegateFiles: IdeaFiles{"b.json": jsonval.Object{"schema": jsonval.Object{"tools": tools}}}}
	}
	if digest(idea, ordered("")) != digest(idea, ordered(`, "_order": ["c", "a"]`)) {
		t.Error("the order in which people are shown parameters counts")
	}
	delegate := func(text string) map[string]any {
		return map[string]any{"b.json": map[string]any{"context": []any{map[string]any{"type": "text", "text": text}}}}
	}
	seen := map[string]string{first: "the first"}
	for name, got := range map[string]string{
		"another Idea": digest(`{"context":[{"type":"text","text":"b"}],"meta":{}}`,
			StartOptions{ScriptedReplies: "r"}),
		"other replies":      digest(idea, StartOptions{ScriptedReplies: "r\nr"}),
		"its solution":       digest(idea, StartOptions{ScriptedReplies: "r", RunsSolution: true}),
		"a delegate":         digest(idea, StartOptions{ScriptedReplies: "r", DelegateFiles: delegate("deep")}),
		"a delegate changed": digest(idea, StartOptions{ScriptedReplies: "r", DelegateFiles: delegate("deeper")}),
	} {
		if seen[got] != "" {
			t.Errorf("%s has the digest of %s", name, seen[got])
		}
		seen[got] = name
	}
}

func TestAParsedIdeaHasItsParametersInTheFilesOrder(t *testing.T) {
	t.Parallel()
	const text = `{"schema": {"tools": {"pay": {"properties": {"to": {}, "amount": {}}}}}, "context": [{"type": "text", "text": "a"}]}`
	idea, err := ParseIdea([]byte(text))
	if got := string(jsonval.Encode(jsonval.Lookup(idea, "schema", "tools", "pay", "_order"))); got != `["to","amount"]` {
		t.Errorf("%s, %v", got, err)
	}
	sorted, err := ParseIdea(jsonval.Encode(modeltest.DecodeJSON(t, text)))
	first, again := StartOptions{Idea: idea}, StartOptions{Idea: sorted}
	if err != nil || first.contentDigest() != again.contentDigest() {
		t.Errorf("the same Idea, otherwise written, is another start: %v", err)
	}
}

func TestRowsWithGoValuesBecomeInstances(t *testing.T) {
	t.Parallel()
	o := StartOptions{
		Idea:         ideaOf(t, `{"context":[{"type":"state","_instance":"②","a":1}]}`).Source,
		InstanceRows: []map[string]any{{"n": 1, "list": []string{"x"}}, {"_instance": "x", "n": 2.5}},
	}
	if _, err := o.checkAndCompleteIdea(); err != nil {
		t.Fatal(err)
	}
	read, _ := ideafile.ReadIdea(o.Idea)
	want := `[{"_instance":"②","a":1,"type":"state"},{"_instance":"①","input":{"list":["x"],"n":1},"type":"input"},{"_instance":"x","input":{"n":2.5},"type":"input"}]`
	if got := string(jsonval.Encode(o.Idea["context"])); got != want || len(read.InstanceTokens()) != 3 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A map takes over three hundred bytes: each row has one, and its message another. Not parallel: it measures the memory
// of the program.
func TestTheRowsOfAStartAreCopiedNowhere(t *testing.T) {
	rows := make([]map[string]any, 50_000)
	for n := range rows {
		rows[n] = map[string]any{"order": strconv.Itoa(n), "amount": json.Number("129.90")}
	}
	o := StartOptions{Idea: ideaOf(t, `{"context":[{"type":"text","text":"t"}]}`).Source, InstanceRows: rows}
	before := heapBytes()
	read, err := o.checkAndCompleteIdea()
	if perRow := int64(heapBytes()-before) / int64(len(rows)); err != nil || perRow > 500 {
		t.Errorf("%d bytes a row, %v", perRow, err)
	}
	if tokens, _ := ideafile.ReadIdea(o.Idea); len(tokens.InstanceTokens()) != len(rows) {
		t.Errorf("%d instances", len(tokens.InstanceTokens()))
	}
	runtime.KeepAlive(read)
	runtime.KeepAlive(o)
}

// heapBytes is what the program's live objects take.
func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A named row is changed in a copy: three maps a row are too many. Not parallel: it measures the memory of the program.
func TestNamedRowsOfAStartGoOnceTheyAreCopied(t *testing.T) {
	const n = 50_000
	o := StartOptions{Idea: ideaOf(t, `{"context":[{"type":"text","text":"t"}]}`).Source}
	for i := range n {
		o.InstanceRows = append(o.InstanceRows, map[string]any{"_instance": "a" + strconv.Itoa(i),
			"amount": json.Number("1")})
	}
	before := heapBytes()
	_, err := o.checkAndCompleteIdea()
	if perRow := int64(heapBytes()-before) / n; err != nil || perRow > 500 {
		t.Errorf("%d bytes a row, %v", perRow, err)
	}
	runtime.KeepAlive(o.Idea)
}

// Else whoever may start had the chain say that it was forked from whatever process, and verify call it broken.
func TestOnlyAForkSaysWhereItComesFrom(t *testing.T) {
	t.Parallel()
	const claims = `{"context":[],"meta":{"origin":{"process":"paid","at":1,"digest":"d"},"path":"p"}}`
	for name, c := range map[string]struct {
		o     StartOptions
		keeps bool
	}{
		"a start": {StartOptions{}, false}, "a fork": {StartOptions{ForkSourceID: "paid"}, true},
		"what takes back": {StartOptions{isUndo: true}, true},
	} {
		c.o.Idea, c.o.DelegateFiles = ideaOf(t, claims).Source, IdeaFiles{"d.json": ideaOf(t, claims).Source}
		if _, err := c.o.checkAndCompleteIdea(); err != nil {
			t.Fatal(err)
		}
		for _, idea := range []any{c.o.Idea, c.o.DelegateFiles["d.json"]} {
			if meta := jsonval.AsObject(jsonval.Lookup(idea, "meta")); (meta["origin"] != nil) != c.keeps || meta["path"] != "p" {
				t.Errorf("%s: %v", name, meta)
			}
		}
	}
}

func TestAStartPutsTheFilesOfInstructionsWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	named := map[string]any{"type": "instruction", "file": "p.json"}
	policy := jsonval.ToJSONValue(map[string]any{"instruction": map[string]any{"text": "Be kind."}})
	o := StartOptions{Idea: ideaOf(t, `{"context":[{"type":"instruction","file":"p.json"}]}`).Source,
		InstanceRows: []map[string]any{{"type": "instruction", "file": "p.json", "_instance": "x"}},
		DelegateFiles: IdeaFiles{"p.json": policy, "d/e.json": map[string]any{"context": []any{named}},
			"d/p.json": policy}}
	if _, err := o.checkAndCompleteIdea(); err != nil {
		t.Fatal(err)
	}
	read, _ := ideafile.ReadIdea(o.Idea)
	for n, m := range read.Context {
		if m.Instruction == nil || m.Text != "Be kind." {
			t.Errorf("message %d is %+v", n, m)
		}
	}
	inner := jsonval.AsObject(o.DelegateFiles["d/e.json"])["context"].([]any)[0]
	if !jsonval.Equal(jsonval.AsObject(inner)["instruction"], policy) {
		t.Errorf("the delegate has %v", inner)
	}
}

func TestAnIdeaThatBreaksItsFormIsRefusedWithEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := ParseIdea([]byte(`{"contxt": [], "context": [{"type": "note"}]}`))
	var invalid *InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, ErrInvalid) || len(invalid.Problems) != 2 {
		t.Errorf("%v", err)
	}
	if _, err := ParseIdea([]byte(`{`)); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
	o := StartOptions{Idea: map[string]any{"contxt": []any{}}}
	if _, err := o.checkAndCompleteIdea(); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func TestADecisionThatBreaksItsFormIsInvalid(t *testing.T) {
	t.Parallel()
	for _, d := range []Decision{
		{}, {Kind: "allow", CallID: "1.1"}, {Kind: Approve}, {Kind: Reject, CallID: "1.1"},
		{Kind: Amend, CallID: "1.1"},
		{Kind: Replace, CallID: "1.1", Value: []any{}},
	} {
		if err := d.Validate(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v gives %v", d, err)
		}
	}
	for _, d := range []Decision{
		{Kind: Approve, CallID: "1.1"}, {Kind: Reject, CallID: "1.1", Reason: "no"},
		{Kind: Amend, CallID: "1.1", Value: map[string]any{}}, {Kind: Answer, CallID: "1.1"},
	} {
		if err := d.Validate(); err != nil {
			t.Errorf("%+v gives %v", d, err)
		}
	}
}
