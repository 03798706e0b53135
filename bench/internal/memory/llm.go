package memory

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"processidea/internal/rehearsal"
)

// reply makes the text of one answer of the LLM. It is called only when needed: all texts together are large.
type reply func() string

// llm answers each Request with the next reply. It sends larger pieces than a real LLM, so that it takes no longer than
// what is measured.
type llm struct {
	replies      []reply
	requestCount atomic.Int64
}

func (l *llm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	var replies []rehearsal.Reply
	if n := int(l.requestCount.Add(1)); n <= len(l.replies) {
		replies = []rehearsal.Reply{{Content: l.replies[n-1]()}}
	}
	rehearsal.NewHandler(replies, rehearsal.ChunkChars(4<<10), rehearsal.WithoutLog()).ServeHTTP(w, r)
}

// callsReply is a reply with these Calls.
func callsReply(n int, call func(i int) string) reply {
	return func() string {
		calls := make([]string, n)
		for i := range calls {
			calls[i] = call(i)
		}
		return `{"calls":[` + strings.Join(calls, ",") + `],"output":null}`
	}
}

func serveTool(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "1")
}
