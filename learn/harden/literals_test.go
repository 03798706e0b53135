package harden

import (
	"fmt"
	"strings"
	"testing"

	"processidea/learn/past"
	"processidea/model/jsonval"
)

// foundRun is a finished process with one Call of the Tool find, whose id is a literal.
func foundRun(start, id string) runFixture {
	return runFixture{
		start: start, end: strings.TrimSuffix(start, "}") + `, "item": "it"}`,
		calls:  []string{`{"_tool": "find", "id": ` + id + `, "_outputPath": "item"}`},
		record: `{"1.1": {"done": 1}}`,
	}
}

// hasNote fails the test unless one of the notes holds a text.
func (h *Result) hasNote(t *testing.T, want string) {
	t.Helper()
	for _, note := range h.Notes {
		if strings.Contains(note, want) {
			return
		}
	}
	t.Errorf("no note says %q: %s", want, strings.Join(h.Notes, "\n"))
}

func TestALiteralThatEqualsAnInputIsAReferenceOrIsNamed(t *testing.T) {
	t.Parallel()
	found := func(id string) string { return `[{"_tool": "find", "id": ` + id + `, "_outputPath": "†state.item"}]` }
	named := func(what, places string) string {
		return `find → †state.item: parameter "id" is always ` + what + `, which also stands at ` +
			places + `: it is unclear which is meant`
	}
	for name, c := range map[string]struct {
		starts      []string
		plan, named string
	}{
		"the element of a list, the same everywhere": {[]string{`{"items": ["a1", "b2"]}`, `{"items": ["c3", "b2"]}`},
			found(`"b2"`), named(`"b2"`, "†state.items.1")},
		"the element of a list, in one instance": {[]string{`{"items": ["a1", "b2"]}`}, found(`"b2"`),
			named(`"b2"`, "†state.items.1")},
		"inside an object in a list": {[]string{`{"o": {"items": [{"sku": "b2"}]}}`}, found(`"b2"`),
			named(`"b2"`, "†state.o.items.0.sku")},
		"at two places": {[]string{`{"o": {"a": "b2"}, "items": ["b2"]}`}, found(`"b2"`),
			named(`"b2"`, "†state.items.0 and at †state.o.a")},
		"at one place that is in no list": {[]string{`{"o": {"a": "b2"}}`}, found(`"†state.o.a"`), ""},
		"at one place that has the parameter's name": {[]string{`{"o": {"id": "b2"}, "items": ["b2"]}`},
			found(`"†state.o.id"`), ""},
		"nowhere":                 {[]string{`{"items": ["a1"]}`}, found(`"b2"`), ""},
		"in some instances alone": {[]string{`{"items": ["b2"]}`, `{"items": ["c3"]}`}, found(`"b2"`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []runFixture
			for _, start := range c.starts {
				runs = append(runs, foundRun(start, `"b2"`))
			}
			if c.named == "" {
				hardenRuns(t, runs...).is(t, c.plan)
			} else {
				hardenRuns(t, runs...).is(t, c.plan, c.named)
			}
		})
	}
}

func TestANumberIsTheInputsHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for written, start := range map[string]string{"1.1": "1.10", "1e2": "100", "100": "100.0",
		"9007199254740993.0": "9007199254740993", "9007199254740993": ""} {
		reference := `"†state.n"`
		if start == "" {
			start, reference = "9007199254740992", written
		}
		find := `{"_tool": "find", "id": "b2", "n": %s, "_outputPath": "†state.item"}`
		run := foundRun(`{"n": `+start+`}`, "")
		run.calls = []string{fmt.Sprintf(find, written)}
		hardenRuns(t, run).is(t, "["+fmt.Sprintf(find, reference)+"]")
	}
}

func TestALiteralThatDiffersAsTheElementOfAListDoesIsAReference(t *testing.T) {
	t.Parallel()
	h := hardenRuns(t, foundRun(`{"items": ["a1", "b2"]}`, `"b2"`), foundRun(`{"items": ["a1", "c3"]}`, `"c3"`))
	h.is(t, `[{"_tool": "find", "id": "†state.items.1", "_outputPath": "†state.item"}]`)
	h.hasNote(
		t,
		`parameter "id" is †state.items.1, a fixed place in a list: an input with more or fewer elements needs another Plan`)
}

// A flag or a digit is what it is by chance too often to be in the way of an optimal Plan.
func TestAFlagOrADigitThatEqualsAnInputIsNoted(t *testing.T) {
	t.Parallel()
	h := hardenRuns(t, foundRun(`{"shelf": "7", "n": 1}`, `"7"`), foundRun(`{"shelf": "7", "n": 2}`, `"7"`))
	h.is(t, `[{"_tool": "find", "id": "7", "_outputPath": "†state.item"}]`)
	h.hasNote(
		t,
		`not generalised: find → †state.item: parameter "id" is always "7", which stands at †state.shelf too: it stays as it is`)
}

func TestALiteralThatStoodElsewhereInEachInstanceIsNoted(t *testing.T) {
	t.Parallel()
	h := hardenRuns(t, foundRun(`{"items": ["b2", "c3"]}`, `"b2"`), foundRun(`{"items": ["c3", "b2"]}`, `"b2"`))
	h.is(t, `[{"_tool": "find", "id": "b2", "_outputPath": "†state.item"}]`)
	h.hasNote(
		t,
		`is always "b2", which every instance had at the start, but each at another place (†state.items.0 in p1)`)
}

func TestOfOneInstanceConstantsAreBelievedAndNamed(t *testing.T) {
	t.Parallel()
	one := foundRun(`{"shelf": "A1"}`, `"b2"`)
	h := hardenRuns(t, one)
	h.hasNote(
		t,
		`there is one instance: constants cannot be told from inputs. Kept for every input: find → †state.item: parameter "id" = "b2"`)
	hardenRuns(t, one, one).hasNote(t, "all instances started alike: constants cannot be told from inputs")
	for _, note := range hardenRuns(t, one, foundRun(`{"shelf": "B2"}`, `"b2"`)).Notes {
		t.Errorf("of two instances it notes %q", note)
	}
}

func TestTheLiteralsOfAnOutputAreJudgedToo(t *testing.T) {
	t.Parallel()
	runs := []past.RecordedProcess{}
	for n := 1; n <= 2; n++ {
		p := finishedRun(t, n, foundRun(fmt.Sprintf(`{"order": "o%d", "shop": ["north"]}`, n), `"†state.order"`))
		p.Ideas[1]["solution"].(map[string]any)["output"] = map[string]any{"item": "†state.item", "where": "north"}
		runs = append(runs, p)
	}
	h, err := Harden(runs, nil, false)
	if err != nil || len(h.Differences) != 1 ||
		h.Differences[0].Description != `the output "where" is always "north", which also stands at †state.shop.0: it is unclear which is meant` {
		t.Errorf("%v: %v", err, h.Differences)
	}
}

// A flag in an output is not found in State by chance: its place must have its name, or hold what several outputs were.
func TestAFlagOfAnOutputIsWiredOnlyWhereThatIsCertain(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{`{"sent": true}`: `{"sent":"†state.sent"}`, `{"ok": true}`: "null"} {
		p := sentRun(1)
		p.output = output
		if m := planOf(t, hardenRuns(t, p)); string(jsonval.Encode(m.PlanOutput)) != want {
			t.Errorf("%s is wired as %s", output, jsonval.Encode(m.PlanOutput))
		}
	}
}
