package script

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"processidea/internal/rehearsal"
)

// Pace is an LLM that speaks in real time: 300 ms to the first token, and 100 tokens a second.
const Pace = `, "ttft_ms": 300, "tps": 100}`

// Reply gives a line of a replies file with Calls and an output in JSON. Without a pace the LLM says it at once.
func Reply(calls []string, output, pace string) string {
	if pace == "" {
		pace = "}"
	}
	return fmt.Sprintf(`{"solution": {"calls": [%s], "output": %s}%s`, strings.Join(calls, ","), output, pace)
}

// Script is the scripted LLM of one process: a handler of Chat Completions that notes when it was asked, began to
// answer and had answered.
type Script struct {
	handler http.Handler

	mu    sync.Mutex
	asked []time.Time
	began []time.Time
	said  []time.Time
}

// New reads the lines of a replies file.
func New(lines []string, opts ...rehearsal.Option) (*Script, error) {
	replies, err := rehearsal.Parse([]byte(strings.Join(lines, "\n")))
	if err != nil {
		return nil, err
	}
	s := &Script{}
	opts = append(opts, rehearsal.WithoutLog(), rehearsal.OnEnd(func(int, rehearsal.End) { s.note(&s.said) }))
	s.handler = rehearsal.NewHandler(replies, opts...)
	return s, nil
}

// ServeHTTP answers, and counts POST requests alone: an embedded server that has stopped leaves clients behind that go
// on dialling its frontend ("PRI * HTTP/2.0"), at a port that may be this one now.
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.note(&s.asked)
	}
	s.handler.ServeHTTP(&firstByteNoter{ResponseWriter: w, note: func() { s.note(&s.began) }}, r)
}

// firstByteNoter calls note at the first byte of an answer.
type firstByteNoter struct {
	http.ResponseWriter
	once sync.Once
	note func()
}

func (w *firstByteNoter) Write(p []byte) (int, error) {
	w.once.Do(w.note)
	return w.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController through.
func (w *firstByteNoter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (s *Script) note(times *[]time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*times = append(*times, time.Now())
}

// Gaps gives the time from the end of each reply to the next Request.
func (s *Script) Gaps() (gaps []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(s.asked); i++ {
		gaps = append(gaps, s.asked[i].Sub(s.said[i-1]))
	}
	return gaps
}

// Asked gives the times at which the Requests came.
func (s *Script) Asked() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// FirstToken gives the time at which the first reply began.
func (s *Script) FirstToken() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began[0]
}

// FirstSaid gives the time at which the first reply ended.
func (s *Script) FirstSaid() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[0]
}

// Requests gives how often the LLM was asked.
func (s *Script) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}
