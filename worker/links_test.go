package main

import (
	"os/exec"
	"strings"
	"testing"
)

// What examples use is theirs: a worker of production carries nothing of it.
func TestAWorkerOfProductionLinksNoToolOfTheExamples(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name := strings.TrimSpace(line)
		if strings.HasPrefix(name, "processidea/examples") || strings.Contains(name, "govader") {
			t.Errorf("it links %s", name)
		}
	}
}
