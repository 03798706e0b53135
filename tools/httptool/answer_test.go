package httptool

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/tools/runner"
)

func TestAnAnswerIsItsJSONOrItsText(t *testing.T) {
	t.Parallel()
	var contentType, body string
	status := 200
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil // none, and no guess of the server's
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	c := client(t, nil, s)
	for _, row := range []struct{ contentType, body, want string }{
		{"application/json", `{"n":1.50,"big":9007199254740993}`, `{"big":9007199254740993,"n":1.50}`},
		{"application/problem+json; charset=utf-8", `[1]`, `[1]`},
		{"application/json", `"text"`, `"text"`},
		{"application/json", ` null `, `null`},
		{"application/json", "\uFEFF{}", `{}`},
		{"application/json", "", `null`},
		{"text/plain", "\n ", `null`},
		{"text/plain; charset=utf-8", `{"a":1}`, `{"a":1}`},
		{"", ` [1,2] `, `[1,2]`},
		{"application/octet-stream", `{"a":1}`, `{"a":1}`},
		{"text/plain", `42`, `42`},
		{"", `"said"`, `"said"`},
		{"text/plain", `said`, `"said"`},
		{"text/plain", `{"a":1}{"a":2}`, `"{\"a\":1}{\"a\":2}"`},
		{"text/plain", `{not json`, `"{not json"`},
		{"text/plain", `{"a":1,"a":2}`, `"{\"a\":1,\"a\":2}"`},
		{"text/html", `{"a":1}`, `"{\"a\":1}"`},
		{"text/csv", "a,b\n1,2\n", `"a,b\n1,2\n"`},
		{"text/plain; charset=iso-8859-1", "caf\xe9", `"café"`},
		{"text/plain; charset=gbk", "\xc4\xe3", `"你"`},
		{"text/plain; charset=unheard-of", "plain", `"plain"`},
		{"text/plain; charset=gbk", "界", `"界"`}, // as its bytes are, and not as it says
		{"text/plain; charset=utf8", "café", `"café"`},
		{"application/json; charset=iso-8859-1", "{\"a\":\"caf\xe9\"}", `{"a":"café"}`},
		{"application/json; charset=iso-8859-1", `{"a":"café"}`, `{"a":"café"}`},
		{"text/plain; charset=utf-16le", "[\x001\x00]\x00", `[1]`},
		{"text/plain; charset=utf-16", "\xff\xfea\x00", `"a"`},
		{"text/plain; charset=utf-16", "\xfe\xff\x00a", `"a"`}, // by its mark, not as it says
		{"text/plain", "\xff\xfe\xfc\x00", `"ü"`},
		{"application/json", "\xff\xfe[\x001\x00]\x00", `[1]`},
		{"application/json; charset=utf-16be", "\x00[\x001\x00]", `[1]`},
		{"application/xml", "\xfe\xff\x00<\x00a\x00/\x00>", `"\u003ca/\u003e"`},
		{"application/xml", `<a n="1">b</a>`, `"\u003ca n=\"1\"\u003eb\u003c/a\u003e"`},
		{"text/xml; charset=utf-16", `<?xml version="1.0" encoding="utf-16"?><a>ü</a>`, // .NET says so of UTF-8
			`"\u003c?xml version=\"1.0\" encoding=\"utf-16\"?\u003e\u003ca\u003eü\u003c/a\u003e"`},
		{"application/xml", "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xfc</a>",
			`"\u003c?xml version='1.0' encoding='ISO-8859-1'?\u003e\u003ca\u003eü\u003c/a\u003e"`},
	} {
		contentType, body = row.contentType, row.body
		got, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
		if err != nil || encoded(t, got) != row.want {
			t.Errorf("%s %q: %s, %v, want %s", row.contentType, row.body, encoded(t, got), err, row.want)
		}
	}
	contentType, body, status = "", "", 204
	if got, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k"); got != nil || err != nil {
		t.Errorf("204: %v, %v", got, err)
	}
}

