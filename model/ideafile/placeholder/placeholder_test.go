package placeholder

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestATemplateIsCutAtItsPlaceholders(t *testing.T) {
	t.Parallel()
	text := func(s string) TemplatePart { return TemplatePart{Text: s} }
	name := func(s string) TemplatePart { return TemplatePart{PlaceholderName: s} }
	for template, want := range map[string][]TemplatePart{
		"":                   nil,
		"plain":              {text("plain")},
		"{a}":                {name("a")},
		"x{a}y{b.c-d}z":      {text("x"), name("a"), text("y"), name("b.c-d"), text("z")},
		"{a}{b}":             {name("a"), name("b")},
		"{名字}":               {name("名字")},
		"{{a}}":              {text("{a}")},
		"{{{a}}}":            {text("{{a}}")},
		"{":                  {text("{")},
		"{a":                 {text("{a")},
		"{}":                 {text("{}")},
		"{ a }":              {text("{ a }")},
		`{"a":{"b":1}}`:      {text(`{"a":{"b":1}}`)},
		`{"a":{b}}`:          {text(`{"a":`), name("b"), text("}")},
		"{.a} {-a}":          {text("{.a} {-a}")},
		"{{a}":               {text("{"), name("a")},
		"a}b{c":              {text("a}b{c")},
		"{a b}{c}":           {text("{a b}"), name("c")},
		"{_a1}\xff{b}":       {name("_a1"), text("\xff"), name("b")},
		"{{user.name}}{user": {text("{user.name}{user")},
	} {
		if got := Split(template); !reflect.DeepEqual(got, want) {
			t.Errorf("Split(%q) = %q, want %q", template, got, want)
		}
	}
}

func TestWhatIsNoPlaceholderStaysAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		template := rapid.StringOf(rapid.RuneFrom([]rune(`{}ab.-"$界 `))).Draw(t, "template")
		var b strings.Builder
		for _, p := range Split(template) {
			if p.PlaceholderName != "" {
				b.WriteString("{" + p.PlaceholderName + "}")
			} else {
				b.WriteString(p.Text)
			}
		}
		// Only the doubled braces of {{name}} may be missing.
		if !strings.Contains(template, "{{") && b.String() != template {
			t.Fatalf("%q became %q", template, b.String())
		}
	})
}

func TestANameIsFoundByItsKeyThenByItsPath(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"user":  map[string]any{"name": "Ada", "tags": []any{"x", map[string]any{"id": json.Number("7")}}},
		"a.b":   "whole key",
		"a":     map[string]any{"b": "path"},
		"empty": nil,
	}
	for name, want := range map[string]any{
		"user.name": "Ada", "user.tags.0": "x", "user.tags.1.id": json.Number("7"), "a.b": "whole key", "empty": nil,
	} {
		if got, ok := FindValue(values, name); !ok || got != want {
			t.Errorf("Find(%q) = %v, %v, want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"nobody", "user.age", "user.tags.2", "user.tags.-1", "user.tags.x", "user.name.x",
		"empty.x", "user."} {
		if got, ok := FindValue(values, name); ok {
			t.Errorf("Find(%q) = %v, want nothing", name, got)
		}
	}
	if RootKey(values, "a.b") != "a.b" || RootKey(values, "user.name") != "user" {
		t.Error("a name's root is the key that it reads")
	}
}

func TestAValueReadsInTextAsItWasWritten(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"": nil, "a<b": "a<b", "1.50": json.Number("1.50"), "true": true,
		`["<&>",null]`: []any{"<&>", nil}, `{"a":1.0}`: map[string]any{"a": json.Number("1.0")},
	} {
		if got := FormatValue(v); got != want {
			t.Errorf("Text(%v) = %q, want %q", v, got, want)
		}
	}
}
