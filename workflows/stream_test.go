package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"processidea/internal/longrun"
	"processidea/internal/rehearsal"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

func TestAToolSeesTheFirstCallBeforeTheLLMHasSaidItsLastToken(t *testing.T) {
	t.Parallel()
	called := make(chan struct{})
	var once sync.Once
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(called) })
		fmt.Fprint(w, `"ok"`)
	})
	first := `{"solution": {"calls": [{"_tool": "go", "_outputPath": "a"}, {"_tool": "go", "_outputPath": "b"}]}}`
	s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {"go": {"type": "object", "_activity": {"http": {"url": %q}}}}},
		"context": [{"type": "text", "text": "Go."}]}`, url))
	// The stream stands still behind the first Call until the tool was called: were Calls handed on at the end of the
	// response, it would never go on.
	closes := len(`{"calls":[{"_tool": "go", "_outputPath": "a"}`) + 4
	s.options = []rehearsal.Option{rehearsal.Gate(func(ctx context.Context, request, sent int) {
		if request == 1 && sent >= closes {
			select {
			case <-called:
			case <-ctx.Done():
			}
		}
	})}
	s.script(first, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.Calls.Done != 2 || r.Requests != 2 {
		t.Errorf("%+v", r)
	}
}

func TestABadReplyIsToldToTheNextRequest(t *testing.T) {
	t.Parallel()
	good := `{"solution": {"calls": []}}`
	for name, row := range longrun.Rows(t, 3, map[string]struct{ reply, want string }{
		"it is no JSON":                    {`{"raw": "I think we should shout."}`, "not_json"},
		"it is another form":               {`{"raw": "{\"plan\": []}"}`, "not_json"},
		"it is a list":                     {`{"raw": "[]"}`, "not_json"},
		"calls is no list":                 {`{"raw": "{\"calls\": {}}"}`, "not_json"},
		"it was too long":                  {`{"raw": "{\"calls\": [", "finish_reason": "length"}`, "truncated"},
		"the connection broke":             {`{"solution": {"calls": [], "output": null}, "cut": 9}`, "truncated"},
		"it was refused":                   {`{"refusal": "I cannot help with that."}`, "refusal"},
		"a filter ended it":                {`{"raw": "", "finish_reason": "content_filter"}`, "refusal"},
		"it says white space only":         {`{"raw": "{` + strings.Repeat(" ", 6_000) + `"}`, "endless"},
		"its calls do not end":             {`{"raw": "{\"calls\": [` + strings.Repeat("{},", 6000) + `"}`, "endless"},
		"it is nested without end":         {`{"raw": "{\"calls\": [` + strings.Repeat("[", 20_000) + `"}`, "not_json"},
		"it has a key twice":               {`{"raw": "{\"calls\": [], \"calls\": []}"}`, "not_json"},
		"its output is too large a number": {`{"raw": "{\"calls\": [], \"output\": {\"n\": 1e10000000}}"}`, "not_json"},
	}) {

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+
				`}}, "context": [{"type": "text", "text": "Go."}]}`,
				row.reply, good)
			r := s.finish()
			if r.Requests != 2 || !strings.Contains(s.prompt(2), ": "+row.want+": ") {
				t.Errorf("%d requests; the second was told\n%s", r.Requests, s.prompt(2))
			}
		})
	}
}

func TestAReplyInAMarkdownFenceIsRead(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"raw": "`+"```json\\n{\\\"calls\\\": []}\\n```"+`"}`)
	if r := s.finish(); r.Requests != 1 {
		t.Errorf("%+v", r)
	}
}

