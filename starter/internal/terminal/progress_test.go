package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
)

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func viewOf(status loop.Status, waiting string) client.Event {
	return client.Event{Kind: client.EventStatus, Status: client.Status{
		WaitingFor: []string{waiting},
		ProcessResult: loop.ProcessResult{Status: status, Calls: turn.CallCounts{Done: 2, Failed: 1},
			Instances: map[string]loop.InstanceResult{
				"①": {Status: ideafile.InstanceSettled}, "②": {Status: ideafile.InstanceWorking},
			}},
	}}
}

func TestProgressIsALineForEveryChange(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{out: &b, processID: "p"}
	for range 3 {
		p.Show(viewOf(loop.StatusRunning, "Request 1"))
	}
	p.Show(viewOf(loop.StatusPaused, "paused:\nno"))
	p.Clear()
	want(t, b.String(), "p: running · Request 1 · 1 working, 1 settled · calls: 2 done, 1 failed\n"+
		"p: paused · paused: no · 1 working, 1 settled · calls: 2 done, 1 failed\n")
}

func TestAtATerminalProgressIsOneLineInPlace(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{out: &b, processID: "p", widthFunc: func() int { return 20 }}
	p.Show(viewOf(loop.StatusRunning, "Request 1"))
	p.Show(viewOf(loop.StatusRunning, "Request 1"))
	p.Clear()
	want(t, b.String(), "\r\x1b[Kp: running · Reque…\r\x1b[K")
}

func TestAProcessThatNobodyAnswersForIsSaidSoAfterAWhile(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{out: &b, processID: "p", noAnswerGracePeriod: time.Hour}
	noWorker := client.Event{Kind: client.EventNoAnswer,
		Err: errors.New("no worker answers on task queue process-idea: late")}
	p.Show(noWorker)
	want(t, b.String(), "")
	p.noAnswerGracePeriod = 0
	p.Show(noWorker)
	p.Show(client.Event{Kind: client.EventNoAnswer, Err: errors.New("the server does not answer: gone")})
	want(t, b.String(), "p: no worker answers on task queue process-idea: late\np: the server does not answer: gone\n")
}

func TestLinesOfProgressTellAFailureOnce(t *testing.T) {
	t.Parallel()
	failed := func(waiting, message string) client.Event {
		e := viewOf(loop.StatusRunning, waiting)
		e.Status.Failures = turn.Failures{{Status: ideafile.CallFailed, Tool: "pay", Code: "tool_failed",
			Message: message, CallCount: 1}}
		return e
	}
	var b bytes.Buffer
	p := NewProgress(&b, "p")
	for _, e := range []client.Event{failed("one", "no money"), failed("two", "no money"), failed("three", "no bank"),
		failed("four", "no bank")} {
		p.Show(e)
	}
	if got := b.String(); strings.Count(got, "no money") != 1 || strings.Count(got, "no bank") != 1 ||
		strings.Count(got, "\n") != 4 {
		t.Error(got)
	}
}
