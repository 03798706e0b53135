package builtin

import (
	"fmt"
	"strings"
	"testing"

	"processidea/tools"
)

const spamRules = `[
	{"when":{"properties":{"hits":{"minimum":3}},"required":["hits"]},"decision":"remove","reason":"spam"},
	{"when":{"properties":{"mood":{"const":"negative"},"hits":{"minimum":1}},"required":["mood","hits"]},"decision":"review","reason":"angry and suspicious"},
	{"when":{"properties":{"mail":{"format":"email"}},"required":["mail"]},"decision":"keep"}]`

func TestTheFirstRuleThatHoldsDecides(t *testing.T) {
	t.Parallel()
	for facts, want := range map[string]string{
		`{"hits":3,"mood":"negative"}`: `{"decision":"remove","reason":"spam","rule":0}`,
		`{"hits":1,"mood":"negative"}`: `{"decision":"review","reason":"angry and suspicious","rule":1}`,
		`{"hits":1,"mail":"a@b.org"}`:  `{"decision":"keep","reason":"","rule":2}`,
		`{"mail":"no address"}`:        `{"decision":"ask","reason":"no rule","rule":null}`,
		`{}`:                           `{"decision":"ask","reason":"no rule","rule":null}`,
	} {
		got, err := call(t, "decide", `{"facts":`+facts+`,"rules":`+spamRules+
			`,"otherwise":{"decision":"ask","reason":"no rule"}}`)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", facts, got, err, want)
		}
	}
	for rules, want := range map[string]string{
		`[{"when":true,"decision":"a"}]`:                                                `{"decision":"a","reason":"","rule":0}`,
		`[{"when":false,"decision":"a"},{"when":{},"decision":"b"}]`:                    `{"decision":"b","reason":"","rule":1}`,
		`[{"when":{"properties":{"n":{"const":9007199254740993}}},"decision":"exact"}]`: `{"decision":"exact","reason":"","rule":0}`,
	} {
		if got, err := call(t, "decide", `{"facts":{"n":9007199254740993},"rules":`+rules+`}`); err != nil ||
			got != want {
			t.Errorf("%s: %s, %v, want %s", rules, got, err, want)
		}
	}
}

func TestATableThatCannotBeReadIsAFinalError(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]string{
		`[]`:                              "no rule holds, and there is no otherwise",
		`[{"when":false,"decision":"a"}]`: "no rule holds",
		// Whether a table is sound does not depend on the facts: the last rule is read too.
		`[{"when":true,"decision":"a"},{"when":{"type":"frob"},"decision":"b"}]`: "rule 1: when:",
		`[{"when":7,"decision":"a"}]`:                                            "rule 0: when:",
		`[{"decision":"a"}]`:                                                     `"rules[0].when" is missing`,
		`[{"when":{"pattern":"(?=a)"},"decision":"a"}]`:                          "rule 0: when:",
		`[{"when":{"$ref":"#"},"decision":"a"}]`:                                 "or only itself",
		`[{"when":{"$ref":"file:///etc/passwd"},"decision":"a"}]`:                "nothing is ever loaded",
		`[{"when":{"$ref":"https://a.org/s.json"},"decision":"a"}]`:              "nothing is ever loaded",
		`[{"when":{"$schema":"https://a.org/meta"},"decision":"a"}]`:             "nothing is ever loaded",
		`[{"when":{"minimum":1e10000000},"decision":"a"}]`:                       "out of range",
		`[{"when":` + doubling(40) + `,"decision":"a"}]`:                         "its references multiply",
	} {
		got, err := call(t, "decide", `{"facts":{"a":1},"rules":`+rules+`}`)
		if err == nil || !tools.IsFinal(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %q", rules, got, err, want)
		}
	}
	if _, err := call(t, "decide",
		`{"facts":{"a":1e10000000},"rules":[{"when":{"properties":{"a":{"type":"integer"}}},"decision":"a"}]}`); err == nil || !tools.IsFinal(err) {
		t.Errorf("facts: %v", err)
	}
}

// doubling is a schema of so many parts, each of which refers to the next twice.
func doubling(parts int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/p0","$defs":{`)
	for n := range parts {
		fmt.Fprintf(&b, `"p%d":{"allOf":[{"$ref":"#/$defs/p%d"},{"$ref":"#/$defs/p%d"}]},`, n, n+1, n+1)
	}
	fmt.Fprintf(&b, `"p%d":{}}}`, parts)
	return b.String()
}
