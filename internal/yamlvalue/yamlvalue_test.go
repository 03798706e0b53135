package yamlvalue_test

import (
	"strings"
	"testing"

	"processidea/internal/yamlvalue"
	"processidea/model/diag"
	"processidea/model/jsonval"
)

func TestAYAMLFileMeansTheSameAsJSON(t *testing.T) {
	t.Parallel()
	const text = `
# a comment
meta: {path: "m", version: 1.10}
big: 12345678901234567890
exact: 0.12345678901234567890123
small: -1e-7
yes_is_a_text: yes
date: 2026-11-21
nothing: ~
truth: True
tagged: [!!int 7, !!str 7, "7"]
block: |
  two
  lines
folded: >-
  one
  line
list: [1, "1", null]
again: &a {x: [1]}
alias: *a
2026: a number as a key
`
	v, _, problem := yamlvalue.Decode([]byte(text))
	if problem != nil {
		t.Fatal(problem)
	}
	want :=
		`{"2026":"a number as a key","again":{"x":[1]},"alias":{"x":[1]},"big":12345678901234567890,"block":"two\nlines\n",` +
			`"date":"2026-11-21","exact":0.12345678901234567890123,"folded":"one line","list":[1,"1",null],` +
			`"meta":{"path":"m","version":1.10},"nothing":null,"small":-1e-7,"tagged":[7,"7","7"],"truth":true,"yes_is_a_text":"yes"}`
	if got := string(jsonval.Encode(v)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatJSONCannotSayIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]diag.Problem{
		"a: 1\nb:\n  c: 1\n  c: 2\n":      {JSONPath: "$.b.c", Message: "line 4: the key stands twice"},
		"a: .inf":                         {JSONPath: "$.a", Message: "line 1: .inf is no number as JSON writes it"},
		"a: 0x1F":                         {JSONPath: "$.a", Message: "0x1F is no number"},
		"a: 010":                          {JSONPath: "$.a", Message: "010 is no number"},
		"a: 1_000":                        {JSONPath: "$.a", Message: "1_000 is no number"},
		"a: [1, 1e999]":                   {JSONPath: "$", Message: "$.a[1]: the number 1e999 is out of range"},
		"a: !!binary aGk=":                {JSONPath: "$.a", Message: "JSON has no !!binary"},
		"a: !mine 1":                      {JSONPath: "$.a", Message: "JSON has no !mine"},
		"? [1, 2]\n: x":                   {JSONPath: "$", Message: "a key must be a text"},
		"a: &a {x: 1}\nb: {<<: *a}":       {JSONPath: "$.b", Message: "merge keys are not read"},
		"a: 1\n---\nb: 2":                 {JSONPath: "$", Message: "a second document"},
		"a: [1":                           {JSONPath: "$", Message: "line 1: did not find expected"},
		"":                                {JSONPath: "$", Message: "the file is empty"},
		strings.Repeat("[", 300):          {JSONPath: "$", Message: ""},
		"a: " + strings.Repeat("- ", 150): {JSONPath: "$", Message: ""},
	} {
		v, _, problem := yamlvalue.Decode([]byte(text))
		if problem == nil {
			t.Errorf("%.40q is read as %s", text, jsonval.Encode(v))
			continue
		}
		if problem.JSONPath != want.JSONPath || !strings.Contains(problem.Message, want.Message) {
			t.Errorf("%.40q: %s, want %s", text, problem, want)
		}
	}
}

func TestAForeignFileKeepsEveryValueWhateverItsSpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0x1F": "31", "-0x1f": "-31", "0o17": "15", "0b11": "3", "1_000": "1000", "+49": "49", "-.5": "-0.5",
		".5": "0.5", "5.": "5", "5.e3": "5e3", "+1_0.5_0": "10.50", "9_007_199_254_740_993": "9007199254740993",
		"9007199254740993": "9007199254740993", "0x7FFFFFFFFFFFFFFF": "9223372036854775807",
		// No number of JSON for sure: as written.
		"010": `"010"`, "-007": `"-007"`, "08": `"08"`, "0010.5": `"0010.5"`, "1e400": `"1e400"`, ".inf": `".inf"`,
		"-.INF": `"-.INF"`, ".nan": `".nan"`, "+49 30": `"+49 30"`, "1:30": `"1:30"`, `"0x1F"`: `"0x1F"`,
		"!!str 0x1F": `"0x1F"`,
	} {
		v, _, problem := yamlvalue.DecodeLenient([]byte("a:\n  const: null\n  odd: " + text))
		if problem != nil {
			t.Errorf("%s: %s", text, problem)
		} else if got := string(jsonval.Encode(v)); got != `{"a":{"const":null,"odd":`+want+`}}` {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	v, _, problem := yamlvalue.DecodeLenient([]byte(
		"a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], x: 0}\nd: {<<: *b}"))
	if problem != nil {
		t.Fatal(problem)
	}
	if got := string(jsonval.Encode(v)); !strings.Contains(got, `"c":{"x":0,"y":1,"z":2},"d":{"y":2,"z":2}`) {
		t.Error(got)
	}
	if _, _, problem := yamlvalue.DecodeLenient([]byte("a: 1\nb: {c: 1, c: 0x1F}")); problem == nil ||
		!strings.HasPrefix(problem.Message, "line 2: ") {
		t.Errorf("a key that stands twice: %v", problem)
	}
}

func TestAliasesCannotBlowUp(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for n := '1'; n <= '9'; n++ {
		b.WriteString("a" + string(n) + ": &a" + string(n) + " [" + strings.Repeat("*a"+string(n-1)+", ", 9) + "x]\n")
	}
	if _, _, problem := yamlvalue.Decode([]byte(b.String())); problem == nil ||
		!strings.Contains(problem.Message, "expands to more than") {
		t.Errorf("the bomb is met with %v", problem)
	}
	if _, _, problem := yamlvalue.Decode([]byte("a: &a [*a]")); problem == nil {
		t.Error("a value that holds itself is read")
	}
}
