package rehearsal

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// EndReason is how a Request ended.
type EndReason string

// The ways in which a Request ends. The empty EndReason means that it is still being answered.
const (
	EndComplete   EndReason = "whole"       // all was sent, with a finish reason
	EndCut        EndReason = "cut"         // the connection dropped as the reply says
	EndRefused    EndReason = "refused"     // answered with an HTTP error, from the reply or for lack of one
	EndClientGone EndReason = "client-gone" // the client went away before the end
)

// LoggedRequest is the log's entry of one Request. Body, Header and Messages are shared: do not change them.
type LoggedRequest struct {
	RequestNumber int // its number, from TurnNumberHeader, or else in order of arrival; 0 if unreadable
	Header        http.Header
	Body          []byte
	LLMName       string // the wire's "model"
	Messages      []Message
	WantsStream   bool

	ArrivedAt     time.Time
	FirstTokenAt  time.Time // zero until something was sent
	LastTokenAt   time.Time
	SentCharCount int // characters sent
	EndReason     EndReason
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

func (l *requestLog) setSentChars(s *LoggedRequest, sentChars int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.SentCharCount, s.LastTokenAt = sentChars, time.Now()
	if s.FirstTokenAt.IsZero() {
		s.FirstTokenAt = s.LastTokenAt
	}
}

func (l *requestLog) setEnd(s *LoggedRequest, end EndReason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.EndReason = end
}

func (l *requestLog) copy() []LoggedRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	requests := make([]LoggedRequest, len(l.requests))
	for i, s := range l.requests {
		requests[i] = *s
	}
	return slices.Clip(requests)
}
