package workflows_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"processidea/protocol"
	"processidea/worker/telemetry/telemetrytest"
	"processidea/worker/workertest"
)

// named finds the spans of a name.
func named(spans []telemetrytest.Span, name string) (found []telemetrytest.Span) {
	for _, s := range spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// has checks attributes of a span.
func has(t *testing.T, s telemetrytest.Span, want map[string]any) {
	t.Helper()
	for key, v := range want {
		if fmt.Sprint(s.AttributeByKey[key]) != fmt.Sprint(v) {
			t.Errorf("%s: %s is %v, not %v", s.Name, key, s.AttributeByKey[key], v)
		}
	}
}

// unique checks that no span has come twice, and that all are in one trace.
func unique(t *testing.T, spans []telemetrytest.Span) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range spans {
		if seen[s.ID] || s.TraceID != spans[0].TraceID {
			t.Errorf("%s came twice, or is in another trace", s.Name)
		}
		seen[s.ID] = true
	}
}

// flush stops a worker, which sends the last of its spans.
func flush(t *testing.T, p *workertest.WorkerProcess) {
	t.Helper()
	p.Signal(syscall.SIGTERM)
	stopped(t, p)
}

func TestATraceLeadsFromTheProcessOverItsRequestsToTheirCallsAndKeepsSecrets(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	good, _ := keyed("/"+c.id+"/good",
		func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, `"result-hush"`) })
	bad, _ := keyed("/"+c.id+"/bad", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, "error-hush")
	})
	s := newScenario(t, `{"meta": {"path": "tea"}, "schema": {"tools": {"good": {"type": "object", "properties": {"text": {"type": "string"}},
			"_activity": {"http": {"url": "`+good+`", "headers": {"Authorization": "$env:TEST_TRACE_KEY"}}}},
		"bad": `+httpTool(bad, "")+`}}, "context": [{"type": "text", "text": "prompt-hush"}]}`,
		`{"status": 503}`,
		`{"solution": {"calls": [{"_tool": "good", "text": "parameter-hush", "_outputPath": "a"}]}}`,
		`{"solution": {"calls": [{"_tool": "bad", "n": 1, "_outputPath": "b"}]}}`, `{"solution": {"calls": []}}`)
	r := telemetrytest.NewReceiver(t)
	// Nothing is kept in memory: every workflow task replays all that was before.
	p := c.productionWith(append(r.Environment(), "TEST_TRACE_KEY=secret-hush",
		"PROCESSIDEA_TOOL_SECRETS=TEST_TRACE_KEY@127.0.0.1"), "--cached-workflows", "0")
	c.finish(c.start(s))
	flush(t, p)

	spans := r.Spans()
	unique(t, spans)
	root := named(spans, "invoke_workflow tea")
	requests := named(spans, "chat "+s.id)
	if len(spans) != 7 || len(root) != 1 || len(requests) != 4 || root[0].ParentID != "" {
		t.Fatalf("%d spans, %d Requests: %v", len(spans), len(requests), spans)
	}
	has(t, root[0], map[string]any{"processidea.process": s.id, "processidea.outcome": "completed",
		"gen_ai.operation.name": "invoke_workflow", "session.id": s.id, "gen_ai.conversation.id": s.id})
	at, _ := url.Parse(llmURL)
	for i, want := range []map[string]any{
		{"processidea.request": 1, "processidea.attempt": 1, "error.type": "llm_unreachable",
			"gen_ai.usage.input_tokens": nil},
		{"processidea.request": 1, "processidea.attempt": 2, "gen_ai.response.finish_reasons": "[stop]",
			"error.type": nil},
		{"processidea.request": 2, "gen_ai.operation.name": "chat", "gen_ai.request.model": s.id,
			"gen_ai.output.type": "json", "session.id": s.id, "gen_ai.provider.name": "127.0.0.1"},
		{"processidea.request": 3, "server.address": at.Hostname(), "server.port": at.Port(),
			"processidea.outcome": "whole"},
	} {
		has(t, requests[i], want)
		if requests[i].ParentID != root[0].ID {
			t.Errorf("Request span %d is not under the process", i+1)
		}
	}
	if n, _ := requests[1].AttributeByKey["gen_ai.usage.input_tokens"].(int64); n == 0 ||
		requests[1].AttributeByKey["gen_ai.usage.output_tokens"] == int64(0) {
		t.Errorf("tokens: %v", requests[1].AttributeByKey)
	}
	for name, want := range map[string]struct {
		under telemetrytest.Span
		has   map[string]any
	}{
		"good": {requests[1], map[string]any{"gen_ai.tool.call.id": "1.1", "processidea.outcome": "done",
			"error.type": nil}},
		"bad": {requests[2], map[string]any{"gen_ai.tool.call.id": "2.1", "processidea.outcome": "tool_failed",
			"error.type": "tool_failed"}},
	} {
		calls := named(spans, "execute_tool "+name)
		if len(calls) != 1 || calls[0].ParentID != want.under.ID {
			t.Fatalf("%s: %v, not under %s", name, calls, want.under.ID)
		}
		has(t, calls[0], want.has)
		has(t, calls[0], map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
			"gen_ai.tool.type": "extension", "session.id": s.id})
	}
	if strings.Contains(r.RawBytes(), "hush") {
		t.Error("the traces tell a secret")
	}
}

func TestAnotherWorkerGoesOnWithATraceAndAReplayAddsNothing(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	release := make(chan struct{})
	url, seen := keyed("/"+c.id+"/go", func(w http.ResponseWriter, r *http.Request, nth int) {
		if nth == 1 {
			<-r.Context().Done() // its worker is gone
		}
		<-release
		fmt.Fprint(w, `1`)
	})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "go", "_outputPath": "a"}]}}`, `{"solution": {"calls": []}}`)
	r := telemetrytest.NewReceiver(t)
	first := c.productionWith(r.Environment())
	run := c.start(s)
	eventually(t, "it runs", func() bool { return len(seen()) == 1 && len(named(r.Spans(), "chat "+s.id)) == 1 })
	first.Signal(syscall.SIGKILL)
	first.Wait()
	second := c.productionWith(r.Environment())
	close(release)
	c.finish(run)
	flush(t, second)
	all := r.Spans()
	unique(t, all)
	calls, requests, root := named(all, "execute_tool go"), named(all, "chat "+s.id), named(all, "invoke_workflow")
	if len(all) != 4 || len(calls) != 1 || len(requests) != 2 || len(root) != 1 {
		t.Fatalf("%d spans: %v", len(all), all)
	}
	// The Request was told of by the worker that is gone.
	if calls[0].ParentID != requests[0].ID ||
		slices.ContainsFunc(requests, func(q telemetrytest.Span) bool { return q.ParentID != root[0].ID }) {
		t.Errorf("%v", all)
	}
	third := c.productionWith(r.Environment())
	for _, id := range []string{s.id, s.id + "/main"} {
		if _, err := c.client.QueryWorkflow(t.Context(), id, "", protocol.QueryStatus); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, third)
	if n := len(r.Spans()); n != len(all) {
		t.Errorf("a replay has added %d spans", n-len(all))
	}
}
