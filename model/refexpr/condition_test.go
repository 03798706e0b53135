package refexpr_test

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
)

// What a value that is too large to be looked at decides is undecided; what it does not decide is not.
func TestAConditionOnALargeValueIsUndecided(t *testing.T) {
	t.Parallel()
	large := jsonval.BlobHandle{Digest: strings.Repeat("a", 64), Size: jsonval.LargeValueBytes + 1, ValueType: "string"}
	form := large
	form.ValueType = "object"
	view := jsonval.Object{"state": jsonval.Object{"letter": large.AsJSONValue(), "n": 5},
		"input": jsonval.Object{"deep": jsonval.Object{"letter": large.AsJSONValue()}}, "form": form.AsJSONValue()}
	for _, c := range []struct {
		when, unless string
		want         refexpr.Verdict
	}{
		{`{"properties": {"state": {"required": ["letter"]}}}`, ``, refexpr.Do},
		{`{"properties": {"state": {"properties": {"n": {"minimum": 5}}}}}`, ``, refexpr.Do},
		{`{"properties": {"state": {"properties": {"n": {"minimum": 6}}}}}`, ``, refexpr.VerdictOmit},
		{`{"properties": {"state": {"required": ["other"]}}}`, ``, refexpr.VerdictOmit},
		{`{"properties": {"state": {"properties": {"letter": {"pattern": "refund"}}}}}`, ``, refexpr.VerdictUndecided},
		{`{"properties": {"state": {"properties": {"letter": {"type": "string", "pattern": "refund"}}}}}`, ``, refexpr.VerdictUndecided},
		{`{"properties": {"state": {"properties": {"letter": {"properties": {"to": {"const": "a"}}, "required": ["to"]}}}}}`, ``,
			refexpr.VerdictUndecided},
		{`{"properties": {"form": {"properties": {"kind": {"const": "a"}}}}}`, ``, refexpr.VerdictUndecided},
		{`{"properties": {"form": {"type": "object"}}}`, ``, refexpr.Do},
		{`{"properties": {"input": {"properties": {"deep": {"const": {}}}}}}`, ``, refexpr.VerdictUndecided},
		{`{"properties": {"state": {"properties": {"n": {"minimum": 6}}}}}`,
			`{"properties": {"state": {"properties": {"letter": {"maxLength": 10}}}}}`, refexpr.VerdictUndecided},
		{`{"properties": {"state": {"properties": {"n": {"minimum": 6}}}}}`, `{"properties": {"state": {"required": ["letter"]}}}`,
			refexpr.VerdictOmit},
	} {
		condition := refexpr.Condition{When: modeltest.DecodeJSON(t, c.when)}
		if c.unless != "" {
			condition.Unless = modeltest.DecodeJSON(t, c.unless)
		}
		if got := condition.Decide(view); got != c.want {
			t.Errorf("%s, unless %s: %d, want %d", c.when, c.unless, got, c.want)
		}
	}
}
