package refexpr_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
)

var templateView = map[string]any{"state": map[string]any{"id": "A-1", "n": modeltest.MustDecodeJSON("7"), "none": nil,
	"o": map[string]any{"a}": "brace"}, "evil": "†`${state.id}`"}}

func lookupInView(r refexpr.Reference) (any, bool) {
	return jsonval.ValueAt(templateView[r.Kind], r.Path)
}

func TestATemplateIsATextWithValuesInIt(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"†`Order ${state.id} has ${state.n}.`":    "Order A-1 has 7.",
		"†``":                                     "",
		"†`plain`":                                "plain",
		"†`${state.id}${state.id}`":               "A-1A-1",
		"†`${†state.id}`":                         "A-1",
		"†`${state.gone || state.id}!`":           "A-1!",
		"†`${state.n && state.id}`":               "A-1",
		"†`${state.none}`":                        "null",
		"†`${state.o}`":                           `{"a}":"brace"}`,
		"†`${state.o[\"a}\"]}`":                   "brace",
		"†`costs $${5} and $${state.id}, $5 {x}`": "costs ${5} and ${state.id}, $5 {x}",
		"†`it says `so``":                         "it says `so`",
		"†`${state.evil}`":                        "†`${state.id}`",
		"††`${state.id}`":                         "†`${state.id}`",
	} {
		got, err := refexpr.ResolveReferences(template, lookupInView)
		if err != nil || got != want {
			t.Errorf("%s gives %v, %v; want %s", template, got, err, want)
		}
	}
}

func TestABadTemplateSaysWhy(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"†`open":            "does not end with `",
		"†`${state.id`":     "a ${ has no }",
		"†`${}`":            "bad kind",
		"†`${state.a || }`": "bad kind",
		"†`${state.gone}`":  "reference †state.gone: nothing there",
		"†`" + strings.Repeat("${state.id}", 257) + "`": "more than 256 values",
	} {
		if _, err := refexpr.ResolveReferences(template, lookupInView); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", template, err)
		}
	}
	large := func(refexpr.Reference) (any, bool) { return modeltest.NewBlobHandleValue("string", 70_000), true }
	if _, err := refexpr.ResolveReferences("†`${state.id}`", large); err == nil ||
		!strings.Contains(err.Error(), "over 64 KB") {
		t.Errorf("a value that lies in the store: %v", err)
	}
}

func TestATemplateReadsWhatStandsInIt(t *testing.T) {
	t.Parallel()
	refs, err := refexpr.FindReferences(map[string]any{"a": "†`x ${state.a || input.b} ${state.c && state.d}`",
		"b": []any{"†state.e"}})
	var text []string
	for _, r := range refs {
		text = append(text, r.String())
	}
	if got := strings.Join(text, " "); err != nil || got != "†state.a †input.b †state.c †state.d †state.e" {
		t.Errorf("it reads %s: %v", got, err)
	}
}

// Whatever texts are put around and into a Template come out as they are.
func TestAnyTextGoesThroughATemplateUnchanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, value, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "value"),
			rapid.String().Draw(t, "after")
		escape := func(s string) string { return strings.ReplaceAll(s, "${", "$${") }
		if strings.HasSuffix(before, "$") {
			return // $${ would be a literal
		}
		got, err := refexpr.ResolveReferences("†`"+escape(before)+"${state.x}"+escape(after)+"`",
			func(refexpr.Reference) (any, bool) { return value, true })
		if err != nil || got != before+value+after {
			t.Fatalf("%v: %v", got, err)
		}
	})
}