func TestThreeBadRepliesInARowPauseTheProcessAndResumeLetsItGoOn(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"raw": "a"}`, `{"raw": "b"}`, `{"raw": "c"}`, `{"solution": {"calls": []}}`)
	run := s.start()
	eventually(t, "the process pauses", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if f := s.processStatus().Error; f == nil || f.Code != turn.CodeBadReplies {
		t.Errorf("%+v", f)
	}
	if err := temporalClient.SignalWorkflow(t.Context(), s.id, "", approval.SteerResume, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	var r loop.Result
	if err := run.Get(t.Context(), &r); err != nil || r.Requests != 4 {
		t.Errorf("%v %+v", err, r)
	}
	s.keep("bad-replies")
}

func TestARefusedKeyPausesAtOnce(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"status": 401, "raw": "no such key"}`)
	s.start()
	eventually(t, "the process pauses", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if f := s.processStatus().Error; f.Code != turn.CodeLLMError || !strings.Contains(f.Message, "no such key") {
		t.Errorf("%+v", f)
	}
	if n := len(s.llm.Requests()); n != 1 {
		t.Errorf("the LLM was asked %d times", n)
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"status": 503}`, `{"status": 429, "retry_after": 0.1}`, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.Requests != 1 || len(s.llm.Requests()) != 3 {
		t.Errorf("%+v after %d attempts", r, len(s.llm.Requests()))
	}
}

func TestAServerThatRefusesTheSchemaGetsAJSONObject(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"status": 400, "raw": "response_format json_schema is not supported"}`, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.Requests != 1 {
		t.Errorf("%+v", r)
	}
	if seen := s.llm.Requests(); !strings.Contains(string(seen[1].Body), `"json_object"`) ||
		!strings.Contains(s.prompt(2), `"additionalProperties":false`) {
		t.Errorf("%s", seen[1].Body)
	}
}

func TestATruncatedReplysCallsAreTheSolutionAndNobodySettlesByIt(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [
		{"type": "state", "_instance": "①", "text": "one"}, {"type": "state", "_instance": "②", "text": "two"}]}`,
		`{"raw": "{\"calls\":[{\"_tool\":\"shout\",\"_instance\":\"①\",\"text\":\"†state.text\",\"_outputPath\":\"loud\"},{\"_tool\":", "finish_reason": "length"}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if r.Calls.Done != 1 || r.Requests != 2 {
		t.Errorf("%+v", r)
	}
	if p := s.prompt(2); !strings.Contains(p, "request 1 was cut off") || !strings.Contains(p, "②: ") ||
		!strings.Contains(p, "done (①)") {
		t.Error(p)
	}
	s.keep("truncated")
}

// The goal of ① is reached by the reply that breaks off, which might have had more for it.
func TestALaterReplyThatIsTruncatedSettlesNobodyAndIsShownWhatItDidNotAnswer(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`, "refuse": `+textTool+`}}, "context": [
		{"type": "state", "state": {}, "schema": {"type": "object", "required": ["loud"]}},
		{"type": "state", "_instance": "①", "text": "one"}, {"type": "state", "_instance": "②", "text": "two"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "_instance": "①", "text": "†state.text", "_outputPath": "first"}, {"_tool": "refuse", "_instance": "②", "text": "†state.text", "_outputPath": "first"}]}}`,
		`{"raw": "{\"calls\":[{\"_tool\":\"shout\",\"_instance\":\"①\",\"text\":\"†state.text\",\"_outputPath\":\"loud\"},{\"_tool\":", "finish_reason": "length"}`,
		`{"solution": {"calls": [{"_tool": "shout", "_instance": "②", "text": "†state.text", "_outputPath": "loud"}]}}`)
	if r := s.finish(); r.Calls.Done != 3 || r.Requests != 3 {
		t.Errorf("%+v", r)
	}
	if p := s.prompt(3); !strings.Contains(p, "request 2 was cut off") || !strings.Contains(p, "\n①: ") ||
		strings.Count(p, "1.2 refuse") != 2 {
		t.Error(p)
	}
}

