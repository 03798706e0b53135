package loop_test

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// peopleTools extends modeltest.ScenarioToolsJSON: pay always needs approval, huge above a bound, due with a deadline; slow
// runs until completeSlow or failSlow.
const peopleTools = modeltest.ScenarioToolsJSON + `, "slow": {"type": "object", "properties": {"x": {}}},
	"pay": {"type": "object", "properties": {"n": {"type": "integer"}, "x": {}}, "_approval": true},
	"huge": {"type": "object", "properties": {"n": {"type": "integer"}},
		"_approval": {"when": {"properties": {"n": {"minimum": 100}}}}},
	"due": {"type": "object", "properties": {}, "_approval": {"timeout": "1h", "onTimeout": "pause"}}`

// threeInstances is a context with three empty States.
const threeInstances = `"context": [{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}},
	{"type": "state", "_instance": "③", "state": {}}]`

const stateSchemaRequiringMood = `"schema": {"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]}`

// newScenarioWithPeople is modeltest.NewScenario with Tools that need approval.
func newScenarioWithPeople(t rapid.TB, output string, rest ...string) *modeltest.Scenario {
	return modeltest.NewScenarioWithTools(t, peopleTools, output, rest...)
}

// completeSlow ends a running Call of slow with a result.
func completeSlow(s *modeltest.Scenario, id string) {
	s.InstanceByToken[ideafile.InstanceTokenOfCallID(id)].SucceedCall(id, "done at last")
	s.AdvanceInstance(ideafile.InstanceTokenOfCallID(id))
}

// failSlow ends a running Call of slow with an error.
func failSlow(s *modeltest.Scenario, id string) {
	s.InstanceByToken[ideafile.InstanceTokenOfCallID(id)].FailCall(id, diag.Faultf(ideafile.CodeToolFailed, "no luck"))
	s.AdvanceInstance(ideafile.InstanceTokenOfCallID(id))
}

// expectWait fails the test unless the loop waits, and wakes by itself after d; 0: only when something happens.
func expectWait(s *modeltest.Scenario, d time.Duration) {
	s.T.Helper()
	s.ExpectStep(loop.StepWait)
	switch wake := s.Loop.NextWakeTime(); {
	case d == 0 && !wake.IsZero():
		s.T.Errorf("it wakes in %s by itself", wake.Sub(s.Now))
	case d > 0 && wake.Sub(s.Now) != d:
		s.T.Errorf("it wakes at %s, in %s, not in %s", wake, wake.Sub(s.Now), d)
	}
}

// describeErrors lists the errors in a Request, one a line.
func describeErrors(in *turn.RequestInput) string {
	var lines []string
	for _, t := range in.Errors {
		line := strings.TrimSpace(t.CallID + " " + t.Fault.Error())
		if len(t.InstanceTokens) > 0 {
			line += " in " + strings.Join(t.InstanceTokens, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// describePlan lists the earlier Calls in a Request, with the number of instances in each status.
func describePlan(in *turn.RequestInput) string {
	var parts []string
	for _, e := range in.PlanEntries {
		counts := ""
		for status, v := range jsonval.Sorted(e.CountByStatus) {
			counts += fmt.Sprintf(" %s %d", status, v)
		}
		parts = append(parts, e.CallID+counts)
	}
	return strings.Join(parts, "; ")
}

// describeDecisions lists the people's decisions in a Request, one a line.
func describeDecisions(in *turn.RequestInput) string {
	var lines []string
	for _, e := range in.PlanEntries {
		for _, d := range e.Decisions {
			lines = append(lines, strings.TrimSpace(e.CallID+" "+d.Token)+" "+d.Decision.Describe())
		}
	}
	return strings.Join(lines, "\n")
}

// outputJSON returns the process's output as JSON.
func outputJSON(s *modeltest.Scenario) string { return jsonval.EncodeToString(s.Loop.Output) }
