package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"processidea/examples/diamond/shop"
	"processidea/internal/pause"
)

// toolbox serves the tools: the shop of the example diamond under /shop, and elsewhere tools that answer with a digest
// of the request. It records every request.
type toolbox struct {
	shop http.Handler

	mu          sync.Mutex
	effectByKey map[string]*effect // by Idempotency-Key
}

// effect is what the requests with one Idempotency-Key did.
type effect struct {
	key, request string // asked is method, URL and body
	times        []time.Time
	answer       string
}

func newToolbox() *toolbox { return &toolbox{shop: shop.Handler(), effectByKey: map[string]*effect{}} }

// toolDelay is the time between a tool's effect and its answer, so that a kill may fall between the two.
const toolDelay = 150 * time.Millisecond

func (t *toolbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	status, answer := t.computeAnswer(r, body)
	answer = t.record(r.Header.Get("Idempotency-Key"), r.Method+" "+r.URL.String()+" "+string(body), answer)
	if pause.For(r.Context(), toolDelay) != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// computeAnswer computes an answer, which is always the same for the same request.
func (t *toolbox) computeAnswer(r *http.Request, body []byte) (status int, answer string) {
	path, isShop := strings.CutPrefix(r.URL.Path, "/shop")
	if !isShop {
		return http.StatusOK, fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	}
	forwarded := httptest.NewRequestWithContext(r.Context(), r.Method, path+"?"+r.URL.RawQuery, bytes.NewReader(body))
	forwarded.Header = r.Header
	w := httptest.NewRecorder()
	t.shop.ServeHTTP(w, forwarded)
	return w.Code, w.Body.String()
}

// record adds a request to the effect of its key, and returns the answer. A repeated request gets the first answer.
func (t *toolbox) record(key, request, answer string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.effectByKey[key]
	if e == nil {
		e = &effect{key: key, request: request, answer: answer}
		t.effectByKey[key] = e
	}
	if e.request != request {
		e.request += " AND " + request
	}
	e.times = append(e.times, time.Now())
	return e.answer
}

// answerOf returns the answer to the requests with an Idempotency-Key, if there were any.
func (t *toolbox) answerOf(key string) (answer string, wasReached bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.effectByKey[key]; e != nil {
		return e.answer, true
	}
	return "", false
}

// effectsOf lists the effects of one process.
func (t *toolbox) effectsOf(process string) (list []*effect) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, e := range t.effectByKey {
		if strings.HasPrefix(key, process+"/") {
			list = append(list, e)
		}
	}
	return list
}
