package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/client/ideafiles"
	"processidea/internal/longrun"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
	"processidea/protocol"
)

// edge is a process with one number of its Idea at an edge.
type edge struct {
	*scenario
	leaf  modeltest.NumberField
	value string
}

func (e edge) String() string { return e.leaf.String() + " = " + e.value }

// mayPause reports whether the number is one of those that pause a process: by a limit, or by an LLM that has no time
// to answer.
func (e edge) mayPause() bool {
	return strings.HasPrefix(e.leaf.String(), "config.limits.") || e.isTimeOfLLM()
}

// isTimeOfLLM reports whether the number is a time that an LLM has.
func (e edge) isTimeOfLLM() bool {
	return strings.HasPrefix(e.leaf.String(), "config.llm.") && e.leaf.IsDuration
}

// endsItself reports whether the Call that waits for a person is given up before one would decide.
func (e edge) endsItself() bool {
	d, err := jsonval.ReadDuration(modeltest.MustDecodeJSON(e.value))
	return strings.HasSuffix(e.leaf.String(), "_approval.timeout") && err == nil && d < time.Minute
}

// Every number that an Idea file may hold is run at its edges on the shared worker: each process comes to its end, or
// pauses with a reason where that is what the number means. The table is made from the JSON Schema, so that a new
// number is in it by itself. The gate takes an eighth of its rows.
func TestEveryNumberRunsAtItsEdges(t *testing.T) {
	t.Parallel()
	rows := map[string]edge{}
	for _, leaf := range modeltest.NumberFields(modeltest.MustDecodeJSON(string(ideafiles.Schema)).(map[string]any)) {
		for _, value := range edgesThatRun(leaf) {
			e := newEdge(t, fmt.Sprintf("edge-%d", len(rows)), leaf, value)
			rows[e.String()] = e
		}
	}
	if len(rows) < 120 {
		t.Errorf("only %d rows", len(rows))
	}
	var open []edge
	for _, e := range longrun.SampleRows(t, 8, rows) {
		e.start()
		open = append(open, e)
	}
	for _, e := range open { // all of them run meanwhile
		eventually(t, e.String()+" ends", e.isOver)
	}
}

func newEdge(t *testing.T, id string, leaf modeltest.NumberField, value string) edge {
	t.Helper()
	config, messages := `"llm": {"model": "`+id+`"}`, `{"type": "text", "text": "Go."}`
	if path := leaf.String(); path == "config.batch" || path == "config.partsAtOnce" { // they are about parts
		config, messages = config+`, "batch": 1`, rowsOf(3)+`{"type": "plan", "stage": "complete", "plan": [
			{"_tool": "shout", "text": "quick", "_outputPath": "a"}]}`
	}
	base := modeltest.MustDecodeJSON(`{"config": {` + config + `}, "schema": {"tools": {"shout": ` + textTool + `}},
		"context": [` + messages + `]}`).(map[string]any)
	e := edge{&scenario{t: t, client: temporalClient, namespace: server.Namespace(), id: id}, leaf, value}
	e.idea = leaf.WithValue(base, modeltest.MustDecodeJSON(value))
	e.script(`{"solution": {"calls": [{"_tool": "shout", "text": "quick", "_outputPath": "a"}]}}`, nothingMore,
		nothingMore) // a Request may be made twice
	return e
}

// edgesThatRun are the values that an Idea may have at a place, each once.
func edgesThatRun(leaf modeltest.NumberField) (values []string) {
	read := map[any]bool{}
	for _, value := range append(leaf.EdgeValues(), leaf.MinimumJSON(), leaf.MaximumJSON()) {
		idea := leaf.WithValue(map[string]any{"schema": modeltest.MustDecodeJSON(`{"tools": {"shout": ` + textTool + `}}`)},
			modeltest.MustDecodeJSON(value))
		if _, problems := ideafile.ReadIdea(idea); len(problems) == 0 && !read[meaning(leaf, value)] {
			read[meaning(leaf, value)] = true
			values = append(values, value)
		}
	}
	return values
}

// meaning is what a value comes to, however it is written.
func meaning(leaf modeltest.NumberField, value string) any {
	v := modeltest.MustDecodeJSON(value)
	if leaf.IsDuration {
		d, _ := jsonval.ReadDuration(v)
		return d
	}
	f, _ := jsonval.ToFloat(v)
	return f
}

// isOver moves a process on that waits for people, and reports whether it has come to what its number means.
func (e edge) isOver() bool {
	switch v := e.processStatus(); {
	case v.Status == loop.StatusCompleted:
		return true
	case v.Status == loop.StatusPaused:
		if !e.mayPause() || v.Error == nil || v.Error.Message == "" {
			e.t.Errorf("%s pauses: %s", e, asJSON(v))
		}
		return e.cancel()
	case v.Status != loop.StatusRunning:
		e.t.Errorf("%s ended as %s", e, asJSON(v))
		return true
	case len(v.HoldUps) > 0 && v.HoldUps[0].CauseCode == turn.CodeLLMUnreachable && e.isTimeOfLLM():
		return e.cancel() // an LLM that has no time for its first byte is waited for
	case v.PendingDecisionCount > 0 && !e.endsItself():
		e.approve()
	}
	return false
}

func (e edge) cancel() (over bool) {
	if err := e.client.CancelWorkflow(e.t.Context(), e.id, ""); err != nil {
		e.t.Errorf("%s: %v", e, err)
	}
	return true
}

// approve has as many people approve as must.
func (e edge) approve() {
	var v protocol.ProcessApprovals
	if q, err := e.client.QueryWorkflow(e.t.Context(), e.id, "", protocol.QueryApprovals); err != nil ||
		q.Get(&v) != nil || len(v.Approvals) == 0 {
		return
	}
	people := 1
	if strings.HasSuffix(e.leaf.String(), ".count") {
		f, _ := jsonval.ToFloat(modeltest.MustDecodeJSON(e.value))
		people = int(f)
	}
	for n := range people {
		by := fmt.Sprintf("clerk %d", n)
		decision := map[string]any{"call": v.Approvals[0].CallID, "by": by, "groups": []any{"clerks"}, "id": by}
		_ = e.client.SignalWorkflow(e.t.Context(), e.id, "", policy.Approve, decision) // it may have ended meanwhile
	}
}

func TestManyLLMsMayTakeTheirTime(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"context": [{"type": "text", "text": "Go."}]}`, nothingMore)
	one := map[string]any{"model": s.id, "timeout": "87600h"}
	s.idea["config"] = map[string]any{"llm": []any{one, one, one, one, one, one, one, one}}
	if r := s.finish(); r.Status != loop.StatusCompleted {
		t.Errorf("it ended as %s", r.Status)
	}
}
