package rehearsal

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// End is how a Request ended.
type End string

// The ways in which a Request ends. The empty End means that it is still being answered.
const (
	EndComplete   End = "whole"       // all was sent, with a finish reason
	EndCut        End = "cut"         // the connection dropped as the reply says
	EndRefused    End = "refused"     // answered with an HTTP error, from the reply or for lack of one
	EndClientGone End = "client-gone" // the client went away before the end
)

// LoggedRequest is the log's entry of one Request. Body, Header and Messages are shared: do not change them.
type LoggedRequest struct {
	Request  int // its number, from TurnHeader, or else in order of arrival; 0 if unreadable
	Header   http.Header
	Body     []byte
	LLM      string // the wire's "model"
	Messages []Message
	Stream   bool

	Arrived    time.Time
	FirstToken time.Time // zero until something was sent
	LastToken  time.Time
	SentChars  int // characters sent
	End        End
}

// requestLog keeps the requests, in order of arrival.
type requestLog struct {
	mu       sync.Mutex
	requests []*LoggedRequest
}

func (l *requestLog) add(s *LoggedRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, s)
}

func (l *requestLog) setSent(s *LoggedRequest, chars int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.SentChars, s.LastToken = chars, time.Now()
	if s.FirstToken.IsZero() {
		s.FirstToken = s.LastToken
	}
}

func (l *requestLog) setEnd(s *LoggedRequest, end End) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.End = end
}

func (l *requestLog) copy() []LoggedRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]LoggedRequest, len(l.requests))
	for i, s := range l.requests {
		all[i] = *s
	}
	return slices.Clip(all)
}
