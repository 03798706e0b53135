package modeltest

import (
	"strings"

	"processidea/model/jsonval"
	"processidea/model/loop"
)

// WantEqual reports an error, and goes on, if two texts differ.
func (s *Scenario) WantEqual(label, got, want string) {
	s.T.Helper()
	if got != want {
		s.T.Errorf("%s: got %q, want %q", label, got, want)
	}
}

// StateJSON returns the State of an instance as the loop knows it, as JSON.
func StateJSON(l *loop.Loop, instanceToken string) string {
	return jsonval.EncodeToString(l.Result(loop.StatusRunning, true).Instances[instanceToken].State)
}

// DescribeInstances lists the status of each instance as people see it.
func (s *Scenario) DescribeInstances() string {
	var parts []string
	for _, m := range s.Loop.Instances {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.DisplayStatus())))
	}
	return strings.Join(parts, ", ")
}
