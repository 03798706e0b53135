package intake_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/gateway/access"
	"processidea/gateway/intake"
	"processidea/internal/longrun"
)

const (
	bodySize = 3 << 20
	// atMost is how many times the body refusing it takes, in memory and in the answer. free is what it takes beside
	// that: of a body that is dense and yet short enough to be read.
	atMost = 10
	free   = 64 << 20
)

// filled repeats a text with a number in it, N, up to about so many bytes.
func filled(begin, item, end string, size int) string {
	var b strings.Builder
	b.WriteString(begin)
	for n := 0; b.Len() < size; n++ {
		if n > 0 {
			b.WriteString(",")
		}
		b.WriteString(strings.ReplaceAll(item, "N", strconv.Itoa(n)))
	}
	b.WriteString(end)
	return b.String()
}

// hostile are JSON values that are meant to take memory, by what they are.
func hostile(size int) map[string]string {
	return map[string]string{
		"empty objects": filled("[", "{}", "]", size),
		"numbers":       filled("[", "1", "]", size),
		"objects":       filled("[", `{"a long key that nobody knows N":1}`, "]", size),
		"texts":         filled("[", `"a text where there should be none, number N"`, "]", size),
		"unknown keys":  filled("{", `"N":1`, "}", size),
		"long keys":     filled("{", `"a long key that nobody knows N":"N"`, "}", size),
		"deep nesting":  strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"one long text": `"` + strings.Repeat("x", size) + `"`,
		"below a long key": `{"` + strings.Repeat("k", size/2) + `":` +
			filled("[", `"a text where there should be none, number N"`, "]", size/2) + "}",
	}
}

// turns gives the ordinary run one of the bodies for each door, in turn, and the long run all of them.
func turns(door int, bodies map[string]string) map[string]string {
	some := map[string]string{}
	for n, what := range slices.Sorted(maps.Keys(bodies)) {
		if longrun.Enabled() || (door+n)%len(bodies) == 0 {
			some[what] = bodies[what]
		}
	}
	return some
}

// door is a page that takes bodies.
type door struct {
	method, path string
	as           string   // what it is sent as
	keys         []string // of the body
	send         func(g *gateway, d door, body string) *http.Request
}

// operations are those of the API that take a body, as its description lists them.
func (g *gateway) operations() (doors []door) {
	answer, err := http.Get(g.url + "/openapi.json") //nolint:gosec,noctx // the test's own gateway
	if err != nil {
		g.Fatal(err)
	}
	defer answer.Body.Close()
	type schema struct {
		Ref        string         `json:"$ref"`
		Properties map[string]any `json:"properties"`
	}
	var described struct {
		Paths map[string]map[string]struct {
			RequestBody *struct {
				Content map[string]struct{ Schema schema } `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct{ Schemas map[string]schema } `json:"components"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&described); err != nil {
		g.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(described.Paths)) {
		for method, op := range described.Paths[path] {
			if op.RequestBody == nil {
				continue
			}
			s := op.RequestBody.Content["application/json"].Schema
			if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
				s = described.Components.Schemas[name]
			}
			d := door{method: strings.ToUpper(method), path: path, send: asJSON}
			d.keys = slices.Sorted(maps.Keys(s.Properties))
			if path == "/hooks/{name}" {
				d.path, d.keys, d.send = hookPath, []string{"a"}, signed
			}
			doors = append(doors, d)
		}
	}
	if len(doors) < 10 {
		g.Fatalf("only %d operations take a body", len(doors))
	}
	return doors
}

var postedTo = regexp.MustCompile(`"POST (/desk/[^"]+)"`)

// forms are the pages of the desk that take a form, as its source lists them.
func (g *gateway) forms() (doors []door) {
	files, err := filepath.Glob("../desk/*.go")
	if err != nil {
		g.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			g.Fatal(err)
		}
		for _, m := range postedTo.FindAllSubmatch(source, -1) {
			path := string(m[1])
			if path == "/desk/leave" {
				continue // which ends the session, and reads nothing
			}
			for _, way := range []struct {
				as   string
				send func(*gateway, door, string) *http.Request
			}{{"fields", asForm}, {"an Idea", asIdea}, {"rows", asRows}, {"a table", asTable}, {"replies", asReplies}} {
				doors = append(doors, door{http.MethodPost, path, way.as, nil, way.send})
			}
		}
	}
	if len(doors) < 20 {
		g.Fatalf("only %d forms are found", len(doors))
	}
	return doors
}

var inBraces = regexp.MustCompile(`\{[a-z]+\}`)

func (g *gateway) request(d door, mediaType, body string) *http.Request {
	r, err := http.NewRequestWithContext(g.Context(), d.method, g.url+inBraces.ReplaceAllString(d.path, "x"),
		strings.NewReader(body))
	if err != nil {
		g.Fatal(err)
	}
	r.Header.Set("Content-Type", mediaType)
	return r
}