// The schema of a result says how an answer is read that its server does not declare as JSON.
func TestATextIsReadAsItsToolWantsIt(t *testing.T) {
	t.Parallel()
	var contentType, body string
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { write(contentType, body)(w, r) })
	c := client(t, nil, s)
	const id = "2512292042121000001"
	for _, row := range []struct{ wanted, contentType, body, want string }{
		{`{"type":"string"}`, "text/plain", "12", `"12"`},
		{`{"type":"string"}`, "text/plain", "true", `"true"`},
		{`{"type":"string"}`, "text/plain", "null", `"null"`},
		{`{"type":"string"}`, "text/plain", "007", `"007"`},
		{`{"type":"string"}`, "application/octet-stream", id, `"` + id + `"`},
		{`{"type":"string"}`, "text/plain", `{"a":1}`, `"{\"a\":1}"`},
		{`{"type":"string"}`, "text/plain", `"said"`, `"said"`},
		{`{"type":"string"}`, "text/plain", "", `""`},
		{`{"type":"string"}`, "application/json", "12", `12`}, // which does not fit
		{`{"type":"integer"}`, "text/plain", id, id},
		{`{"type":"integer"}`, "text/html", "12", `12`},
		{`{"type":"integer"}`, "text/plain", "007", `"007"`},
		{`{"type":"null"}`, "text/plain", "null", `null`},
		{`{"type":["string","null"]}`, "text/plain", "null", `null`},
		{`{"type":["string","integer"]}`, "text/plain", "12", `12`},
		{`{"type":"object"}`, "text/html; charset=utf-8", `{"a":1}`, `{"a":1}`}, // PHP's default
		{`{"type":"object"}`, "text/html", `{no`, `"{no"`},
		{`{}`, "text/plain", "12", `12`},
	} {
		contentType, body = row.contentType, row.body
		schema, err := jsonschema.CompileSchema(object(t, row.wanted))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Run(bg, runner.Input{Spec: map[string]any{"url": s.URL}, IdempotencyKey: "k",
			FitsAsResult: func(v any) bool { return schema.Validate(v) == nil }})
		if err != nil || encoded(t, got) != row.want {
			t.Errorf("%s of %s %q: %s, %v, want %s", row.wanted, row.contentType, row.body, encoded(t, got), err,
				row.want)
		}
	}
}

func TestAnEmptyAnswerIsItsLocationWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	var status int
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/jobs/7")
		w.WriteHeader(status)
	})
	c := client(t, nil, s)
	for _, row := range []struct {
		status       int
		wanted, want string
	}{
		{202, `{"type":"string"}`, `"` + s.URL + `/jobs/7"`},
		{201, `{"type":"object","required":["location"]}`, `{"location":"` + s.URL + `/jobs/7"}`},
		{201, `{}`, `null`}, {202, `{"type":["string","null"]}`, `null`}, {204, `{"type":"string"}`, `null`},
	} {
		schema, err := jsonschema.CompileSchema(object(t, row.wanted))
		if err != nil {
			t.Fatal(err)
		}
		status = row.status
		got, err := c.Run(bg, runner.Input{Spec: map[string]any{"url": s.URL}, IdempotencyKey: "k",
			FitsAsResult: func(v any) bool { return schema.Validate(v) == nil }})
		if err != nil || encoded(t, got) != row.want {
			t.Errorf("%d, %s: %s, %v", row.status, row.wanted, encoded(t, got), err)
		}
	}
}

