package process

import (
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/model/loop"
	"processidea/model/turn"
)

func TestWhatHoldsAPausedProcessUpIsNotCutOffBehindThePause(t *testing.T) {
	p := listedProcess{ProcessSummary: client.ProcessSummary{Status: loop.StatusPaused, PauseOrFailureCode: "llm_error",
		WaitingTexts:  []string{"held up: no room", "no LLM"},
		AwaitingCount: 2}}
	if got := waitingText(p); got != "held up: no room; llm_error: no LLM; 2 decisions" {
		t.Errorf("%q", got)
	}
	p.decisionText = "Pay 12.50 EUR (order 7); Pay 3.00 EUR (order 8)"
	if got := waitingText(p); !strings.HasPrefix(got,
		"held up: no room; llm_error: no LLM; 2 decisions: Pay 12.50 EUR") {
		t.Errorf("%q", got)
	}
	h := turn.HoldUp{Message: "the LLM's server answered 429: your tier is exhausted; " +
		strings.Repeat("come back ", 9),
		Since: time.Unix(0, 0), NextAttempt: time.Unix(3600, 0)}
	running := listedProcess{ProcessSummary: client.ProcessSummary{Status: loop.StatusRunning,
		WaitingTexts: []string{h.String()}, HoldUps: []turn.HoldUp{h}}}
	if got := waitingText(running); !strings.HasPrefix(got,
		"held up, next try 01:00:00 UTC: the LLM's server answered 429: your tier is exhausted") {
		t.Errorf("%q", got)
	}
	p.WaitingTexts = []string{strings.Repeat("no LLM ", 99)}
	if got := waitingText(p); !strings.HasPrefix(got, "llm_error: no LLM no LLM") {
		t.Errorf("%q", got)
	}
}

// Below the table stands once what mends each cause.
func TestAListSaysWhatMendsWhatHoldsProcessesUp(t *testing.T) {
	t.Parallel()
	h := turn.HoldUp{CauseCode: turn.CodeNoWorker, Message: "no worker serves the task queue", Remedy: "start a worker"}
	p := listedProcess{ProcessSummary: client.ProcessSummary{Status: loop.StatusRunning,
		WaitingTexts: []string{h.String()}, HoldUps: []turn.HoldUp{h}}}
	text := processListText([]listedProcess{p, p}, 200)
	if strings.Count(text, "\nno_worker: start a worker\n") != 1 {
		t.Error(text)
	}
}

// What did not answer is told from what waits for nothing.
func TestAProcessThatDidNotAnswerIsToldFromOneThatWaitsForNothing(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]client.ProcessSummary{
		"":                              {Status: loop.StatusRunning},
		"? (it did not answer in time)": {Status: loop.StatusRunning, DidNotAnswer: true},
		"2 decisions; ? (it did not answer in time)": {Status: loop.StatusRunning, DidNotAnswer: true,
			AwaitingCount: 2},
	} {
		if got := waitingText(listedProcess{ProcessSummary: p}); got != want {
			t.Errorf("%+v waits for %q, want %q", p, got, want)
		}
	}
}
