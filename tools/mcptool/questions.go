package mcptool

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// elicitations are the questions that servers with an older protocol ask during a call. No person can answer that fast:
// the question is canceled, and the call counts as waiting for a person.
type elicitations struct {
	mu                 sync.Mutex
	activeElicitations map[*elicitation]bool // in progress
}

type elicitation struct{ params *mcp.ElicitParams }

// recordQuestion records a question. A question does not name its call: if several calls are in progress, it is only
// canceled, and the tool decides what that means.
func (q *elicitations) recordQuestion(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.activeElicitations) == 1 {
		for currentElicitation := range q.activeElicitations {
			currentElicitation.params = r.Params
		}
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// beginListening begins a call. The returned function ends it, and returns the question that was asked, if any.
func (q *elicitations) beginListening() func() *mcp.ElicitParams {
	currentElicitation := &elicitation{}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.activeElicitations == nil {
		q.activeElicitations = map[*elicitation]bool{}
	}
	q.activeElicitations[currentElicitation] = true
	return func() *mcp.ElicitParams {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.activeElicitations, currentElicitation)
		return currentElicitation.params
	}
}
