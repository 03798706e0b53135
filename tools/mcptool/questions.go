package mcptool

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// elicitations are the questions that servers with an older protocol ask during a call. No person can answer that fast:
// the question is canceled, and the call counts as waiting for a person.
type elicitations struct {
	mu        sync.Mutex
	listeners map[*elicitation]bool // listeners in progress
}

type elicitation struct{ params *mcp.ElicitParams }

// record records a question. A question does not name its call: if several calls are in progress, it is only canceled,
// and the tool decides what that means.
func (q *elicitations) record(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.listeners) == 1 {
		for current := range q.listeners {
			current.params = r.Params
		}
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// listen begins a call. The returned function ends it, and returns the question that was asked, if any.
func (q *elicitations) listen() func() *mcp.ElicitParams {
	current := &elicitation{}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.listeners == nil {
		q.listeners = map[*elicitation]bool{}
	}
	q.listeners[current] = true
	return func() *mcp.ElicitParams {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.listeners, current)
		return current.params
	}
}
