package print

import (
	"strings"
	"testing"

	"processidea/client"
	"processidea/model/loop"
	"processidea/model/turn"
)

// What holds a process up is said with what mends it.
func TestAStatusSaysWhatMendsAHoldUp(t *testing.T) {
	t.Parallel()
	h := turn.HoldUp{CauseCode: turn.CodeNoWorker, Message: "no worker serves the task queue", Remedy: "start a worker"}
	v := client.Status{ProcessResult: loop.ProcessResult{Status: loop.StatusRunning, HoldUps: []turn.HoldUp{h}},
		WaitingFor: []string{h.String(), "the LLM"}}
	if got := StatusText(v); !strings.HasPrefix(got,
		"running · held up: no worker serves the task queue (start a worker) · the LLM") {
		t.Error(got)
	}
}
