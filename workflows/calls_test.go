package workflows_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"processidea/internal/longrun"
	"processidea/internal/rehearsal"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
)

const textTool = `{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}`

func TestAnInstancesCallsSeeOnlyItsOwnState(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [
		{"type": "state", "_instance": "①", "text": "one"},
		{"type": "state", "_instance": "②", "text": "two"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "_instance": "①", "text": "†state.text", "_outputPath": "loud"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if got := asJSON(
		r.Instances); got != `{"①":{"state":{"loud":"ONE","text":"one"},"status":"settled"},"②":{"state":{"text":"two"},"status":"settled"}}` {
		t.Error(got)
	}
	if seen := s.prompt(2); strings.Contains(seen, "②:") {
		t.Errorf("② had settled and was sent again:\n%s", seen)
	}
}

func TestAValueThatLooksLikeAReferenceArrivesAsThatText(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"whisper": `+textTool+`}}, "context": [
		{"type": "state", "text": "†state.secret", "secret": "s3cret"}]}`,
		`{"solution": {"calls": [{"_tool": "whisper", "text": "†state.text", "_outputPath": "a"},
			{"_tool": "whisper", "text": "††state.secret", "_outputPath": "b"}]}}`,
		`{"solution": {"calls": []}}`)
	state := s.finish().Instances[""].State.(map[string]any)
	if state["a"] != "†state.secret" || state["b"] != "†state.secret" {
		t.Error(asJSON(state))
	}
}

func TestOfTwoAlternativesExactlyOneRunsAndTheSameOneEveryTime(t *testing.T) {
	t.Parallel()
	rounds := longrun.RepeatCount(5, 100)
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			ran := []string{}
			answer := func(name string, status int) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					<-time.After(time.Duration(rand.IntN(20)) * time.Millisecond)
					mu.Lock()
					ran = append(ran, name)
					mu.Unlock()
					w.WriteHeader(status)
					fmt.Fprintf(w, "%q", name)
				}
			}
			url := func(name string, status int) string {
				return toolbox.handle("/"+strings.ReplaceAll(t.Name(), "/", "-")+"/"+name, answer(name, status))
			}
			s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {
				"first": {"type": "object", "_activity": {"http": {"url": %q}}},
				"second": {"type": "object", "_activity": {"http": {"url": %q}}},
				"third": {"type": "object", "_activity": {"http": {"url": %q}}},
				"never": {"type": "object", "_activity": {"http": {"url": %q}}}}},
				"context": [{"type": "state", "full": null}]}`,
				url("first", 422), url("second", 200), url("third", 200), url("never", 200)),
				`{"solution": {"calls": [
					{"_tool": "first", "_outputPath": "x"}, {"_tool": "second", "_outputPath": "x"},
					{"_tool": "third", "_outputPath": "x"}, {"_tool": "never", "_outputPath": "full"}]}}`,
				`{"solution": {"calls": []}}`)
			r := s.finish()
			if got := strings.Join(ran, " "); got != "first second" {
				t.Errorf("ran %q", got)
			}
			if got := asJSON(r.Instances[""].State); got != `{"full":null,"x":"second"}` {
				t.Error(got)
			}
			if r.Calls != (turn.CallCounts{Done: 1, Failed: 1, Skipped: 2}) {
				t.Errorf("%+v", r.Calls)
			}
		})
	}
}