func TestAnAnswerThatIsNeitherJSONNorTextIsAFinalError(t *testing.T) {
	t.Parallel()
	var contentType, body string
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { write(contentType, body)(w, r) })
	c := client(t, nil, s)
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, row := range []struct{ contentType, body, want string }{
		{"application/json", `{"a":`, "not the JSON that it says it is: model: decode JSON: the text ends at byte 5"},
		{"application/json", `{"a":1,"a":2}`, `$.a: the key stands twice`},
		{"application/json", `1 2`, "text after the value"},
		{"application/json", `[1e10000000]`, "out of range"},
		{"application/json", `[` + strings.Repeat("9", 500) + `]`, "$[0]: a number of 500 characters"},
		{"application/json", `[` + strings.Repeat("9", 350) + `]`, "out of range"},
		{"application/json", deep, "nested deeper than 500"},
		{"application/json", "\"\xff\"", "not valid UTF-8"},
		{"application/json", `["\ud83d\ude00", "a\\ud800", "\ud83d"]`, `\ud83d at byte 30 is half of a character`},
		{"image/png", "\x89PNG\xff", "the answer is not text (image/png)"},
		{"text/plain", "a\x00b", "the answer is not text"},
		{"text/plain; charset=utf8", "caf\xe9", "the answer is not text"},
		{"text/plain; charset=gbk", "\xc4\xe3 \xff", "the answer is not text"},
	} {
		contentType, body = row.contentType, row.body
		_, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
		if e := asError(t, err); e.IsRetryable || e.Status != 200 || !strings.Contains(e.Error(), row.want) {
			t.Errorf("%q: %v, want %q", row.body, e, row.want)
		}
	}
}

func TestACompressedAnswerThatIsNotReadIsNamed(t *testing.T) {
	t.Parallel()
	status, encoding, body := 200, "br", "\x0b\x02\x80{\"a\":1}\x03"
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", encoding)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	c := client(t, nil, s)
	for _, status = range []int{200, 400} {
		for _, encoding = range []string{"br", "zstd"} {
			_, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
			if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(),
				"(Content-Encoding: "+encoding+"): have the") {
				t.Errorf("%d: %v", status, e)
			}
		}
	}
	status, encoding, body = 200, "utf-8", `{"a":1}`
	if got, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k"); err != nil || encoded(t, got) != body {
		t.Errorf("as it is, and said to be encoded: %v, %v", got, err)
	}
}

func TestTheStatusSaysWhetherToTryAgain(t *testing.T) {
	t.Parallel()
	var status int
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(" because \n"))
	})
	c := client(t, nil, s)
	for want, statuses := range map[string][]int{
		"done":  {200, 201, 202, 206, 299},
		"retry": {408, 429, 500, 501, 502, 503, 504, 599},
		"final": {300, 301, 305, 400, 401, 403, 404, 405, 409, 410, 418, 422, 425, 451},
	} {
		for _, status = range statuses {
			got, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
			if want == "done" {
				if err != nil || got != " because \n" {
					t.Errorf("%d: %v, %v", status, got, err)
				}
				continue
			}
			e := asError(t, err)
			text := fmt.Sprintf("httptool: POST %s: status %d: because", s.URL, status)
			if e.Status != status || e.Body != "because" || e.IsRetryable != (want == "retry") ||
				e.Final() == e.IsRetryable ||
				e.Error() != text {
				t.Errorf("%d: %#v", status, e)
			}
		}
	}
}

func TestAnErrorKeepsTheFirstThousandCharacters(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		_, _ = w.Write([]byte(strings.Repeat("界", 1500)))
	})
	_, err := client(t, nil, s).Do(bg, Spec{URL: s.URL}, nil, nil, "k")
	if e := asError(t, err); e.Body != strings.Repeat("界", 1000)+"…" {
		t.Errorf("%d bytes", len(e.Body))
	}
}

func TestAServerThatWantsToBeLeftAloneIsNotAskedBefore(t *testing.T) {
	t.Parallel()
	status, after, left, body := 429, "", "", ""
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", after)
		w.Header().Set("X-RateLimit-Remaining", left)
		w.Header().Set("X-RateLimit-Reset", "30")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	c := client(t, nil, s)
	for _, row := range []struct {
		status      int
		after, left string
		want        time.Duration
		throttled   bool
	}{
		{429, "30", "", 30 * time.Second, true}, {429, "", "", 0, true}, {503, "30", "", 30 * time.Second, false},
		// GitHub's limits are 403.
		{404, "30", "", 0, false}, {403, "30", "", 30 * time.Second, true}, {403, "", "", 0, false},
		{403, "", "0", 30 * time.Second, true}, {403, "", "7", 0, false}, {429, "", "0", 30 * time.Second, true},
	} {
		status, after, left = row.status, row.after, row.left
		_, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
		e := asError(t, err)
		if e.RetryAfter != row.want || runner.IsThrottled(err) != row.throttled || row.throttled && !e.IsRetryable {
			t.Errorf("%d %q: %v, %v", row.status, row.after, e.RetryAfter, err)
		}
	}
	status, after, left = 429, "", ""
	for said, want := range map[string]time.Duration{
		`{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}`: 17 * time.Second,
		`{"ok":false,"error_code":429,"parameters":{"retry_after":35}}`:                                              35 * time.Second,
		`{"message":"slow down"}`: 0, `slow down`: 0,
	} {
		body = said
		_, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
		if e := asError(t, err); e.RetryAfter != want || !e.IsRetryable {
			t.Errorf("%s: %v, %v", said, e.RetryAfter, err)
		}
	}
}

