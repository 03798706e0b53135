package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The files of a process that judges two comments and needs no tool.
const (
	judgeIdea = `{
	"meta": {"path": "moderation", "version": "7"},
	"schema": {
		"tools": {"judge": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
			"additionalProperties": false, "_output": {"type": "string"}}},
		"output": {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"], "additionalProperties": false}},
	"context": [
		{"type": "text", "text": "Judge every comment."},
		{"type": "state", "_instance": "①", "text": "This is wonderful!", "n": 12345678901234567890},
		{"type": "state", "_instance": "②", "text": "This is terrible."}]}`
	judgeReplies = `{"solution": {"calls": [
{"_tool": "judge", "_instance": "*", "text": "†state.text", "_outputPath": "mood", "_output": "strong"}], "output": null}}
{"solution": {"calls": [], "output": {"summary": "two <b> & strong ones"}}}`
	// nothingMore settles every instance.
	nothingMore = `{"solution": {"calls": [], "output": null}}`
)

func judge() map[string]string {
	return map[string]string{"idea.json": judgeIdea, "replies.jsonl": oneLine(judgeReplies)}
}

// oneLine puts the lines of each reply together.
func oneLine(replies string) string {
	return strings.ReplaceAll(replies, "[\n", "[")
}

// gate is an HTTP tool whose calls wait until the test lets them go.
type gate struct {
	*httptest.Server
	arrived chan string   // the idempotency keys of the calls, as they come
	open    chan struct{} // closed when calls are answered
	once    sync.Once
}

func newGate(t *testing.T) *gate {
	g := &gate{arrived: make(chan string, 100), open: make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.arrived <- r.Header.Get("Idempotency-Key")
		select {
		case <-g.open:
			fmt.Fprint(w, `{"through": true}`)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() {
		g.release()
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

// host is what the allow-list of hosts names.
func (g *gate) host() string { return strings.TrimPrefix(g.URL, "http://") }

// key waits for a call and gives its idempotency key.
func (g *gate) key(d *desk) string {
	d.Helper()
	select {
	case k := <-g.arrived:
		return k
	case <-d.Context().Done():
		d.Fatal("no call came")
	}
	return ""
}

// files are those of a process with one Call, which goes through the gate.
func (g *gate) files() map[string]string {
	return map[string]string{
		"idea.json": `{"schema": {"tools": {"pass": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
			"additionalProperties": false, "_activity": {"http": {"url": "` + g.URL + `"}}}}},
			"context": [{"type": "state", "n": 1}]}`,
		"replies.jsonl": `{"solution": {"calls": [{"_tool": "pass", "n": "†state.n", "_outputPath": "passed"}], "output": null}}` + "\n" + nothingMore,
	}
}

// gated is a desk for a process that waits at a gate.
func gated(t *testing.T) (*desk, *gate) {
	g := newGate(t)
	return newDesk(t, g.files()).set("PROCESSIDEA_HTTP_ALLOW=" + g.host()), g
}