func TestAnOutputOfReferencesBesideCallsEndsTheProcessInOneRequest(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`},
		"output": {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}},
		"context": [{"type": "state", "text": "hi"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}], "output": {"said": "†state.loud"}}}`)
	r := s.finish()
	if r.Requests != 1 || asJSON(r.Output) != `{"said":"HI"}` {
		t.Errorf("%+v", r)
	}
}

const (
	knownOutputForm  = `"output": {"type": "object", "properties": {"law": {"type": "string"}, "said": {}}, "required": ["law"]}`
	knownBesideCalls = `{"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"}],
		"output": {"law": "Denmark", "said": "†state.loud"}, "finished": true}`
)

func TestAnOutputOfWhatIsKnownBesideCallsEndsTheProcessInOneRequest(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.Rows(t, 2, map[string]struct {
		config    string
		instances int
		// Each of two parts makes its own Request, and one more is about the whole: it alone is left where the solution
		// is run again.
		requests, requestsAgain int
	}{
		"of a few": {`{}`, 3, 1, 0}, "in parts": {`{"batch": 2}`, 3, 3, 1},
		"of 101, in parts": {`{"batch": 60}`, 101, 3, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.instances > 100 {
				longrun.Only(t)
			}
			s := newScenario(t, `{"config": `+c.config+`, "schema": {"tools": {"shout": `+textTool+`}, `+
				knownOutputForm+`}, "context": [`+rows(1, c.instances)+`]}`,
				`{"when": "Everything is done", "solution": {"calls": [], "output": {"law": "Denmark"}}}`,
				`{"solution": `+knownBesideCalls+`}`, `{"solution": `+knownBesideCalls+`}`)
			comesToIt := func(requests int) {
				t.Helper()
				r := s.finish()
				if r.Status != loop.StatusCompleted || r.Calls.Done != c.instances || r.Requests > requests ||
					!strings.Contains(asJSON(r.Output), `"law":"Denmark"`) {
					t.Errorf("%s, %d Requests, %+v, %.200s\n%s", r.Status, r.Requests, r.Calls,
						asJSON(r.Output), s.story())
				}
			}
			comesToIt(c.requests)
			solution, err := jsonval.DecodeObject([]byte(knownBesideCalls))
			if err != nil {
				t.Fatal(err)
			}
			s.idea["solution"] = solution
			s.id, s.withCalls = s.id+"-again", true
			s.script(`{"solution": {"calls": [], "output": {"law": "Denmark"}}}`)
			comesToIt(c.requestsAgain)
		})
	}
}

const putRight = `{"loud":2,"soft":1}` // the output of softly

// softly is a process in which a person is asked about one of its instances, and whose LLM puts its output right where
// that is refused. more of its Tool says what runs it.
func softly(t *testing.T, more, config string, instances int) *scenario {
	return newScenario(t, `{"config": `+config+`, "schema": {"tools": {"shout": `+strings.TrimSuffix(textTool, "}")+more+`, "_approval": {"when": {"properties": {"text": {"const": "t2"}}}}}},
		"output": {"type": "object", "properties": {"loud": {"type": "integer"}, "soft": {"type": "integer"}}, "required": ["loud"]}},
		"context": [{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"loud": {}}, "required": ["loud"]}}, `+rows(1, instances)+`]}`,
		`{"when": "Your output so far", "solution": {"calls": [{"_tool": "shout", "_instance": "2", "text": "softly", "_outputPath": "loud"}], "output": {"loud": 2, "soft": 1}, "finished": true}}`,
		`{"when": "Everything is done", "solution": {"calls": [], "output": {"loud": 2, "soft": 1}}}`,
		`{"when": "every Call that can be planned now for the", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"}], "output": {"loud": 3, "soft": 0}, "finished": true}}`)
}

func (s *scenario) refuseLoudness() {
	s.t.Helper()
	s.decide(policy.Reject, s.waitsFor(1)[0].CallID, `{"reason": "not so loud"}`)
}

