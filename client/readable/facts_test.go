package readable_test

import (
	"strings"
	"testing"

	"processidea/client/readable"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestATellerStopsAndSaysHowMuchIsLeft(t *testing.T) {
	t.Parallel()
	big := map[string]any{}
	for n := range 1000 {
		big[strings.Repeat("k", n+1)] = "v"
	}
	told := readable.NewFactBuilder(shown.English).Build(map[string]any{"big": big})
	below := told.Facts[0]
	if n := len(below.Facts); n+below.HiddenCount != 1000 || n > readable.MaxFacts {
		t.Errorf("%d are told, and %d left", n, below.HiddenCount)
	}
	if !below.IsFolded || told.IsFolded {
		t.Error("what is large is folded below the first level alone")
	}
}

func TestWhereAValueComesFromIsSaidOfTheWholeOrOfItsParts(t *testing.T) {
	t.Parallel()
	from := func(path jsonval.Path, _ any) string {
		if len(path) > 0 && path[0] == "whole" {
			return "by one"
		}
		if path.String() == "parts.a" {
			return "by another"
		}
		return ""
	}
	teller := readable.NewFactBuilder(shown.English)
	teller.OriginOf = from
	f := teller.Build(map[string]any{"whole": map[string]any{"a": "x"},
		"parts": map[string]any{"a": "x", "b": "y"}})
	parts, whole := f.Facts[0], f.Facts[1]
	if whole.Origin != "by one" || whole.Facts[0].Origin != "" || parts.Origin != "" ||
		parts.Facts[0].Origin != "by another" ||
		parts.Facts[1].Origin != "" {
		t.Errorf("%+v", f)
	}
}

func TestMembersAreNamedAndOrderedAsTheirSchemaSays(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"_order": ["what", "in", "bookedAt"], "properties": {"bookedAt": {},
		"what": {"title": "Article"}, "in": {"properties": {"z": {"type": "string"}, "a": {"title": "First"}}}}}`)
	value := modeltest.MustDecodeJSON(`{"bookedAt": "x", "a_key": 1, "what": "y", "in": {"a": 1, "z": "2"}}`)
	f := readable.NewFactBuilder(shown.English).BuildAt(nil, "", shown.FormatOf(schema, schema), value)
	var names []string
	for _, one := range append(f.Facts, f.Facts[1].Facts...) {
		names = append(names, one.Name)
	}
	if got := strings.Join(names, ", "); got != "Article, In, Booked at, a_key, First, Z" {
		t.Error(got)
	}
}

func TestWhatIsNoDataIsSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	hidden := shown.Format{Properties: map[string]shown.Format{"id": {Display: shown.Hidden}}}
	for _, one := range []struct {
		value, want string
		language    shown.Language
	}{
		{`null`, "not given", shown.English}, {`true`, "yes", shown.English}, {`false`, "nein", shown.German},
		{`""`, "ein leerer Text", shown.German}, {`[]`, "none", shown.English}, {`{}`, "keine", shown.German},
		{`{"id": 7}`, "none", shown.English}, {`"nothing"`, "nothing", shown.German}, {`1.50`, "1.50", shown.German},
	} {
		got := readable.NewFactBuilder(one.language).BuildAt(nil, "", hidden, modeltest.MustDecodeJSON(one.value))
		if got.Text != one.want || len(got.Facts) > 0 {
			t.Errorf("%s is %+v, want %q", one.value, got, one.want)
		}
	}
}

// A page links to an address that a schema calls one, wherever it stands, if following it is safe.
func TestAddressesInAValueAreLinks(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"properties": {"files": {"type": "array", "items": {"properties": {
		"at": {"type": "string", "_display": "link"}, "scan": {"type": "string", "_display": "image"},
		"text": {"type": "string"}}}}}}`)
	hrefOf := func(member, text string) string {
		value := jsonval.Object{"files": []any{jsonval.Object{member: text}}}
		f := readable.NewFactBuilder(shown.English).BuildAt(nil, "", shown.FormatOf(schema, schema), value)
		got := f.Facts[0].Facts[0].Facts[0]
		if got.Text != readable.VisibleText(text) {
			t.Errorf("%s: the text is %q", text, got.Text)
		}
		return got.Href
	}
	const web = "https://shop.example/a?b=c"
	if hrefOf("at", web) != web || hrefOf("scan", web) != web || hrefOf("text", web) != "" {
		t.Errorf("%q, %q, %q", hrefOf("at", web), hrefOf("scan", web), hrefOf("text", web))
	}
	for _, text := range []string{"http://shop.example", "javascript:alert(1)", "data:text/html,x", "//shop.example",
		"none", "https://bank.example@evil.example/", "https://shop.example/\u202egnp.exe", "https:", "HTTPS//x"} {
		if got := hrefOf("at", text); got != "" {
			t.Errorf("%s leads to %s", text, got)
		}
	}
}
