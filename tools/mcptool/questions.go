package mcptool

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// elicitations are the questions of servers with an older protocol during a call. Nobody can answer that fast: the
// question is declined, and the call counts as waiting for a person.
type elicitations struct {
	mu    sync.Mutex
	calls map[*elicitation]bool // under way
}

type elicitation struct{ params *mcp.ElicitParams }

// record records a question. It does not name its call: with several under way it is declined all the same, and the
// tool decides what that means.
func (q *elicitations) record(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 1 {
		for one := range q.calls {
			one.params = r.Params
		}
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// listen begins a call; the returned function ends it, and returns the question.
func (q *elicitations) listen() func() *mcp.ElicitParams {
	one := &elicitation{}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.calls == nil {
		q.calls = map[*elicitation]bool{}
	}
	q.calls[one] = true
	return func() *mcp.ElicitParams {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.calls, one)
		return one.params
	}
}
