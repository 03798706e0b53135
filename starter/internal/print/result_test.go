package print

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func printed(t *testing.T, r loop.ProcessResult) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteResult(&b, r, InstanceNaming{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheOnlyInstanceIsPrintedKeyByKey(t *testing.T) {
	want(t, printed(t, loop.ProcessResult{
		ProcessID: "p", Status: loop.StatusCompleted, IdeaCount: 1, RequestCount: 2,
		Calls:  turn.CallCounts{Done: 1, Skipped: 2},
		Usage:  turn.TokenUsage{PromptTokens: 3, CompletionTokens: 4},
		Output: map[string]any{"n": json.Number("12345678901234567890"), "s": "<a> & ①"},
		Instances: map[string]loop.InstanceResult{"": {Status: ideafile.InstanceSettled, State: map[string]any{
			"text": "two\nlines", "list": []any{json.Number("1"), nil}, "a longer key": true,
		}}},
	}), `p: completed · 1 Idea · 2 Requests · calls: 1 done, 2 skipped · tokens: 3 in, 4 out

output
{
  "n": 12345678901234567890,
  "s": "<a> & ①"
}

settled
  a longer key  true
  list          [1,null]
  text          two lines
`)
}

func TestManyInstancesArePrintedAsATable(t *testing.T) {
	want(t, printed(t, loop.ProcessResult{
		ProcessID: "p", Status: loop.StatusFailed, Error: &diag.Fault{Code: "missing_required", Message: "no x"},
		Instances: map[string]loop.InstanceResult{
			"②":  {Status: ideafile.InstanceFailed, State: map[string]any{"text": strings.Repeat("long ", 20)}},
			"51": {Status: ideafile.InstanceWorking},
			"①":  {Status: ideafile.InstanceSettled, State: map[string]any{"mood": "good", "text": "ok"}},
		},
	}), `p: failed · 0 Ideas · 0 Requests
missing_required: no x

instance  status   mood  text
①         settled  good  ok
②         failed         long long long long long long long long lon…
51        working
`)
}

func TestATableIsNoWiderThanItCanBeRead(t *testing.T) {
	state := map[string]any{}
	for n := range 30 {
		state["key"+strconv.Itoa(n+1)] = strings.Repeat("x", 50)
	}
	one := loop.InstanceResult{Status: ideafile.InstanceSettled, State: state}
	text := printed(t, loop.ProcessResult{Instances: map[string]loop.InstanceResult{"①": one, "②": one}})
	for line := range strings.Lines(text) {
		if len([]rune(line)) > defaultTableWidth {
			t.Errorf("a line of %d characters", len([]rune(line)))
		}
	}
	if !strings.HasSuffix(text, "(27 keys more: --json shows all)\n") {
		t.Errorf("nothing is said of the keys left out:\n%s", text)
	}
}

func TestATableFitsTheTerminalAndTellsTheRowsApart(t *testing.T) {
	state := map[string]any{"judged": "the customer is right in all that he says about it", "z": "last"}
	one := loop.InstanceResult{Status: ideafile.InstanceSettled, State: state}
	instances := map[string]loop.InstanceResult{"①": one, "②": one}
	inputs := map[string]any{"①": map[string]any{"order": "R-1"}, "②": map[string]any{"order": "R-2"}}
	for width, lines := range map[int]string{
		50: `
instance  status   input  judged
①         settled  R-1    the customer is right i…
②         settled  R-2    the customer is right i…
(1 key more: --json shows all)
`,
		30: `
instance  status   input
①         settled  R-1
②         settled  R-2
(2 keys more: --json shows all)
`,
	} {
		var b strings.Builder
		printInstances(&b, instances, InstanceNaming{inputByInstanceToken: inputs}, width)
		want(t, b.String(), lines)
	}
}

// People read the name of a case and its money; the token stays, since commands take it.
func TestATableShowsNamesAndMoney(t *testing.T) {
	const money = `{"type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true}`
	idea := modeltest.IdeaFrom(t, `{"config": {"instanceName": "†`+"`order ${input.order}`"+`"}, "context": [
		{"type": "input", "_instance": "①", "input": {"order": "A-1", "cents": 229900}},
		{"type": "input", "_instance": "②", "input": {"order": "A-2", "cents": 5}},
		{"type": "input", "input": {}, "schema": {"properties": {"cents": `+money+`}}},
		{"type": "state", "state": {}, "schema": {"properties": {"paid": `+money+`}}}]}`)
	instances := map[string]loop.InstanceResult{}
	for _, token := range []string{"①", "②"} {
		instances[token] = loop.InstanceResult{Status: ideafile.InstanceSettled,
			State: map[string]any{"paid": json.Number("1250")}}
	}
	var b strings.Builder
	printInstances(&b, instances, InstanceNamingOf(idea, shown.German), 0)
	want(t, b.String(), `
instance       status   input               paid
order A-1 (①)  settled  2.299,00 EUR · A-1  12,50 EUR
order A-2 (②)  settled  0,05 EUR · A-2      12,50 EUR
`)
	one := modeltest.IdeaFrom(t, `{"config": {"instanceName": "†`+"`order ${input.order}`"+`"},
		"context": [{"type": "input", "input": {"order": "A-1"}}]}`)
	if got := InstanceNamingOf(one, shown.English).name(""); got != "order A-1" {
		t.Errorf("the only one is called %q", got)
	}
}

func TestTheValuesOfOneInstanceFitTheTerminal(t *testing.T) {
	one := map[string]loop.InstanceResult{"": {Status: ideafile.InstanceSettled,
		State: map[string]any{"answer": strings.Repeat("y", 200), "mood": "good"}}}
	for width, most := range map[int]int{40: 40, 120: 120, 0: MaxValueWidth + len("  answer  ")} {
		var b strings.Builder
		printInstances(&b, one, InstanceNaming{}, width)
		longest := 0
		for line := range strings.Lines(b.String()) {
			longest = max(longest, len([]rune(strings.TrimSuffix(line, "\n"))))
		}
		if longest != most {
			t.Errorf("%d characters at a width of %d", longest, width)
		}
	}
}

func TestDataDoesNotSteerTheTerminal(t *testing.T) {
	evil := "\x1b[2J\u009b31m\u202egood\a"
	text := printed(t, loop.ProcessResult{
		ProcessID: evil, Error: &diag.Fault{Code: "x", Message: evil}, Output: map[string]any{evil: evil},
		Instances: map[string]loop.InstanceResult{evil: {State: map[string]any{evil: evil}}, "b": {}},
	})
	if strings.ContainsAny(text, "\x1b\u009b\u202e\a") {
		t.Errorf("%q", text)
	}
}

func TestAnArgumentCanBePastedIntoAShell(t *testing.T) {
	for arg, want := range map[string]string{"a-b_c.json": "a-b_c.json", "a b": "'a b'", "": "''", "it's": `'it'\''s'`,
		"$HOME": "'$HOME'", "①": "'①'"} {
		if got := ShellQuote(arg); got != want {
			t.Errorf("%q is written %s, want %s", arg, got, want)
		}
	}
}

func TestWhyCallsDidNotSucceedIsPrintedOnceForEachReason(t *testing.T) {
	var failures turn.Failures
	for _, id := range []string{"1.1@1", "1.1@2", "1.1@3", "1.1@4", "1.1@5", "1.1@6"} {
		failures = failures.AddFailedCall(id, ideafile.CallFailed, "pay",
			diag.Fault{Code: ideafile.CodeToolFailed, Message: "the card is\nunknown"})
	}
	failures = failures.AddFailedCall("1.2@1", ideafile.CallBlocked, "ship",
		diag.Fault{Code: ideafile.CodeBlocked, Message: "†state.paid is not there"})
	r := loop.ProcessResult{ProcessID: "p", Status: loop.StatusCompleted, Calls: turn.CallCounts{Failed: 8, Blocked: 1},
		Failures: failures}
	want(t, printed(t, r), `p: completed · 0 Ideas · 0 Requests · calls: 8 failed, 1 blocked

why calls did not succeed
  failed pay: tool_failed: the card is unknown (6 Calls: 1.1@1, 1.1@2, 1.1@3, 1.1@4, 1.1@5, …)
  blocked ship: blocked: †state.paid is not there (1.2@1)
  (2 Calls more, for other reasons)
`)
}
