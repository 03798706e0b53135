package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"processidea/internal/longrun"
	"processidea/internal/rehearsal"
	"processidea/model/approval"
	"processidea/model/loop"
	"processidea/model/turn"
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
	s.options = []rehearsal.Option{rehearsal.WithGate(func(ctx context.Context, request, sent int) {
		if request == 1 && sent >= closes {
			select {
			case <-called:
			case <-ctx.Done():
			}
		}
	})}
	s.script(first, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.Calls.Done != 2 || r.RequestCount != 2 {
		t.Errorf("%+v", r)
	}
}

func TestABadReplyIsToldToTheNextRequest(t *testing.T) {
	t.Parallel()
	good := `{"solution": {"calls": []}}`
	for name, row := range longrun.SampleRows(t, 3, map[string]struct{ reply, want string }{
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
			if r.RequestCount != 2 || !strings.Contains(s.prompt(2), ": "+row.want+": ") {
				t.Errorf("%d requests; the second was told\n%s", r.RequestCount, s.prompt(2))
			}
		})
	}
}

func TestAReplyInAMarkdownFenceIsRead(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"raw": "`+"```json\\n{\\\"calls\\\": []}\\n```"+`"}`)
	if r := s.finish(); r.RequestCount != 1 {
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
	var r loop.ProcessResult
	if err := run.Get(t.Context(), &r); err != nil || r.RequestCount != 4 {
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
	if r := s.finish(); r.RequestCount != 1 || len(s.llm.Requests()) != 3 {
		t.Errorf("%+v after %d attempts", r, len(s.llm.Requests()))
	}
}

func TestAServerThatRefusesTheSchemaGetsAJSONObject(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"status": 400, "raw": "response_format json_schema is not supported"}`, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.RequestCount != 1 {
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
	if r.Calls.Done != 1 || r.RequestCount != 2 {
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
	if r := s.finish(); r.Calls.Done != 3 || r.RequestCount != 3 {
		t.Errorf("%+v", r)
	}
	if p := s.prompt(3); !strings.Contains(p, "request 2 was cut off") || !strings.Contains(p, "\n①: ") ||
		strings.Count(p, "1.2 refuse") != 2 {
		t.Error(p)
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
		r.RequestCount != 3 || r.IdeaCount != 2 {
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
	var r loop.ProcessResult
	if !errors.As(err, &app) || app.Details(&r) != nil || r.Status != loop.StatusFailed || r.RequestCount != 4 {
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
	s.options = []rehearsal.Option{rehearsal.WithGate(func(ctx context.Context, _, sent int) {
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
	var r loop.ProcessResult
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
