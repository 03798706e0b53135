package mcptool

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// questionRecorder are the questions that servers with an older protocol ask during a call. No person can answer that
// fast: the question is canceled, and the call counts as waiting for a person.
type questionRecorder struct {
	mu             sync.Mutex
	listeningCalls map[*listeningCall]bool // in progress
}

type listeningCall struct{ question *mcp.ElicitParams }

// recordQuestion records a question. A question does not name its call: if several calls are in progress, it is only
// canceled, and the tool decides what that means.
func (q *questionRecorder) recordQuestion(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.listeningCalls) == 1 {
		for currentCall := range q.listeningCalls {
			currentCall.question = r.Params
		}
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// beginListening begins a call. The returned function ends it, and returns the question that was asked, if any.
func (q *questionRecorder) beginListening() func() *mcp.ElicitParams {
	currentCall := &listeningCall{}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.listeningCalls == nil {
		q.listeningCalls = map[*listeningCall]bool{}
	}
	q.listeningCalls[currentCall] = true
	return func() *mcp.ElicitParams {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.listeningCalls, currentCall)
		return currentCall.question
	}
}
