package rehearsal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter tells each piece, and takes its time to send it.
type slowWriter struct {
	note func(string)
	take func(text string) time.Duration
}

func (m slowWriter) write(p replyChunk) error {
	m.note(p.text)
	<-time.After(m.take(p.text))
	return nil
}

func (m slowWriter) flush() error { return nil }

func (m slowWriter) finish(reason string, used usage) error {
	m.note(fmt.Sprintf("%s after %d tokens", reason, used.CompletionTokens))
	return nil
}

// told says a reply on a clock that only waiting moves, while a bell rings after 5 ms,
// 15 ms and so on, and returns what happened in order; "|" is the bell.
func told(t *testing.T, line string, bells int, take func(string) time.Duration, opts ...Option) string {
	var mu sync.Mutex
	var events []string
	note := func(event string) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, event)
	}
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		for i := range bells {
			time.AfterFunc(time.Duration(5+10*i)*time.Millisecond, func() { note("|") })
		}
		s := timedReply{options: newOptions(opts), reply: parse(t, line)[0], arrivedAt: started,
			writer: slowWriter{note, take}, logSentChars: func(int) {}}
		if end := s.run(context.Background(), 0); end != EndComplete {
			t.Errorf("ended %q", end)
		}
	})
	return strings.Join(events, " ")
}

func always(d time.Duration) func(string) time.Duration {
	return func(string) time.Duration { return d }
}

func TestTokensComeAtTheirPaceHoweverLongSendingTakes(t *testing.T) {
	t.Parallel()
	for _, take := range []time.Duration{0, 3 * time.Millisecond, 4 * time.Millisecond} {
		got := told(t, `{"raw": "one,two,thr,fou,", "tps": 100}`, 3, always(take))
		if want := "one, | two, | thr, | fou, stop after 4 tokens"; got != want {
			t.Errorf("each taking %v: %s, want %s", take, got, want)
		}
	}
}

func TestALateTokenMakesNoLaterOneLate(t *testing.T) {
	t.Parallel()
	late := func(text string) time.Duration {
		if text == "two," {
			return 27 * time.Millisecond
		}
		return 0
	}
	got := told(t, `{"raw": "one,two,thr,fou,fiv,six,", "tps": 100}`, 5, late)
	if want := "one, | two, | | | thr, fou, fiv, | six, stop after 6 tokens"; strings.TrimSuffix(got, " |") != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestBiggerChunksComeLessOften(t *testing.T) {
	t.Parallel()
	got := told(t, `{"raw": "one,two,thr,fou,fiv,", "tps": 200}`, 2, always(0), WithChunkChars(8))
	if want := "one,two, | thr,fou, | fiv, stop after 5 tokens"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTheFirstTokenComesWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`{"raw": "one,two,", "ttft_ms": 10}`:             "| one, two, stop after 2 tokens",
		`{"raw": "one,two,", "ttft_ms": 20, "tps": 100}`: "| | one, | two, stop after 2 tokens",
		`{"raw": "", "ttft_ms": 10}`:                     "| stop after 0 tokens",
		`{"refusal": "one,", "raw": "two,", "tps": 100}`: "one, | two, stop after 2 tokens",
	}
	for line, want := range cases {
		if got := told(t, line, strings.Count(want, "|"), always(0)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestATokenIsDueByItsPlaceInTheReplyAlone(t *testing.T) {
	t.Parallel()
	started := time.Now()
	reply := Reply{TTFT: 300 * time.Millisecond, TPS: 100}
	for chars, want := range map[int]time.Duration{0: 300, 4: 310, 6: 315, 2400: 6300, 40_000_000: 100_000_300} {
		if got := reply.dueAt(started, chars).Sub(started); got != want*time.Millisecond {
			t.Errorf("after %d characters it is due %v from the start", chars, got)
		}
	}
	slow := Reply{TPS: 1e-300}
	if !slow.dueAt(started, 4).After(started) {
		t.Error("a very slow reply is due before its start")
	}
}

func TestAGateHoldsTheReplyAtItsPlace(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var events []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, fmt.Sprintf(format, args...))
	}
	open, held := make(chan bool), make(chan bool)
	server := start(t, `{"raw": "12345678"}`,
		WithGate(func(_ context.Context, request, sent int) {
			note("gate %d at %d", request, sent)
			if sent == 4 {
				close(held)
				<-open
			}
		}),
		OnChunkSent(func(request, sent int) { note("sent %d to %d", request, sent) }),
		OnEnd(func(request int, end EndReason) { note("end %d %s", request, end) }))
	c := client(t, server.URL())
	stream := c.Chat.Completions.NewStreaming(context.Background(), params("plan"))
	for solution := ""; solution != "1234" && stream.Next(); {
		solution += stream.Current().Choices[0].Delta.Content
	}
	<-held
	note("heard 1234")
	close(open)
	for stream.Next() {
	}
	server.Close()
	want := []string{"gate 1 at 0", "sent 1 to 4", "gate 1 at 4", "heard 1234", "sent 1 to 8", "gate 1 at 8",
		"end 1 whole"}
	if !slices.Equal(events, want) {
		t.Errorf("%q, want %q", events, want)
	}
}

func TestAGateHoldsAnErrorToo(t *testing.T) {
	t.Parallel()
	passed := make(chan int, 9)
	server := start(t, `{"status": 500}`, WithGate(func(_ context.Context, _, sent int) { passed <- sent }))
	ask(t, server, "plan").wantError(t, 500, "")
	if at := <-passed; at != 0 || len(passed) != 0 {
		t.Errorf("the gate was passed at %d and %d times more", at, len(passed))
	}
}