// wantOutput wants a process that is completed with this output, after so many Requests at most.
func (s *scenario) wantOutput(r loop.Result, requests int, output string) {
	s.t.Helper()
	if r.Status != loop.StatusCompleted || r.Requests > requests || asJSON(r.Output) != output {
		s.t.Errorf("%s, %d Requests, %+v, %.200s\n%s", r.Status, r.Requests, r.Calls, asJSON(r.Output), s.story())
	}
}

// wholeReplyIsIn waits for the end of the Request in flight: a Call of it may wait for people long before.
func (s *scenario) wholeReplyIsIn() {
	s.t.Helper()
	eventually(s.t, "the reply has come whole", func() bool {
		return !slices.ContainsFunc(s.processStatus().Waiting, func(line string) bool {
			return strings.HasPrefix(line, protocol.WaitingForLLM)
		})
	})
}

// What a person refuses is planned otherwise, and the output that was given is put right in the same Request: nobody is
// asked for it at the end.
func TestAnOutputIsPutRightForWhoWasRefused(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.Rows(t, 2, map[string]struct {
		config                             string
		instances, requests, requestsAgain int
	}{
		"of a few": {`{}`, 3, 2, 0}, "of 101, in parts": {`{"batch": 60}`, 101, 4, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.instances > 100 {
				atLength(t)
			}
			s := softly(t, "", c.config, c.instances)
			run := s.start()
			s.refuseLoudness()
			s.wantOutput(s.end(run), c.requests, putRight)
			s.id, s.idea, s.withCalls = s.id+"-again", chain.Fork(s.sealedLast()), true
			s.script(`{"solution": {"calls": [], "output": {"loud": 2, "soft": 1}}}`)
			s.wantOutput(s.finish(), c.requestsAgain, putRight)
		})
	}
}

func TestAnOutputIsPutRightThoughTheWorkerIsKilledAndTheProcessContinuesAsNew(t *testing.T) {
	t.Parallel()
	cr := newCrash(t)
	kill := cr.work()
	s := softly(t, fmt.Sprintf(`, "_activity": {"http": {"url": %q}}`, cr.tool("loud", nil)), `{}`, 3)
	s.every = 1
	run := cr.start(s)
	s.waitsFor(1)
	s.wholeReplyIsIn()
	kill()
	cr.work()
	s.refuseLoudness()
	s.wantOutput(cr.finish(run), 2, putRight)
}

// noting is a process whose LLM finishes all instances but one, keeps notes of them, and gives the output when it plans
// for that one. A person is asked about it first. more of its Tool says what runs it.
func noting(t *testing.T, more string, batch, instances int) *scenario {
	var others []string
	for n := 1; n <= min(instances, batch); n++ {
		if n != 2 {
			others = append(others, fmt.Sprintf("%q", strconv.Itoa(n)))
		}
	}
	const loud = `{"_tool": "shout", "text": "†state.text", "_outputPath": "loud", "_instance": `
	return newScenario(t, fmt.Sprintf(`{"config": {"batch": %d}, "schema": {"tools": {"shout": `, batch)+strings.TrimSuffix(textTool, "}")+more+`, "_approval": {"when": {"properties": {"text": {"const": "t2"}}}}}},
		"output": {"type": "object", "properties": {"loud": {"type": "integer"}}, "required": ["loud"]}},
		"context": [{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"loud": {}}, "required": ["loud"]}}, `+rows(1, instances)+`]}`,
		`{"when": "Everything is done", "solution": {"calls": [], "output": {"loud": 101}}}`,
		`{"when": "- Answer 1: \"2 is left, the others are loud\"", "solution": {"calls": [{"_tool": "shout", "_instance": "2", "text": "softly", "_outputPath": "loud"}], "finished": true, "output": {"loud": 3}, "notes": null}}`,
		fmt.Sprintf(`{"when": "\"text\":\"t%d\"", "solution": {"calls": [`, batch+1)+loud+
			`"*"}], "finished": true, "output": {"loud": 41}, "notes": null}}`,
		`{"when": "every Call that can be planned now for the", "solution": {"calls": [`+loud+`[`+strings.Join(others, ", ")+`]}, {"_tool": "shout", "_instance": "2", "text": "†state.text", "_outputPath": "look"}],
			"finished": false, "output": null, "notes": "2 is left, the others are loud"}}`)
}

