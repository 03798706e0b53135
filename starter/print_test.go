package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

func printed(t *testing.T, r loop.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := printResult(&b, r); err != nil {
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
	want(t, printed(t, loop.Result{
		Process: "p", Status: loop.StatusCompleted, Ideas: 1, Requests: 2, Calls: turn.CallCounts{Done: 1, Skipped: 2},
		Usage: turn.Usage{PromptTokens: 3, CompletionTokens: 4}, Output: map[string]any{"n": json.Number("12345678901234567890"), "s": "<a> & ①"},
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
	want(t, printed(t, loop.Result{
		Process: "p", Status: loop.StatusFailed, Error: &diag.Fault{Code: "missing_required", Message: "no x"},
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
		state["key"+tokenName(n+1)] = strings.Repeat("x", 50)
	}
	one := loop.InstanceResult{Status: ideafile.InstanceSettled, State: state}
	text := printed(t, loop.Result{Instances: map[string]loop.InstanceResult{"①": one, "②": one}})
	for line := range strings.Lines(text) {
		if len([]rune(line)) > widestTable {
			t.Errorf("a line of %d characters", len([]rune(line)))
		}
	}
	if !strings.HasSuffix(text, "(27 keys more: --json shows all)\n") {
		t.Errorf("nothing is said of the keys left out:\n%s", text)
	}
}

func TestDataDoesNotSteerTheTerminal(t *testing.T) {
	evil := "\x1b[2J\u009b31m\u202egood\a"
	text := printed(t, loop.Result{
		Process: evil, Error: &diag.Fault{Code: "x", Message: evil}, Output: map[string]any{evil: evil},
		Instances: map[string]loop.InstanceResult{evil: {State: map[string]any{evil: evil}}, "b": {}},
	})
	if strings.ContainsAny(text, "\x1b\u009b\u202e\a") {
		t.Errorf("%q", text)
	}
}

func TestJSONIsOneLineWithEverythingAsItWas(t *testing.T) {
	var b bytes.Buffer
	a := &app{out: &b, json: true}
	if err := a.finish(loop.Result{Process: "p", Status: loop.StatusCompleted, Output: "<a> & \u2028",
		Instances: map[string]loop.InstanceResult{"": {Status: ideafile.InstanceSettled, State: map[string]any{}}}}); err != nil {
		t.Fatal(err)
	}
	want(t, b.String(), `{"process":"p","status":"completed","output":"<a> & \u2028","instances":{"":{"status":"settled","state":{}}},`+
		`"ideas":0,"requests":0,"calls":{"done":0,"failed":0,"rejected":0,"skipped":0,"blocked":0},`+
		`"usage":{"promptTokens":0,"completionTokens":0},"error":null}`+"\n")
}

func viewOf(status loop.ProcessStatus, waiting string) sight {
	return sight{view: protocol.ProcessView{
		Waiting: []string{waiting},
		Result: loop.Result{Status: status, Calls: turn.CallCounts{Done: 2, Failed: 1}, Instances: map[string]loop.InstanceResult{
			"①": {Status: ideafile.InstanceSettled}, "②": {Status: ideafile.InstanceWorking},
		}},
	}}
}

func TestProgressIsALineForEveryChange(t *testing.T) {
	var b bytes.Buffer
	p := &progress{out: &b, id: "p"}
	for range 3 {
		p.show(viewOf(loop.StatusRunning, "Request 1"))
	}
	p.show(viewOf(loop.StatusPaused, "paused:\nno"))
	p.clear()
	want(t, b.String(), "p: running · Request 1 · 1 working, 1 settled · calls: 2 done, 1 failed\n"+
		"p: paused · paused: no · 1 working, 1 settled · calls: 2 done, 1 failed\n")
}

func TestAtATerminalProgressIsOneLineInPlace(t *testing.T) {
	var b bytes.Buffer
	p := &progress{out: &b, id: "p", width: func() int { return 20 }}
	p.show(viewOf(loop.StatusRunning, "Request 1"))
	p.show(viewOf(loop.StatusRunning, "Request 1"))
	p.clear()
	want(t, b.String(), "\r\x1b[Kp: running · Reque…\r\x1b[K")
}

func TestAProcessThatNobodyAnswersForIsSaidSoAfterAWhile(t *testing.T) {
	var b bytes.Buffer
	p := &progress{out: &b, id: "p", grace: time.Hour}
	p.show(sight{err: errAbandoned})
	want(t, b.String(), "")
	p.grace = 0
	p.show(sight{err: errAbandoned})
	p.show(sight{err: errAbandoned, down: errInterrupted})
	want(t, b.String(), "p: no worker answers on task queue process-idea: the program that ran the server is gone\n"+
		"p: the server does not answer: exit 130\n")
}
