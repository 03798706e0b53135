// Package script is what the LLM of the benchmarks says: the replies of each work, and the scripted LLM that gives them and
// keeps when it was asked, began to answer and had answered. What is compared hears the same bytes, and is timed by the same clock.
package script

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"processidea/rehearsal"
)

// Pace is an LLM that speaks in real time: 300 ms to the first token, and 100 tokens a second.
const Pace = `, "ttft_ms": 300, "tps": 100}`

// Reply is a line of a replies file, of Calls and an output in JSON. Without a pace the LLM says it at once.
func Reply(calls []string, output, pace string) string {
	if pace == "" {
		pace = "}"
	}
	return fmt.Sprintf(`{"solution": {"calls": [%s], "output": %s}%s`, strings.Join(calls, ","), output, pace)
}

// Script is the scripted LLM of one process: a handler of Chat Completions, with the times at which it was asked, began to
// answer and had answered.
type Script struct {
	Begun time.Time // when the process was started, as who starts it says

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

// ServeHTTP counts Requests alone: what stood at this port before may still be called. An embedded server that has stopped
// leaves clients of its own behind, which go on to dial its frontend ("PRI * HTTP/2.0").
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.note(&s.asked)
	}
	s.handler.ServeHTTP(&beginning{ResponseWriter: w, note: func() { s.note(&s.began) }}, r)
}

// beginning is an answer of which it is noted when it began.
type beginning struct {
	http.ResponseWriter
	once sync.Once
	note func()
}

func (b *beginning) Write(p []byte) (int, error) {
	b.once.Do(b.note)
	return b.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController through.
func (b *beginning) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (s *Script) note(times *[]time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*times = append(*times, time.Now())
}

// Gaps are the times between the end of each reply and the next Request's arrival.
func (s *Script) Gaps() (gaps []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(s.asked); i++ {
		gaps = append(gaps, s.asked[i].Sub(s.said[i-1]))
	}
	return gaps
}

// Asked are the times at which the Requests came.
func (s *Script) Asked() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// FirstToken is when the first reply began.
func (s *Script) FirstToken() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began[0]
}

// FirstSaid is the end of the first reply.
func (s *Script) FirstSaid() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[0]
}

// Requests is how often the LLM was asked.
func (s *Script) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}