// What the LLM has noted of finished instances lets it give the output with the last Calls. Of a whole in parts, each
// has its own notes; one more Request is about the whole.
func TestNotesOfFinishedInstancesSaveARequestForTheOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		batch, instances, requests int
		output                     string
	}{
		"of a few": {60, 3, 2, `{"loud":3}`}, "in parts": {2, 3, 4, `{"loud":101}`},
		"of 101, in parts": {60, 101, 4, `{"loud":101}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.instances > 100 {
				longrun.Only(t)
			}
			s := noting(t, "", c.batch, c.instances)
			run := s.start()
			s.decide(policy.Approve, s.waitsFor(1)[0].CallID, `{}`)
			s.wantOutput(s.end(run), c.requests, c.output)
			if c.instances > c.batch {
				return
			}
			idea, err := chain.New(store).Load(t.Context(), s.id, 1)
			if err != nil {
				t.Fatal(err)
			}
			if solution, _ := idea["solution"].(map[string]any); solution["notes"] != "2 is left, the others are loud" {
				t.Errorf("the solution of its Idea is %s", asJSON(solution))
			}
		})
	}
}

func TestNotesAreKeptThoughTheWorkerIsKilledAndTheProcessContinuesAsNew(t *testing.T) {
	t.Parallel()
	cr := newCrash(t)
	kill := cr.work()
	s := noting(t, fmt.Sprintf(`, "_activity": {"http": {"url": %q}}`, cr.tool("loud", nil)), 60, 3)
	s.every = 1
	run := cr.start(s)
	s.waitsFor(1)
	s.wholeReplyIsIn()
	kill()
	cr.work()
	s.decide(policy.Approve, s.waitsFor(1)[0].CallID, `{}`)
	s.wantOutput(cr.finish(run), 2, `{"loud":3}`)
}

func TestAnOutputIsPutRightInADelegate(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"ask": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_delegate": "asked.json",
		"_output": {"type": "object"}}}}, "context": [{"type": "state", "text": "hi"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "text": "†state.text", "_outputPath": "answer"}]}]}`,
		`{"solution": {"calls": [{"_tool": "refuse", "text": "†input.text", "_outputPath": "loud"}], "output": {"law": "Denmark"}, "finished": true}}`,
		`{"when": "Your output so far", "solution": {"calls": [{"_tool": "shout", "text": "†input.text", "_outputPath": "loud"}], "output": {"law": "Sweden"}, "finished": true}}`)
	s.file("asked.json", `{"schema": {"tools": {"refuse": `+textTool+`, "shout": `+textTool+`}, `+knownOutputForm+`}}`)
	r := s.finish()
	if got := asJSON(r.Instances[""].State); got != `{"answer":{"law":"Sweden"},"text":"hi"}` ||
		len(s.llm.Requests()) != 2 {
		t.Errorf("%s\n%s", got, s.story())
	}
}

