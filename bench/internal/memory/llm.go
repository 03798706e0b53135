package memory

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// reply writes the text of one answer of the LLM, piece by piece.
type reply func(say func(text string))

// llm answers each Request with the next reply, by the Chat Completions API.
type llm struct {
	replies []reply

	mu    sync.Mutex
	asked int
}

func (l *llm) requests() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func (l *llm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	l.mu.Lock()
	n := l.asked
	l.asked++
	l.mu.Unlock()
	if n >= len(l.replies) {
		http.Error(w, "there is no reply left", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	l.replies[n](func(text string) { sayChunk(w, map[string]any{"content": text}, nil) })
	sayChunk(w, map[string]any{}, "stop")
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func sayChunk(w io.Writer, delta map[string]any, finish any) {
	data, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "m",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	fmt.Fprintf(w, "data: %s\n\n", data)
}

// calls is a reply with these Calls.
func calls(n int, call func(i int) string) reply {
	return func(say func(string)) {
		say(`{"calls":[`)
		for i := range n {
			if i > 0 {
				say(",")
			}
			sayInPieces(say, call(i))
		}
		say(`],"output":null}`)
	}
}

// sayInPieces says a long text as an LLM does, and in fewer pieces, so that the LLM takes no longer than what is
// measured.
func sayInPieces(say func(string), text string) {
	const piece = 4 << 10
	for len(text) > piece {
		say(text[:piece])
		text = text[piece:]
	}
	say(text)
}

// serveTool gives a text of as many bytes as the request asks for, which differs for each number, and the number 1
// where it asks for none.
func serveTool(w http.ResponseWriter, r *http.Request) {
	var in struct{ Bytes int }
	_ = json.NewDecoder(r.Body).Decode(&in)
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	if in.Bytes == 0 {
		_, _ = io.WriteString(w, "1")
		return
	}
	part := strings.Repeat(fmt.Sprintf("%09d ", in.Bytes), 1<<10)
	_, _ = io.WriteString(w, `"`)
	for left := in.Bytes - 2; left > 0; left -= len(part) {
		_, _ = io.WriteString(w, part[:min(left, len(part))])
	}
	_, _ = io.WriteString(w, `"`)
}
