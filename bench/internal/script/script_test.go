package script_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"processidea/bench/internal/script"
)

// TestOnlyRequestsAreCounted dials the LLM's port as a client of a stopped Temporal server does.
func TestOnlyRequestsAreCounted(t *testing.T) {
	llm, err := script.New([]string{script.ReplyLine(nil, "null", "")})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(llm)
	defer server.Close()

	dial(t, server.Listener.Addr().String(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	if n := len(llm.Requests()); n != 0 {
		t.Errorf("a stranger was counted as %d Requests", n)
	}
	answer, err := http.Post(server.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model": "m", "messages": [{"role": "user", "content": "Go."}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if n := len(llm.Requests()); n != 1 || answer.StatusCode != http.StatusOK {
		t.Errorf("%d Requests were counted, and the answer was %s: want one, and OK", n, answer.Status)
	}
}

// dial says something and waits until the server has answered it and hung up.
func dial(t *testing.T, address, preface string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := fmt.Fprint(c, preface); err != nil {
		t.Fatal(err)
	}
	if heard, err := io.ReadAll(c); err != nil || len(heard) == 0 {
		t.Fatalf("heard %q: %v", heard, err)
	}
}
