package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"processidea/model/turn"
	"processidea/starter/internal/exit"
)

const (
	toolSecret = `t0p/secret&"value"`
	llmSecret  = "sk-0123456789abcdef"
)

// writings are the forms in which a server may repeat a secret.
func writings(value string) []string {
	quoted, _ := json.Marshal(value)
	return []string{
		value, string(quoted[1 : len(quoted)-1]), strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "/", `\/`),
		url.QueryEscape(value), strings.ToLower(url.QueryEscape(value)), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
		base64.StdEncoding.EncodeToString([]byte("user:" + value)), hex.EncodeToString([]byte(value)),
	}
}

// parrot is a server that repeats the secrets it was sent, in every form, whatever it is asked: as a result, as an
// error, and as an error that is tried again. What asks without a secret is told what the others sent.
func parrot(t *testing.T) *httptest.Server {
	var mu sync.Mutex
	var heard []string
	busy := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			heard = append(heard, token)
		}
		all := []string{}
		for _, token := range heard {
			all = append(all, writings(token)...)
		}
		status := http.StatusOK
		switch r.URL.Path {
		case "/refuse":
			status = http.StatusUnprocessableEntity
		case "/busy":
			if !busy {
				busy, status = true, http.StatusServiceUnavailable
			}
		case "/v1/chat/completions":
			status = http.StatusUnauthorized
			all = append(all, "Incorrect API key provided: "+r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/json; echo="+url.PathEscape(r.Header.Get("Authorization")))
		w.WriteHeader(status)
		tree := map[string]any{"all": all, "text": strings.Join(all, " "), "large": strings.Repeat("x", 70_000) +
			strings.Join(all, " ")}
		for _, text := range all {
			tree[text] = true
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"heard": tree,
			"error": map[string]any{"message": strings.Join(all, " ")}})
	}))
	t.Cleanup(s.Close)
	return s
}

func parrotFiles(at string) map[string]string {
	tool := func(path string) string {
		return fmt.Sprintf(`{"type": "object", "_activity": {"http": {"url": "%s/%s?key=$env:TOKEN",
			"headers": {"Authorization": "Bearer $env:TOKEN"}, "body": {"again": "$env:TOKEN"}}}}`, at, path)
	}
	return map[string]string{
		"idea.json": fmt.Sprintf(`{"schema": {"tools": {"repeat": %s, "refuse": %s, "busy": %s, "tell": {"type": "object", "_activity": {"http": {"url": "%s/tell"}}}}},
			"context": [{"type": "state", "n": 1}]}`, tool("repeat"), tool("refuse"), tool("busy"), at),
		"replies.jsonl": `{"solution": {"calls": [{"_tool": "repeat", "_outputPath": "a"}, {"_tool": "refuse", "_outputPath": "b"}, ` +
			`{"_tool": "busy", "_outputPath": "c"}, {"_tool": "tell", "_outputPath": "†state.a && †state.a.d"}], "output": null}}` + "\n" +
			`{"solution": {"calls": [{"_tool": "tell", "_outputPath": "d"}], "output": null}}` + "\n" + nothingMore,
		"asks.json": `{"schema": {"tools": {}}, "context": [{"type": "text", "text": "Do something."}]}`,
	}
}

func TestASecretThatServersRepeatStandsNowhere(t *testing.T) {
	server := parrot(t)
	// The server's files are looked through.
	d := newDesk(t, parrotFiles(server.URL)).ownServer().set("PROCESSIDEA_HTTP_ALLOW="+strings.TrimPrefix(server.URL,
		"http://"), "TOKEN="+toolSecret, "PROCESSIDEA_TOOL_SECRETS=TOKEN@127.0.0.1")
	done := d.do("run", ".", "--id", "p", "--json", noUI).is(exit.Done)
	if r := done.result(); r.Calls.Done != 3 || r.Calls.Failed != 2 {
		t.Errorf("%+v", r.Calls)
	}
	asking := d.at(d.dir).set("OPENAI_API_KEY="+llmSecret, "OPENAI_BASE_URL="+parrot(t).URL+"/v1")
	refused := asking.do("run", "asks.json", "--id", "q", "--json", noUI).is(exit.Paused)
	if r := refused.result(); r.Error == nil || r.Error.Code != turn.CodeLLMError ||
		!strings.Contains(r.Error.Message, "[secret OPENAI_API_KEY]") {
		t.Errorf("%+v", r.Error)
	}
	shown := d.do("show", "p").is(exit.Done)
	if !strings.Contains(shown.out, "[secret TOKEN]") {
		t.Error("the Idea holds nothing of what the tools repeated")
	}

	data := filepath.Join(d.dir, ".processidea")
	for _, value := range []string{toolSecret, llmSecret} {
		for text, files := range found(t, data, writings(value)...) {
			t.Errorf("%q stands in %q", text, files)
		}
		for _, text := range writings(value) {
			for _, e := range []ended{done, refused, shown} {
				if strings.Contains(e.out+e.err, text) {
					t.Errorf("%s prints %q", e.line, text)
				}
			}
		}
	}
	// It would have stood everywhere.
	in := strings.Join(found(t, data, "[secret TOKEN]")["[secret TOKEN]"], " ")
	for _, file := range []string{"temporal.db", "worker.log", "ideas/p/3.json", "store/sha256/"} {
		if !strings.Contains(in, file) {
			t.Errorf("nothing was struck out of what stands in %s, but in %s", file, in)
		}
	}
}
