package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
)

// markers counts the local activities in a workflow's history.
func markers(t *testing.T, id string) (n int) {
	t.Helper()
	for _, e := range history(t, id).Events {
		if e.GetMarkerRecordedEventAttributes().GetMarkerName() == "LocalActivity" {
			n++
		}
	}
	return n
}

// A Plan that runs directly has all its Calls ready at once.
func TestPureCallsThatAreReadyAtOnceRunTogether(t *testing.T) {
	calls := []string{`{"_tool": "balk", "text": "no", "_outputPath": "no"}`, `{"_tool": "stumble", "text": "burst", "_outputPath": "late"}`}
	for n := range 40 {
		calls = append(calls, fmt.Sprintf(`{"_tool": "whisper", "text": "W%d", "_outputPath": "w%d"}`, n, n))
	}
	calls = append(calls, `{"_tool": "whisper", "text": "†state.w0", "_outputPath": "again"}`)
	s := newScenario(t, `{"schema": {"tools": {"whisper": `+textTool+`, "stumble": `+textTool+`, "balk": `+textTool+`}}, "context": [
		{"type": "plan", "stage": "optimal", "plan": [`+strings.Join(calls, ", ")+`]}, {"type": "state", "a": 1}]}`, nothingMore)
	r := s.finish()
	if r.Calls != (turn.CallCounts{Done: 42, Failed: 1}) {
		t.Errorf("%+v", r.Calls)
	}
	state := r.Instances[""].State.(map[string]any)
	if state["w39"] != "w39" || state["late"] != "burst" || state["again"] != "w0" || state["no"] != nil {
		t.Error(asJSON(state))
	}
	for _, c := range s.instance("").Calls {
		if c.Tool == "balk" && (c.Error == nil || c.Error.Code != ideafile.CodeToolFailed || !strings.Contains(c.Error.Message, "I balk")) {
			t.Errorf("%+v", c.Error)
		}
	}
	// The burst, the one that stumbled, the one that reads, and the reports.
	if n := markers(t, protocol.InstanceID(s.id, "")); n > 6 {
		t.Errorf("%d local activities for 43 Calls", n)
	}
}

func TestACallOfABurstHasNoMoreAttemptsThanItsToolAllows(t *testing.T) {
	retry := func(n int) string {
		return strings.TrimSuffix(textTool, "}") + fmt.Sprintf(`, "_retry": {"attempts": %d}}`, n)
	}
	s := newScenario(t, `{"schema": {"tools": {"falter": `+retry(2)+`, "stumble": `+retry(1)+`}}, "context": [
		{"type": "plan", "stage": "optimal", "plan": [
			{"_tool": "falter", "text": "two attempts", "_outputPath": "a"}, {"_tool": "stumble", "text": "one attempt", "_outputPath": "b"}
		]}, {"type": "state", "c": 1}]}`, nothingMore)
	if r := s.finish(); r.Calls != (turn.CallCounts{Failed: 2}) {
		t.Errorf("%+v", r.Calls)
	}
	why := map[string]string{}
	for _, c := range s.instance("").Calls {
		why[c.Tool] = c.Error.Message
	}
	if !strings.Contains(why["falter"], "2 times") || !strings.Contains(why["stumble"], "stumbled") {
		t.Error(why)
	}
}
