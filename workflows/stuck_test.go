package workflows_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
)

// pausesAndGoesOn waits until the process has paused for a reason, mends that, and resumes it.
func (s *scenario) pausesAndGoesOn(code, why string, mend func()) loop.ProcessResult {
	s.t.Helper()
	run := s.start()
	s.pausedWith(code, why)
	mend()
	s.signal(s.id, approval.SteerResume, map[string]any{"by": "ann"})
	return s.end(run)
}

func TestWhatTheWorkerLacksForAToolPausesTheProcessAndTheCallIsTriedAgain(t *testing.T) {
	t.Parallel()
	const rows = `{"type": "state", "_instance": "1"}, {"type": "state", "_instance": "2"}, {"type": "state", "_instance": "3"}, {"type": "state", "_instance": "4"}`
	const call = `{"_tool": "ask", "_outputPath": "†state.a || †state.failed"}, {"_tool": "shout", "text": "quiet", "_outputPath": "a"}`
	for name, c := range longrun.SampleRows(t, 3, map[string]struct{ config, context string }{
		"planned":           {"", ""},
		"for many":          {"", rows},
		"in parts":          {`"batch": 2`, rows},
		"by a direct Plan":  {"", `{"type": "plan", "stage": "complete", "plan": [` + call + `]}`},
		"directly in parts": {`"batch": 3`, rows + `, {"type": "plan", "stage": "complete", "plan": [` + call + `]}`},
	}) {

		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			secret := "TEST_STUCK_" + strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(name))
			url := toolbox.handle("/stuck/"+secret,
				func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("X-Key")[:4]) })
			s := newScenario(t, `{"config": {`+c.config+`}, "schema": {"tools": {"shout": `+textTool+`, "ask": {"type": "object", "properties": {}, "_retry": {"attempts": 1},
				"_activity": {"http": {"url": "`+url+`", "headers": {"X-Key": "$env:`+secret+`"}}}}}}, "context": [`+c.context+`]}`)
			s.scripted = `{"solution": {"calls": [` + strings.ReplaceAll(call, `"_tool"`, `"_instance": "*", "_tool"`) +
				`]}}` + "\n" + `{"solution": {"calls": []}}`
			if !strings.Contains(c.context, "_instance") {
				s.scripted = strings.ReplaceAll(s.scripted, `"_instance": "*", `, "")
			}
			r := s.pausesAndGoesOn(ideafile.CodeToolAccessDenied, "environment variable "+secret+" is not set",
				func() { variables.Store(secret, "open sesame") })
			for token, i := range r.Instances {
				if got := asJSON(i.State); got != `{"a":"open"}` || i.Status != ideafile.InstanceSettled {
					t.Errorf("%s is %s with %s", token, i.Status, got)
				}
			}
			if r.Calls.Done != len(r.Instances) || r.Calls.Failed > 0 {
				t.Errorf("%+v", r.Calls)
			}
		})
	}
}

func TestRequestsThatBringNothingNewPauseTheProcess(t *testing.T) {
	t.Parallel()
	const refuse = `{"when": "Go.", "solution": {"calls": [{"_tool": "refuse", "_instance": "*", "text": "†state.text", "_outputPath": "a"}]}}`
	for name, config := range map[string]string{"as one": "", "in parts": `"batch": 2`} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, `{"config": {`+config+`}, "schema": {"tools": {"shout": `+textTool+`, "refuse": `+
				textTool+`}}, "context": [{"type": "text", "text": "Go."}, `+rows(1, 4)+`]}`,
				refuse,
				`{"when": "Shout it.", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "b"}]}}`)
			s.script(`{"when": "\"b\":", "solution": {"calls": []}}`,
				`{"when": "Shout it.", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "b"}]}}`, refuse)
			r := s.pausesAndGoesOn(turn.CodeNoProgress, "refuse: tool_failed: ", func() {
				s.signal(s.id, approval.SteerRevise, map[string]any{"id": "v",
					"context": []any{map[string]any{"type": "text", "text": "Shout it."}}})
				s.areTaken("v")
			})
			for token, i := range r.Instances {
				if !strings.Contains(asJSON(i.State), `"b":"T`) {
					t.Errorf("%s is %s with %s", token, i.Status, asJSON(i.State))
				}
			}
			if f := r.Failures; len(f) != 4 || f[0].Tool != "refuse" || f[0].CallCount < 3 {
				t.Errorf("%+v", f)
			}
		})
	}
}
