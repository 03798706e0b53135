package refexpr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

func TestAnExpressionIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a plain Reference is one", "†state.a", "†state.a"},
		{"spaces around a sign are free", "†state.a||†state.b  &&†input.c", "†state.a || †state.b && †input.c"},
		{"a sign in a quoted step is part of it", `†state["a || b"] || †state["x&&y"].z`,
			`†state["a || b"] || †state["x&&y"].z`},
		{"one bar and one ampersand are no signs", "†state.a|b && †state.c&d", "†state.a|b && †state.c&d"},
		{"indexes and whole kinds are terms too", "†state || †items[0].x", "†state || †items.0.x"},
	} {
		e, err := refexpr.ParseExpression(c.text)
		if err != nil || e.String() != c.want {
			t.Errorf("%s: %q, %v", c.name, e, err)
		}
	}
}

func TestABadExpressionIsAnError(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a term has no dagger": "†state.a || state.b", "a term is missing": "†state.a ||",
		"the first is missing": "|| †state.a",
		"three bars":           "†state.a ||| †state.b", "a literal as a default": `†state.a || "none"`,
		"a doubled dagger": "†state.a || ††b",
		"too many terms":   strings.Repeat("†state.a || ", refexpr.MaxTerms) + "†state.a",
		"parentheses":      "†state.a && (†state.b || †state.c)",
	} {
		if e, err := refexpr.ParseExpression(text); err == nil {
			t.Errorf("%s: %q is read as %q", name, text, e)
		}
	}
}

// drawnTerm draws a Reference, some with steps that need quotes.
func drawnTerm(t *rapid.T) refexpr.Reference {
	step := rapid.SampledFrom([]string{"a", "b", "0", "a||b", "c && d", `q"uote`, "dot.ted", "†"})
	return refexpr.Reference{Kind: rapid.SampledFrom([]string{"state", "input"}).Draw(t, "kind"),
		Path: jsonval.Path(rapid.SliceOfN(step, 0, 3).Draw(t, "path"))}
}

func TestAnExpressionIsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var e refexpr.Expression
		for range rapid.IntRange(1, 3).Draw(rt, "alternatives") {
			e = append(e, rapid.SliceOfN(rapid.Custom(drawnTerm), 1, 3).Draw(rt, "terms"))
		}
		back, err := refexpr.ParseExpression(e.String())
		if err != nil || back.String() != e.String() || len(back) != len(e) {
			rt.Fatalf("%q is read as %q, %v", e, back, err)
		}
		for i := range e {
			if len(back[i]) != len(e[i]) {
				rt.Fatalf("%q is read as %q", e, back)
			}
		}
	})
}

func TestAnOutputPathInJSONIsAPlainPathOrAnExpression(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"a.b": `"a.b"`, "†state": `""`, "†state.a && b": `"†state.a \u0026\u0026 †state.b"`,
		`†state["x||y"]`:      `"[\"x||y\"]"`,
		"ok || failed && log": `"†state.ok || †state.failed \u0026\u0026 †state.log"`,
	} {
		o, err := refexpr.ParseOutputPath(written)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(o)
		if err != nil || string(data) != want {
			t.Errorf("%s is %s in JSON, %v", written, data, err)
		}
		var back refexpr.OutputPath
		if err := json.Unmarshal(data, &back); err != nil || back.ReferenceText() != o.ReferenceText() ||
			len(back) != len(o) {
			t.Errorf("%s came back as %q, %v", data, back, err)
		}
	}
	var none struct {
		Path refexpr.OutputPath `json:"path"`
	}
	if data, err := json.Marshal(none); err != nil || string(data) != `{"path":null}` {
		t.Errorf("none is %s, %v", data, err)
	}
	if err := json.Unmarshal([]byte(`{"path":null}`), &none); err != nil || none.Path != nil {
		t.Errorf("none came back as %q, %v", none.Path, err)
	}
}
