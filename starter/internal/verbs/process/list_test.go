package process

import (
	"strings"
	"testing"

	"processidea/client"
	"processidea/model/loop"
)

func TestWhatHoldsAPausedProcessUpIsNotCutOffBehindThePause(t *testing.T) {
	p := client.Summary{Status: loop.StatusPaused, Code: "llm_error", Waiting: []string{"held up: no room", "no LLM"},
		Awaiting: 2}
	if got := waitsFor(p); got != "held up: no room; llm_error: no LLM; 2 decisions" {
		t.Errorf("%q", got)
	}
	p.Waiting = []string{strings.Repeat("no LLM ", 99)}
	if got := waitsFor(p); !strings.HasPrefix(got, "llm_error: no LLM no LLM") {
		t.Errorf("%q", got)
	}
}
