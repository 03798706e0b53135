package workflows_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/tools/mcptool/npmtest"
)

// fourPayments is a process in which a payment waits in each of four instances.
func fourPayments(t *testing.T, till *till) *scenario {
	return newScenario(t, `{"schema": {"tools": {"pay": `+till.pay("true")+`}}, "context": [{"type": "state", "_instance": "⑬", "to": "ann"},
		{"type": "state", "_instance": "a b/é", "to": "bo"}, {"type": "state", "_instance": "2", "to": "cy"}, {"type": "state", "_instance": "3", "to": "di"}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "_instance": "*", "to": "†state.to", "_outputPath": "done"}]}}`,
		nothingMore)
}

// A client in another language knows nothing of this project, and decides, asks and cancels: Temporal's own for
// Node.js.
func TestAClientInAnotherLanguageDecidesAsksAndCancels(t *testing.T) {
	t.Parallel()
	modules := npmtest.InstallModules(t, npmtest.TemporalClient)
	till := newTill(t)
	s := fourPayments(t, till)
	s.start()
	c := exec.CommandContext(t.Context(), "node", "testdata/plain.js", addressOf(s.namespace), s.namespace, s.id)
	c.Env = append(os.Environ(), "NODE_PATH="+modules)
	out, err := c.CombinedOutput()
	want := "of the instance: 1.1@⑬ ann\nrefused: many/3 9.9@2\nbecame: taken taken taken refused\nended: " +
		"CancelledFailure CANCELLED\n"
	if err != nil || string(out) != want {
		t.Fatalf("%v: it wrote\n%s\nwant\n%s", err, out, want)
	}
	if got := strings.Join(till.seen(), ""); len(till.seen()) != 2 || !strings.Contains(got, "ann") ||
		!strings.Contains(got, "bo") {
		t.Errorf("paid: %s", got)
	}
}

// So does the Go SDK as it comes.
func TestTheGoSDKAloneDecidesOnManyAndCancels(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := fourPayments(t, till)
	run := s.start()
	s.waitsFor(4)
	plain := s.plainClient()
	decisions := []map[string]string{{"call": "1.1@13", "decision": policy.Approve},
		{"call": "1.1@2", "decision": policy.Reject, "reason": "no"}}
	if err := plain.SignalWorkflow(t.Context(), s.id, "", approval.SteerDecideMany,
		map[string]any{"decisions": decisions, "by": "nora"}); err != nil {
		t.Fatal(err)
	}
	s.waitsFor(2)
	var v struct{ Calls struct{ Done, Rejected int } }
	eventually(t, "it says what became of them", func() bool {
		a, err := plain.QueryWorkflow(t.Context(), s.id, "", "status")
		return err == nil && a.Get(&v) == nil && v.Calls.Done == 1 && v.Calls.Rejected == 1
	})
	if err := plain.CancelWorkflow(t.Context(), s.id, ""); err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("it ended with %v", err)
	}
	if len(till.seen()) != 1 {
		t.Errorf("%d payments", len(till.seen()))
	}
}
