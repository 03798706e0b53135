package modeltest

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// DescribeErrors lists the errors in a Request, one a line.
func DescribeErrors(in *turn.RequestInput) string {
	var lines []string
	for _, t := range in.Errors {
		line := strings.TrimSpace(t.CallID + " " + t.Fault.Error())
		if len(t.Instances) > 0 {
			line += " in " + strings.Join(t.Instances, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// DescribePlan lists the earlier Calls in a Request, with the number of instances in each status.
func DescribePlan(in *turn.RequestInput) string {
	var parts []string
	for _, e := range in.PlanEntries {
		counts := ""
		for status, v := range jsonval.Sorted(e.StatusCounts) {
			counts += fmt.Sprintf(" %s %d", status, v)
		}
		parts = append(parts, e.CallID+counts)
	}
	return strings.Join(parts, "; ")
}

// WantEqual reports an error, and goes on, if two texts differ.
func (s *Scenario) WantEqual(what, got, want string) {
	s.T.Helper()
	if got != want {
		s.T.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// StateOf returns the State of an instance as the loop knows it, as JSON.
func StateOf(l *loop.Loop, token string) string {
	return jsonval.EncodeToString(l.Result(loop.StatusRunning, true).Instances[token].State)
}

// OutputJSON returns the process's output as JSON.
func (s *Scenario) OutputJSON() string { return jsonval.EncodeToString(s.Loop.Output) }

// DescribeInstances lists the status of each instance as people see it.
func (s *Scenario) DescribeInstances() string {
	var parts []string
	for _, m := range s.Loop.Instances {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.DisplayStatus())))
	}
	return strings.Join(parts, ", ")
}

// DescribeDecisions lists the people's decisions in a Request, one a line.
func DescribeDecisions(in *turn.RequestInput) string {
	var lines []string
	for _, e := range in.PlanEntries {
		for _, d := range e.Decisions {
			lines = append(lines, strings.TrimSpace(e.CallID+" "+d.Token)+" "+d.Decision.Describe())
		}
	}
	return strings.Join(lines, "\n")
}
