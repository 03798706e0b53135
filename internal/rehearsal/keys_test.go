package rehearsal

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestASolutionIsSentCompactlyWithCallsFirstAndOtherwiseAsWritten(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`{"output": null, "calls": []}`:                      `{"calls":[],"output":null}`,
		`{"calls": [{"b": 1.50, "a": 1e400}], "output": {}}`: `{"calls":[{"b":1.50,"a":1e400}],"output":{}}`,
		`{"calls": [12345678901234567890]}`:                  `{"calls":[12345678901234567890]}`,
		`{"output": "a <b> & \u2460 \"q\" ①"}`:               `{"output":"a <b> & \u2460 \"q\" ①"}`,
	}
	for written, sent := range cases {
		eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
			server := start(t, fmt.Sprintf(`{"solution": %s}`, written))
			ask(t, server, "plan").want(t, sent, "stop")
		})
	}
}

func TestRawTextIsSentAsItIs(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		server := start(t, `{"raw": "no {JSON at\n\tall"}`)
		ask(t, server, "plan").want(t, "no {JSON at\n\tall", "stop")
	})
}

func TestAReplyThatSaysNothingStillFinishes(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		ask(t, start(t, `{"raw": ""}`), "plan").want(t, "", "stop")
	})
}

func TestTheFinishReasonIsAsTheLineSays(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		server := start(t, `{"raw": "so far", "finish_reason": "length"}`)
		ask(t, server, "plan").want(t, "so far", "length")
	})
}

func TestARefusalComesAsARefusalAndNotAsContent(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		got := ask(t, start(t, `{"refusal": "I would rather not."}`), "plan")
		got.want(t, "", "stop")
		if got.refusal != "I would rather not." {
			t.Errorf("heard refusal %q", got.refusal)
		}
	})
}

func TestAStatusIsAnsweredAsAnErrorWithItsMessage(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		server := start(t, `{"status": 503, "raw": "overloaded"}`)
		fault := ask(t, server, "plan").wantError(t, 503, "overloaded")
		if fault.Type != "server_error" {
			t.Errorf("type %q", fault.Type)
		}
		if end := server.Requests()[0].EndReason; end != EndRefused {
			t.Errorf("ended %q", end)
		}
	})
}

func TestAStatusHasTheTypeAndCodeThatBelongToIt(t *testing.T) {
	t.Parallel()
	cases := []struct {
		status              int
		message, kind, code string
	}{
		{400, "Bad Request", "invalid_request_error", ""},
		{401, "Unauthorized", "invalid_request_error", "invalid_api_key"},
		{429, "Too Many Requests", "requests", "rate_limit_exceeded"},
		{500, "Internal Server Error", "server_error", ""},
		{599, "error", "server_error", ""},
	}
	for _, c := range cases {
		server := start(t, fmt.Sprintf(`{"status": %d}`, c.status))
		fault := ask(t, server, "plan").wantError(t, c.status, c.message)
		if fault.Type != c.kind || fault.Code != c.code {
			t.Errorf("status %d: type %q code %q", c.status, fault.Type, fault.Code)
		}
	}
}

func TestRetryAfterIsAHeaderInSeconds(t *testing.T) {
	t.Parallel()
	for written, header := range map[string]string{`2`: "2", `0.25`: "0.25", `120.0`: "120", `0`: ""} {
		server := start(t, fmt.Sprintf(`{"status": 429, "retry_after": %s}`, written))
		fault := ask(t, server, "plan").wantError(t, http.StatusTooManyRequests, "")
		if got := fault.Response.Header.Get("Retry-After"); got != header {
			t.Errorf("retry_after %s: header %q", written, got)
		}
	}
}

func TestAMessageThatIsAnErrorBodyIsTheWholeBody(t *testing.T) {
	t.Parallel()
	server := start(t, `{"status": 429, "raw": "{\"error\": {\"code\": \"insufficient_quota\", \"message\": \"pay\"}}"}
{"status": 500, "raw": "{\"error\": \"a bare string\"}"}`)
	fault := ask(t, server, "plan").wantError(t, http.StatusTooManyRequests, "pay")
	if fault.Code != "insufficient_quota" {
		t.Errorf("code %q", fault.Code)
	}
	if err := ask(t, server, "plan").err; err == nil {
		t.Error("a bare string as error was no error to the client")
	}
}

func TestEveryKeyWorksFromAFile(t *testing.T) {
	t.Parallel()
	server := start(t, string(read(t, "every_key.jsonl")))
	ask(t, server, "1").want(t,
		`{"calls":[{"_tool":"send","amount":1.50,"big":12345678901234567890,"text":"a<b & ①"}],"output":null}`, "stop")
	ask(t, server, "2").want(t, "not a plan 👩‍👩‍👧 你好", "stop")
	ask(t, server, "3").want(t, "half of it", "length")
	ask(t, server, "4").wantError(t, http.StatusServiceUnavailable, "overloaded")
	if cut := ask(t, server, "5"); cut.content != "012345" || cut.finish != "" {
		t.Errorf("heard %q, finish %q of the cut reply", cut.content, cut.finish)
	}
	if refused := ask(t, server, "6"); !strings.HasPrefix(refused.refusal, "I can not") ||
		refused.finish != "content_filter" {
		t.Errorf("heard refusal %q, finish %q", refused.refusal, refused.finish)
	}
	ask(t, server, "7 with the magic word").want(t, "abracadabra", "stop")
}