func TestAnAnswerOverTheLimitIsAFinalError(t *testing.T) {
	t.Parallel()
	body, chunked, zipped := "", false, false
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if chunked {
			w.(http.Flusher).Flush()
		}
		if zipped {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer func() { _ = z.Close() }()
			_, _ = z.Write([]byte(body))
			return
		}
		_, _ = w.Write([]byte(body))
	})
	c := client(t, nil, s)
	c.maxAnswerBytes = 1000
	for _, row := range []struct {
		bytes           int
		chunked, zipped bool
		fits            bool
	}{{1000, false, false, true}, {1001, false, false, false}, {1000, true, false, true}, {1001, true, false, false},
		{100000, false, true, false}} {
		body, chunked, zipped = strings.Repeat("a", row.bytes), row.chunked, row.zipped
		got, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
		if row.fits {
			if err != nil || got != body {
				t.Errorf("%+v: %v", row, err)
			}
		} else if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "the answer is over 1000 bytes") {
			t.Errorf("%+v: %v", row, e)
		}
	}
}

func TestABrokenConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("cut"))
	})
	c := client(t, nil, s)
	_, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
	if e := asError(t, err); !e.IsRetryable || e.Status != 0 || !strings.Contains(e.Error(), "unexpected EOF") {
		t.Errorf("cut: %v", e)
	}
	s.Close()
	_, err = c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
	if e := asError(t, err); !e.IsRetryable || !strings.Contains(e.Error(), "refused") {
		t.Errorf("closed: %v", e)
	}
}

func TestTheContextEndsARequest(t *testing.T) {
	t.Parallel()
	inside, release := make(chan bool), make(chan bool)
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { inside <- true; <-release })
	c := client(t, nil, s)
	ctx, cancel := context.WithCancel(bg)
	go func() { <-inside; cancel() }()
	_, err := c.Do(ctx, Spec{URL: s.URL}, nil, nil, "k")
	close(release)
	if e := asError(t, err); !e.IsRetryable || !errors.Is(err, context.Canceled) ||
		!strings.HasSuffix(e.Error(), "context canceled") {
		t.Errorf("%v", e)
	}
}

func TestStrictJSONIsWhatEncodingJSONReads(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":[1,{"b":null}],"c":"\u00e9"}`, `[]`, `{}`, `[[],{}]`, `-0.5e-3`, `true`} {
		var want any
		v, err := decodeJSON([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if want = object(t, `{"v":`+text+`}`)["v"]; !reflect.DeepEqual(v, want) {
			t.Errorf("%s: %v", text, v)
		}
	}
	for _, text := range []string{``, `{`, `[`, `]`, `}`, `{"a"}`, `{"a":}`, `[1,]`, `{"a":1,}`, `[1}`, `{1:2}`, `nul`,
		`'a'`, `[1 2]`, `{"a" 1}`, `{} x`} {
		if v, err := decodeJSON([]byte(text)); err == nil {
			t.Errorf("%s was read as %v", text, v)
		}
	}
}

func FuzzStrictJSONNeverPanicsAndComesBack(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,{"b":null}]}`, `[`, `{"a":1,"a":2}`, `1e400`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := decodeJSON(raw)
		if err != nil {
			return
		}
		again := jsonval.Encode(v)
		if back, err := decodeJSON(again); err != nil || !reflect.DeepEqual(back, v) {
			t.Fatalf("%q became %q: %v", raw, again, err)
		}
	})
}
