package activities

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/protocol"
	"processidea/tools/httptool"
	"processidea/tools/kinds"
)

// execute runs one Call of an HTTP tool as a worker does, against a server that answers as h says.
func execute(t *testing.T, h http.HandlerFunc, in protocol.ExecuteInput) (result any, err error) {
	t.Helper()
	s := serve(t, h)
	in.ProcessID, in.CallID, in.Tool, in.Binding = "refunds 7", "3.2@①", "pay",
		ideafile.ToolBinding{Kind: ideafile.KindHTTP}
	in.InstanceToken = "①"
	in.RunnerSpec = map[string]any{"url": s.URL + "/pay",
		"headers": map[string]any{"Authorization": "Bearer $env:PAY_TOKEN"}}
	a := newWorker(t, llm.Config{})
	client := httptool.New(httptool.Options{AllowList: strings.TrimPrefix(s.URL, "http://"),
		AllowedSecrets: "PAY_*@127.0.0.1",
		LookupEnv:      func(name string) (string, bool) { return "t0p-secret", name == "PAY_TOKEN" }})
	t.Cleanup(client.Close)
	a.Runners = kinds.NewRunnerRegistry(kinds.Deps{HTTP: client})
	return executeIn(t, a, in)
}

func TestAnHTTPToolIsCalledWithItsKeyItsScopesAndItsSecret(t *testing.T) {
	t.Parallel()
	var head http.Header
	var body string
	result, err := execute(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		head, body = r.Header, string(raw)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"by":"Bearer t0p-secret","amount":12345678901234567890.10}`)
	}, protocol.ExecuteInput{Params: map[string]any{"amount": json.Number("1.50")},
		ScopeValues: map[string]any{"state.user": "Ada"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(
		jsonval.Encode(result)); got != `{"amount":12345678901234567890.10,"by":"Bearer [secret PAY_TOKEN]"}` {
		t.Error(got)
	}
	if body != `{"_scopes":{"state.user":"Ada"},"amount":1.50}` || head.Get("Authorization") != "Bearer t0p-secret" {
		t.Error(body, head)
	}
	if key := head.Get("Idempotency-Key"); key != "refunds%207/%E2%91%A0/3.2@%E2%91%A0" {
		t.Error(key)
	}
}

// The branch that a tool says it took stays in sight of the instance; what goes there is checked and stored by itself.
func TestAToolSaysWhichBranchItsResultTakes(t *testing.T) {
	t.Parallel()
	landing := &statelog.ResultContract{
		StateSchema: map[string]any{"properties": map[string]any{"ok": map[string]any{"type": "integer"}}}}
	if err := json.Unmarshal([]byte(`"†state.ok || †state.failed"`), &landing.OutputPath); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ body, want, wrong string }{
		{`7`, `7`, ""},
		{`"seven"`, "", "†state.ok does not fit the State schema"},
		{`{"_outputPath": "failed", "_result": "closed"}`, `{"_outputPath":"†state.failed","_result":"closed"}`, ""},
		{`{"_outputPath": "†state.ok", "_result": "closed"}`, "", "†state.ok does not fit the State schema"},
		{`{"_outputPath": "elsewhere", "_result": 1}`, "", "no branch of †state.ok || †state.failed"},
	} {
		result, err := execute(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, c.body)
		}, protocol.ExecuteInput{ResultContract: landing})
		switch {
		case c.wrong != "":
			if app := refused(t, err); app.Type() != ideafile.CodeBadOutput ||
				!strings.Contains(app.Message(), c.wrong) {
				t.Errorf("%s: %v", c.body, app)
			}
		case err != nil || string(jsonval.Encode(result)) != c.want:
			t.Errorf("%s: %s, %v", c.body, jsonval.Encode(result), err)
		}
	}
	large := `"` + strings.Repeat("x", 2*jsonval.LargeValueBytes) + `"`
	result, err := execute(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"_outputPath": "failed", "_result": `+large+`}`)
	}, protocol.ExecuteInput{ResultContract: landing})
	said, _ := result.(map[string]any)
	if _, stored := jsonval.AsBlobHandle(said["_result"]); err != nil || !stored ||
		said["_outputPath"] != "†state.failed" {
		t.Errorf("%s, %v", jsonval.Encode(result), err)
	}
}

func TestTheStatusOfAnHTTPToolSaysWhetherTemporalTriesAgain(t *testing.T) {
	t.Parallel()
	for status, again := range map[int]bool{400: false, 401: false, 404: false, 409: false, 422: false, 408: true,
		429: true, 500: true, 503: true} {
		_, err := execute(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "t0p-secret is wrong "+strings.Repeat("é", 3000))
		}, protocol.ExecuteInput{})
		app := refused(t, err)
		if app.Type() != ideafile.CodeToolFailed || app.NonRetryable() == again ||
			(app.NextRetryDelay() == 7*time.Second) != again {
			t.Errorf("%d: %v, again after %s", status, app, app.NextRetryDelay())
		}
		if text := app.Message(); !strings.Contains(text, fmt.Sprintf("status %d", status)) ||
			strings.Contains(text, "t0p-secret") ||
			!strings.Contains(text, "[secret PAY_TOKEN] is wrong") || strings.Count(text, "é") > 1000 ||
			strings.Count(text, "é") < 900 {
			t.Errorf("%d: %s", status, text)
		}
	}
}

// What wants a text, the Tool's `_output` or the State, gets the server's text.
func TestATextStaysATextWhereOneIsWanted(t *testing.T) {
	t.Parallel()
	text := map[string]any{"type": "string"}
	landing := &statelog.ResultContract{StateSchema: map[string]any{"properties": map[string]any{"code": text}}}
	if err := json.Unmarshal([]byte(`"code"`), &landing.OutputPath); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]protocol.ExecuteInput{"_output": {OutputSchema: text},
		"State": {ResultContract: landing}} {
		result, err := execute(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "12")
		}, in)
		if err != nil || result != "12" {
			t.Errorf("%s: %v, %v", name, result, err)
		}
	}
}

func TestAResultThatIsTooLargeOrOfAnotherFormIsARuntimeError(t *testing.T) {
	t.Parallel()
	h := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{"paid":"no"}`) }
	form := map[string]any{"type": "object", "properties": map[string]any{"paid": map[string]any{"type": "boolean"}}}
	_, err := execute(t, h, protocol.ExecuteInput{OutputSchema: form})
	if refused(t, err).Type() != ideafile.CodeBadOutput ||
		!refused(t, err).NonRetryable() {
		t.Errorf("%v", err)
	}
	large := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, strings.Repeat("a", 21<<20)) }
	if _, err := execute(t, large, protocol.ExecuteInput{}); !refused(t, err).NonRetryable() ||
		!strings.Contains(err.Error(), "over 20971520 bytes") {
		t.Errorf("%v", err)
	}
}