func asJSON(g *gateway, d door, body string) *http.Request {
	r := g.request(d, "application/json", body)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func signed(g *gateway, d door, body string) *http.Request {
	key, err := webhook.NewWebhook(whsec())
	if err != nil {
		g.Fatal(err)
	}
	now := time.Now()
	signature, err := key.Sign("msg", now, []byte(body))
	if err != nil {
		g.Fatal(err)
	}
	r := g.request(d, "application/json", body)
	r.Header.Set(webhook.HeaderWebhookID, "msg")
	r.Header.Set(webhook.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(webhook.HeaderWebhookSignature, signature)
	return r
}

func asMCP(g *gateway, d door, body string) *http.Request {
	tool, args, _ := strings.Cut(body, " ")
	r := asJSON(g, d, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
		tool, args))
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

// asForm has the marks of JSON part the fields of a form.
func asForm(g *gateway, d door, body string) *http.Request {
	return g.posted(d, "application/x-www-form-urlencoded",
		"do=check&"+strings.NewReplacer(",", "&", ":", "=").Replace(body))
}

func asIdea(g *gateway, d door, body string) *http.Request {
	return g.upload(d, "idea", "idea.json", `{"context":`+body+`}`)
}

func asRows(g *gateway, d door, body string) *http.Request {
	return g.upload(d, "rows", "rows.jsonl", body)
}

func asTable(g *gateway, d door, body string) *http.Request {
	return g.upload(d, "rows", "rows.csv", "a\n"+strings.ReplaceAll(body, ",", "\n"))
}

func asReplies(g *gateway, d door, body string) *http.Request {
	return g.upload(d, "replies", "replies.jsonl", strings.ReplaceAll(strings.Trim(body, "[]"), ",", "\n"))
}

func (g *gateway) upload(d door, field, name, text string) *http.Request {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("do", "check")
	if field != "idea" {
		_ = w.WriteField("idea-text", startable)
	}
	f, err := w.CreateFormFile(field, name)
	if err != nil {
		g.Fatal(err)
	}
	_, _ = io.WriteString(f, text)
	_ = w.Close()
	return g.posted(d, w.FormDataContentType(), b.String())
}

func (g *gateway) posted(d door, mediaType, body string) *http.Request {
	r := g.request(d, mediaType, body)
	r.Header.Set("Origin", g.url)
	r.Header.Set("Cookie", g.cookie)
	return r
}

// logIn lets the test in at the desk.
func (g *gateway) logIn() {
	r := g.posted(door{method: http.MethodPost, path: "/desk/enter"}, "application/x-www-form-urlencoded",
		url.Values{"token": {token}}.Encode())
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		g.Fatal(err)
	}
	_ = answer.Body.Close()
	if len(answer.Cookies()) == 0 {
		g.Fatalf("nobody is let in: %d", answer.StatusCode)
	}
	for _, c := range answer.Cookies() {
		g.cookie += c.Name + "=" + c.Value + "; "
	}
}

// answered sends a body, and reads the answer.
func (g *gateway) answered(d door, what, body string) (status int, answer []byte) {
	g.Helper()
	a, err := http.DefaultTransport.RoundTrip(d.send(g, d, body))
	if err != nil {
		g.Fatalf("%s %s with %s: %v", d.method, d.path, what, err)
	}
	defer a.Body.Close()
	if answer, err = io.ReadAll(a.Body); err != nil {
		g.Fatalf("%s %s with %s: %v", d.method, d.path, what, err)
	}
	return a.StatusCode, answer
}

// holds sends a body, and checks what it takes.
func (g *gateway) holds(d door, what, body string) (status int) {
	g.Helper()
	var answer []byte
	memory := g.taken(func() { status, answer = g.answered(d, what, body) })
	limit := atMost * len(body)
	if status < http.StatusMultipleChoices { // it is taken, and worked on
		limit *= 2
	}
	if memory > limit+free || len(answer) > atMost*len(body) {
		g.Errorf("%s %s with %s as %q, a body of %d KB, is answered with %d by %d KB and takes %d MB of memory",
			d.method, d.path, what, d.as, len(body)>>10, status, len(answer)>>10, memory>>20)
	}
	return status
}

// Every operation that the API describes is sent bodies of millions of mistakes, in the long run below each of its keys
// too.
func TestNoBodyOfAnOperationTakesMuchMoreThanItsSize(t *testing.T) {
	g := begin(t)
	whole, short := hostile(bodySize), hostile(1<<20-100) // of a webhook 1 MB is read
	for n, d := range g.operations() {
		bodies := whole
		if d.path == hookPath {
			bodies = short
		}
		for what, body := range turns(n, bodies) {
			if status := g.holds(d, what, body); status < 400 && d.path != hookPath {
				t.Errorf("%s %s takes %s: %d", d.method, d.path, what, status)
			}
		}
		if !longrun.Enabled() {
			continue
		}
		for _, key := range d.keys {
			for what, body := range bodies {
				g.holds(d, key+" of "+what, `{"`+key+`":`+body+`}`)
			}
		}
	}
}

// Every form of the desk is sent them, as fields and as files.
func TestNoFormOfTheDeskTakesMuchMoreThanItsSize(t *testing.T) {
	g := begin(t)
	g.logIn()
	for n, d := range g.forms() {
		for what, body := range turns(n, hostile(bodySize)) {
			g.holds(d, what, body)
		}
	}
}

// The tools of agents are sent them as arguments.
func TestNoToolOfAnAgentTakesMuchMoreThanItsSize(t *testing.T) {
	g := begin(t)
	mcp := door{method: http.MethodPost, path: "/mcp", send: asMCP}
	bodies := hostile(bodySize)
	for n, tool := range []string{"start_idea", "get_process", "decide", "fork_process"} {
		for what, body := range turns(n, bodies) {
			g.holds(mcp, tool+" of "+what, tool+" "+body)
			g.holds(mcp, tool+" instances of "+what, tool+` {"instances":`+body+`}`)
		}
	}
	for what, body := range turns(0, bodies) {
		g.holds(mcp, "input of "+what, `start_idea {"input":{"a":`+body+`}}`)
	}
}

// Each row takes over a thousand bytes with its message: the shorter rows are, the more memory they take for their
// text.
func TestNoRowsOfAStartTakeMuchMoreThanTheirSize(t *testing.T) {
	g := begin(t)
	const size = 10 << 20
	start := door{method: http.MethodPost, path: "/api/processes", send: asJSON}
	for what, row := range map[string]struct {
		text  string
		taken int // bytes: of shorter ones there may not be so many
	}{
		"nothing": {`{}`, 230}, "a name": {`{"_instance":"aN"}`, 230}, "a number": {`{"n":N}`, 230},
		"nine numbers": {filled("{", `"N":1`, "}", len(`"N":1,`)*9-1), 350},
	} {
		for _, width := range []int{90, row.taken} {
			rows := filled("[", fmt.Sprintf("%-*s", width, row.text), "]", size)
			body := `{"idea":` + startable + `,"instances":` + rows + `}`
			var status int
			memory := g.taken(func() { status, _ = g.answered(start, what, body) })
			refused := status == http.StatusRequestEntityTooLarge
			if memory > atMost*len(body)+free || refused != (width != row.taken) {
				t.Errorf("rows of %s, %d bytes each, a body of %d KB, are answered with %d and take %d MB",
					what, width, len(body)>>10, status, memory>>20)
			}
		}
	}
}

// These are what the bounds were made for: each is refused, and says what is wrong with a hundred of them at most.
func TestARefusalNamesAHundredMistakesAndCountsTheRest(t *testing.T) {
	g := begin(t)
	for what, c := range map[string]struct {
		path, body string
		status     int
		want       string
	}{
		"the length of a list before its items": {"/api/decisions",
			filled(`{"decisions":[`,
				`{"N":"`+strings.Repeat("a long text that is no decision ", 8)+`"}`, "]}", bodySize), 422,
			`"body.decisions","message":"expected array length `},
		"unknown keys": {"/api/processes", filled(`{`, `"a long key that nobody knows N":"N"`, `}`, bodySize),
			422, "more"},
		"instances that are texts": {"/api/processes",
			filled(`{"idea":{},"instances":[`, `"a text that is no instance, number N"`, "]}", bodySize), 422,
			`and 73,`},
		"messages that are texts": {"/api/processes",
			filled(`{"idea":{"context":[`, `"a text that is no message, number N"`, "]}}", bodySize), 422, `more"`},
		"too many values": {"/api/processes", filled(`{"idea":{"context":[`, `1`, "]}}", bodySize), 413,
			"send it in several parts"},
		"a key twice": {"/api/decisions", `{"decisions":[],"decisions":[]}`, 422, "the key stands twice"},
	} {
		r := asJSON(g, door{method: http.MethodPost, path: c.path}, c.body)
		a, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		_ = a.Body.Close()
		var p struct{ Problems []any }
		_ = json.Unmarshal(text, &p)
		if a.StatusCode != c.status || !strings.Contains(string(text), c.want) || len(p.Problems) > 101 ||
			len(text) > 1<<20 {
			t.Errorf("%s: %d, %d problems in %d bytes, want %d and %s: %.600s … %s", what, a.StatusCode,
				len(p.Problems), len(text), c.status, c.want,
				text, text[max(0, len(text)-200):])
		}
	}
}

func TestACompressedBodyIsRefusedInWords(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("\x1f\x8b"))
	r.Header.Set("Content-Encoding", "gzip")
	_, _, err := intake.New(time.Minute).Read(httptest.NewRecorder(), r, 100)
	var refusal *access.Refusal
	if !errors.As(err, &refusal) || refusal.Status != http.StatusUnsupportedMediaType ||
		!strings.Contains(refusal.Message, `has the Content-Encoding "gzip": send it as it is`) {
		t.Errorf("%v", err)
	}
}