func TestAnIdeaOfTheChainWithAnOutputOfWhatIsKnownIsRunAgainWithoutAnLLM(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}, `+knownOutputForm+`}, "context": [`+rows(1, 3)+
		`]}`, `{"solution": `+knownBesideCalls+`}`)
	first := s.finish()
	idea, err := chain.New(store).Load(t.Context(), s.id, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.id, s.idea, s.withCalls = s.id+"-again", chain.Fork(idea), true
	if again := s.finish(); asJSON(again.Output) != asJSON(first.Output) || again.Requests != 0 ||
		again.Calls.Done != 3 {
		t.Errorf("%d Requests, %+v, %s", again.Requests, again.Calls, asJSON(again.Output))
	}
}

func TestAnOutputOfWhatIsKnownEndsADelegateInOneRequest(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"ask": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_delegate": "asked.json",
		"_output": {"type": "object"}}}}, "context": [{"type": "state", "text": "hi"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "text": "†state.text", "_outputPath": "answer"}]}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†input.text", "_outputPath": "loud"}], "output": {"law": "Denmark", "said": "†state.loud"}, "finished": true}}`)
	s.file("asked.json", `{"schema": {"tools": {"shout": `+textTool+`}, `+knownOutputForm+`}}`)
	r := s.finish()
	if got := asJSON(r.Instances[""].State); got != `{"answer":{"law":"Denmark","said":"HI"},"text":"hi"}` ||
		len(s.llm.Requests()) != 1 {
		t.Errorf("%s\n%s", got, s.story())
	}
}

func TestLatentToolsAreWrittenByTheLLMAndAskedForByThemselves(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {
		"greet": {"type": "object", "properties": {"name": {"type": "string"}}, "_output": {"type": "string"}}}},
		"context": [{"type": "state", "name": "Ada"}]}`,
		`{"solution": {"calls": [{"_tool": "greet", "name": "†state.name", "_outputPath": "hello", "_output": "Hello, Ada"},
			{"_tool": "greet", "name": "†state.hello", "_outputPath": "again", "_output": null}]}}`,
		`{"solution": {"calls": [{"_call": "1.2", "_output": "Hello again"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if got := asJSON(r.Instances[""].State); got != `{"again":"Hello again","hello":"Hello, Ada","name":"Ada"}` ||
		r.Requests != 3 || r.Ideas != 2 {
		t.Errorf("%s %+v", got, r)
	}
	if !strings.Contains(s.prompt(2), `1.2 greet {"name":"Hello, Ada"}`) {
		t.Error(s.prompt(2))
	}
	s.keep("asked-for", "/main")
}

func TestAnInstanceThatLacksWhatItsSchemaRequiresFailsAfterThreeHints(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "state", "state": {},
		"schema": {"type": "object", "required": ["loud"], "properties": {"loud": {"type": "string"}}}}]}`,
		`{"solution": {"calls": []}}`, `{"solution": {"calls": []}}`, `{"solution": {"calls": []}}`,
		`{"solution": {"calls": []}}`)
	err := s.start().Get(t.Context(), nil)
	var app *temporal.ApplicationError
	var r loop.Result
	if !errors.As(err, &app) || app.Details(&r) != nil || r.Status != loop.StatusFailed || r.Requests != 4 {
		t.Errorf("%v %+v", err, r)
	}
	if !strings.Contains(s.prompt(2), "still missing: loud") {
		t.Error(s.prompt(2))
	}
	s.keep("failed")
}

func TestACancelledProcessTakesItsInstancesAlong(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`)
	s.options = []rehearsal.Option{rehearsal.Gate(func(ctx context.Context, _, sent int) {
		if sent == 0 {
			close(asked)
		}
		<-ctx.Done()
	})}
	s.script(`{"solution": {"calls": []}}`)
	run := s.start()
	<-asked
	if err := temporalClient.CancelWorkflow(t.Context(), s.id, ""); err != nil {
		t.Fatal(err)
	}
	err := run.Get(t.Context(), nil)
	var c *temporal.CanceledError
	var r loop.Result
	if !errors.As(err, &c) || c.Details(&r) != nil || r.Status != loop.StatusCancelled {
		t.Errorf("%v %+v", err, r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := temporalClient.GetWorkflow(ctx, s.id+"/main", "").Get(ctx, nil); !errors.As(err, &c) {
		t.Errorf("the instance ended with %v", err)
	}
	s.shows(loop.StatusCancelled)
	s.keep("cancelled")
}
