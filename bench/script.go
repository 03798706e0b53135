package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"processidea/rehearsal"
)

// The pace of an LLM that speaks in real time: milliseconds to the first token, and tokens a second.
const pace = `, "ttft_ms": 300, "tps": 100}`

// reply is a line of a replies file. Without a pace the LLM says it at once.
func reply(calls []string, output, pace string) string {
	if pace == "" {
		pace = "}"
	}
	return fmt.Sprintf(`{"solution": {"calls": [%s], "output": %s}%s`, strings.Join(calls, ","), output, pace)
}

// script is the scripted LLM of one process, with the times at which its server was asked and had answered.
type script struct {
	handler http.Handler
	begun   time.Time // when the process was started
	mu      sync.Mutex
	asked   []time.Time
	said    []time.Time
}

func newScript(lines []string, opts ...rehearsal.Option) (*script, error) {
	replies, err := rehearsal.Parse([]byte(strings.Join(lines, "\n")))
	if err != nil {
		return nil, err
	}
	s := &script{}
	opts = append(opts, rehearsal.WithoutLog(), rehearsal.OnEnd(func(int, rehearsal.End) { s.note(&s.said) }))
	s.handler = rehearsal.NewHandler(replies, opts...)
	return s, nil
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.note(&s.asked)
	s.handler.ServeHTTP(w, r)
}

func (s *script) note(times *[]time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*times = append(*times, time.Now())
}

// gaps are the times between the end of each reply and the next Request's arrival.
func (s *script) gaps() (gaps []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(s.asked); i++ {
		gaps = append(gaps, s.asked[i].Sub(s.said[i-1]))
	}
	return gaps
}

// firstSaid is the end of the first reply.
func (s *script) firstSaid() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[0]
}

// requests is how often the LLM was asked.
func (s *script) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}
