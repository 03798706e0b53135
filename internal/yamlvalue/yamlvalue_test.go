package yamlvalue_test

import (
	"strings"
	"testing"

	"processidea/internal/yamlvalue"
	"processidea/model/diag"
	"processidea/model/jsonval"
)

func TestAYAMLFileMeansTheSameAsJSON(t *testing.T) {
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
	v, problem := yamlvalue.Decode([]byte(text))
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
		v, problem := yamlvalue.Decode([]byte(text))
		if problem == nil {
			t.Errorf("%.40q is read as %s", text, jsonval.Encode(v))
			continue
		}
		if problem.JSONPath != want.JSONPath || !strings.Contains(problem.Message, want.Message) {
			t.Errorf("%.40q: %s, want %s", text, problem, want)
		}
	}
}

func TestAliasesCannotBlowUp(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for n := '1'; n <= '9'; n++ {
		b.WriteString("a" + string(n) + ": &a" + string(n) + " [" + strings.Repeat("*a"+string(n-1)+", ", 9) + "x]\n")
	}
	if _, problem := yamlvalue.Decode([]byte(b.String())); problem == nil ||
		!strings.Contains(problem.Message, "expands to more than") {
		t.Errorf("the bomb is met with %v", problem)
	}
	if _, problem := yamlvalue.Decode([]byte("a: &a [*a]")); problem == nil {
		t.Error("a value that holds itself is read")
	}
}