func TestAStarRunsOnceForEveryInstanceATokenOnceAndNeitherNotAtAll(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"gather": "5m"}, "schema": {"tools": {"shout": `+textTool+`}}, "context": [
		{"type": "state", "_instance": "①", "text": "one"}, {"type": "state", "_instance": "②", "text": "two"},
		{"type": "state", "_instance": "③", "text": "three"}]}`,
		`{"solution": {"calls": [
			{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"},
			{"_tool": "shout", "_instance": "②", "text": "extra", "_outputPath": "more"},
			{"_tool": "shout", "text": "lost", "_outputPath": "lost"},
			{"_tool": "shout", "_instance": "④", "text": "foreign", "_outputPath": "lost"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if r.Calls != (turn.CallCounts{Done: 4, Failed: 2}) {
		t.Errorf("%+v", r.Calls)
	}
	if got := asJSON(r.Instances["②"].State); got != `{"loud":"TWO","more":"EXTRA","text":"two"}` {
		t.Error(got)
	}
	for _, want := range []string{"1.3: bad_instance", "1.4: bad_instance"} {
		if !strings.Contains(s.faultsTold(2), want) {
			t.Errorf("the next Request is not told %q:\n%s", want, s.prompt(2))
		}
	}
}

func TestABrokenCallIsAnsweredInTheNextRequestAndItsNeighboursRun(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`, "refuse": `+textTool+`}},
		"context": [{"type": "input", "who": "me"}, {"type": "state", "text": "hi"}]}`,
		`{"solution": {"calls": [
			{"_tool": "shout", "text": "†state.text", "_outputPath": "good"},
			{"_tool": "nothing", "text": "x"},
			{"_tool": "shout", "text": 7, "_outputPath": "a"},
			{"_tool": "shout", "text": "†input.nobody", "_outputPath": "b"},
			{"_tool": "shout", "text": "†[", "_outputPath": "c"},
			{"_tool": "shout", "text": "x", "_approval": false, "_outputPath": "d"},
			{"_tool": "shout", "text": "†state.p", "_outputPath": "q"},
			{"_tool": "shout", "text": "†state.q", "_outputPath": "p"},
			{"_tool": "refuse", "text": "please", "_outputPath": "e"},
			{"_tool": "shout", "text": "†state.e", "_outputPath": "f"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if got := asJSON(r.Instances[""].State); got != `{"good":"HI","text":"hi"}` {
		t.Error(got)
	}
	if r.Calls != (turn.CallCounts{Done: 1, Failed: 6, Blocked: 3}) {
		t.Errorf("%+v", r.Calls)
	}
	for _, want := range []string{
		`1.2: unknown_tool: unknown tool "nothing"`, `1.3: bad_parameters: parameter "text"`,
		`1.4: bad_reference: reference †input.nobody: nothing there`, `1.5: bad_reference`,
		`1.6: unknown_key: a Call has no meta property "_approval"`, `1.7: blocked`, `1.8: blocked`,
		`1.9: tool_failed: tools: call refuse: I will not say "please"`,
		`1.10: blocked: †state.e would come from 1.9 (failed)`,
	} {
		if !strings.Contains(s.faultsTold(2), want) {
			t.Errorf("the next Request is not told %q:\n%s", want, s.prompt(2))
		}
	}
}

func TestEveryRequestOfACallCarriesItsIdempotencyKey(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var keys []string
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		first := len(keys) == 1
		mu.Unlock()
		if first {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {"echo": {"type": "object", "properties": {"n": {"type": "integer"}},
		"_activity": {"http": {"url": %q}}}}}, "context": [{"type": "state", "_instance": "a b", "n": 9007199254740993}]}`, url),
		`{"solution": {"calls": [{"_tool": "echo", "_instance": "*", "n": "†state.n", "_outputPath": "back"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if got := asJSON(r.Instances["a b"].State); got != `{"back":{"n":9007199254740993},"n":9007199254740993}` {
		t.Error(got)
	}
	want := s.id + "/a%20b/1.1@a%20b"
	if len(keys) != 2 || keys[0] != want || keys[1] != want {
		t.Errorf("keys %q, want twice %q", keys, want)
	}
}

func TestLargeParametersAndResultsStayOutOfHistory(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 5<<20)
	var got int
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Text, Again string }
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &in)
		if in.Again != "" {
			got = len(in.Again)
		}
		fmt.Fprintf(w, `{"size": %d, "text": %q}`, len(in.Text), large)
	})
	s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {"big": {"type": "object", "properties": {"text": {"type": "string"},
		"again": {"type": "string"}}, "_activity": {"http": {"url": %q}}}}}, "context": [{"type": "text", "text": "Go."}]}`, url))
	// three million characters, four at a time, take a while
	s.options = []rehearsal.Option{rehearsal.WithChunkChars(4096)}
	s.script(`{"solution": {"calls": [{"_tool": "big", "text": "`+strings.Repeat("y", 3<<20)+`", "_outputPath": "a"},
			{"_tool": "big", "again": "†state.a.text", "_outputPath": "b"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if got != len(large) {
		t.Errorf("the second Call was given %d bytes", got)
	}
	whole, err := store.Restore(t.Context(), r.Instances[""].State)
	if err != nil {
		t.Fatal(err)
	}
	a := whole.(map[string]any)["a"].(map[string]any)
	if a["size"] != json.Number(fmt.Sprint(3<<20)) || a["text"] != large {
		t.Errorf("size %v, %d bytes of text", a["size"], len(a["text"].(string)))
	}
	for _, id := range []string{s.id, s.id + "/main"} {
		if n := largestPayload(t, id); n > 256<<10 {
			t.Errorf("history of %s holds a payload of %d bytes", id, n)
		}
	}
}

func TestMoreCallsThanMayRunAtOnceAllRun(t *testing.T) {
	t.Parallel()
	atLength(t)
	var calls []string
	for n := range 250 {
		calls = append(calls, fmt.Sprintf(`{"_tool": "shout", "text": "x%d", "_outputPath": "r%d"}`, n, n))
	}
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [`+strings.Join(calls, ",")+`]}}`, `{"solution": {"calls": []}}`)
	r := s.finish()
	if state := r.Instances[""].State.(map[string]any); r.Calls.Done != 250 || state["r249"] != "X249" {
		t.Errorf("%+v", r.Calls)
	}
	running, most := 0, 0
	for _, e := range history(t, s.id+"/main").Events {
		switch {
		case e.GetActivityTaskScheduledEventAttributes() != nil:
			running++
			most = max(most, running)
		case e.GetActivityTaskCompletedEventAttributes() != nil:
			running--
		}
	}
	if most > 200 {
		t.Errorf("%d ran at once", most)
	}
}

const adaptedIdea = `{"schema": {"tools": {
	"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false, "_approval": true}}},
	"context": [{"type": "state", "user": {"userName": "Anna"}}]}`

const shoutUser = `{"solution": {"calls": [{"_tool": "shout", "text": "†state.user", "_outputPath": "loud"}]}}`

func TestAStepThatGivesAnotherFormThanTheNextOneWantsGoesThrough(t *testing.T) {
	t.Parallel()
	s := newScenario(t, adaptedIdea, shoutUser,
		`{"solution": {"calls": [{"_call": "1.1", "_params": {"text": "Anna"}}]}}`,
		`{"solution": {"calls": []}}`)
	run := s.start()
	pending := s.waitsFor(1)[0]
	if got := asJSON(pending.ParamsAdaptation); pending.Params["text"] != "Anna" ||
		!strings.Contains(got, `"from":{"text":{"userName":"Anna"}},"to":{"text":"Anna"}`) {
		t.Errorf("the approver sees %s, adapted %s", asJSON(pending.Params), got)
	}
	s.decide("approve", "1.1", "")
	r := s.end(run)
	// one more when it came to wait
	if got := asJSON(r.Instances[""].State); got != `{"loud":"ANNA","user":{"userName":"Anna"}}` ||
		r.RequestCount != 3 ||
		r.IdeaCount != 3 {
		t.Errorf("%s after %d Requests and %d Ideas", got, r.RequestCount, r.IdeaCount)
	}
	if seen := s.prompt(2); !strings.Contains(seen, `1.1 shout {"text":{"userName":"Anna"}} does not fit: `) {
		t.Error(seen)
	}
}

func TestWhereAdaptingIsSwitchedOffTheNextRequestIsToldOfTheMisfit(t *testing.T) {
	t.Parallel()
	s := newScenario(t, strings.Replace(adaptedIdea, `{"schema"`, `{"config": {"adapt": false}, "schema"`, 1),
		shoutUser, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.RequestCount != 2 || r.Calls.Failed != 1 || !strings.Contains(s.prompt(2), "bad_parameters") {
		t.Errorf("%s", s.story())
	}
}

// markers counts the local activities in a workflow's history.
func markers(t *testing.T, id string) (n int) {
	t.Helper()
	for _, e := range history(t, id).Events {
		if e.GetMarkerRecordedEventAttributes().GetMarkerName() == "LocalActivity" {
			n++
		}
	}
	return n
}

// A Plan that runs directly has all its Calls ready at once.
func TestPureCallsThatAreReadyAtOnceRunTogether(t *testing.T) {
	t.Parallel()
	calls := []string{`{"_tool": "balk", "text": "no", "_outputPath": "no"}`,
		`{"_tool": "stumble", "text": "burst", "_outputPath": "late"}`}
	for n := range 40 {
		calls = append(calls, fmt.Sprintf(`{"_tool": "whisper", "text": "W%d", "_outputPath": "w%d"}`, n, n))
	}
	calls = append(calls, `{"_tool": "whisper", "text": "†state.w0", "_outputPath": "again"}`)
	s := newScenario(t, `{"schema": {"tools": {"whisper": `+textTool+`, "stumble": `+textTool+`, "balk": `+textTool+`}}, "context": [
		{"type": "plan", "stage": "optimal", "plan": [`+strings.Join(calls, ", ")+`]}, {"type": "state", "a": 1}]}`, nothingMore)
	r := s.finish()
	if r.Calls != (turn.CallCounts{Done: 42, Failed: 1}) {
		t.Errorf("%+v", r.Calls)
	}
	state := r.Instances[""].State.(map[string]any)
	if state["w39"] != "w39" || state["late"] != "burst" || state["again"] != "w0" || state["no"] != nil {
		t.Error(asJSON(state))
	}
	for _, c := range s.instance("").Calls {
		if c.Tool == "balk" && (c.Error == nil || c.Error.Code != ideafile.CodeToolFailed ||
			!strings.Contains(c.Error.Message, "I balk")) {
			t.Errorf("%+v", c.Error)
		}
	}
	// The burst, the one that stumbled, the one that reads, and the reports.
	if n := markers(t, protocol.InstanceID(s.id, "")); n > 6 {
		t.Errorf("%d local activities for 43 Calls", n)
	}
}

// The time of an attempt is not that of all of them: between the last ones lie more than its second.
func TestACallOfABurstHasAsManyAttemptsAsItsToolAllows(t *testing.T) {
	t.Parallel()
	retry := func(n int) string {
		return strings.TrimSuffix(textTool, "}") + fmt.Sprintf(`, "_retry": {"attempts": %d}`, n)
	}
	s := newScenario(t, `{"schema": {"tools": {"falter": `+retry(2)+`}, "stumble": `+retry(1)+`},
		"short": `+retry(4)+`, "_activity": "falter", "_timeout": "1s"}}}, "context": [
		{"type": "plan", "stage": "optimal", "plan": [
			{"_tool": "falter", "text": "two attempts", "_outputPath": "a"}, {"_tool": "stumble", "text": "one attempt", "_outputPath": "b"},
			{"_tool": "short", "text": "four attempts", "_outputPath": "d"}
		]}, {"type": "state", "c": 1}]}`, nothingMore)
	if r := s.finish(); r.Calls != (turn.CallCounts{Failed: 3}) {
		t.Errorf("%+v", r.Calls)
	}
	why := map[string]string{}
	for _, c := range s.instance("").Calls {
		why[c.Tool] = c.Error.Message
	}
	if !strings.Contains(why["falter"], "2 times") || !strings.Contains(why["stumble"], "stumbled") ||
		!strings.Contains(why["short"], "4 times") {
		t.Error(why)
	}
}
