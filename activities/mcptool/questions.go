package mcptool

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// questions are what servers of an older protocol ask while a call is under way. Nobody can answer so fast: the server is
// told that the question was put away, and the call counts as one that waits for a person.
type questions struct {
	mu    sync.Mutex
	calls map[*question]bool // under way
}

type question struct{ asked *mcp.ElicitParams }

// hear takes a question. It does not say which call it belongs to: with several under way it is put away all the same, and
// the tool says what it makes of that.
func (q *questions) hear(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 1 {
		for one := range q.calls {
			one.asked = r.Params
		}
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// listen begins a call; the function that it gives ends it, and says what was asked.
func (q *questions) listen() func() *mcp.ElicitParams {
	one := &question{}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.calls == nil {
		q.calls = map[*question]bool{}
	}
	q.calls[one] = true
	return func() *mcp.ElicitParams {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.calls, one)
		return one.asked
	}
}
