package rehearsal

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Handler answers Chat Completions requests, at /v1/chat/completions, from replies.
type Handler struct {
	options
	replies []Reply
	byTurn  []Reply // those without When
	arrived atomic.Int64
	log     seenLog
}

// NewHandler returns the bare handler, to be served by whatever server. A reply with a
// Cut ends in a panic with http.ErrAbortHandler, as that is how a handler hangs up.
func NewHandler(replies []Reply, opts ...Option) *Handler {
	h := &Handler{options: newOptions(opts), replies: replies}
	for _, r := range replies {
		if r.When == "" {
			h.byTurn = append(h.byTurn, r)
		}
	}
	return h
}

// Requests returns what has been asked so far, in order of arrival.
func (h *Handler) Requests() []Seen { return h.log.copy() }

// ServeHTTP answers one request, as the reply says that is meant for it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		refuse(w, http.StatusNotFound, "", fmt.Sprintf("rehearsal: serve %s %s: no such endpoint", r.Method, r.URL.Path))
		return
	}
	asked, err := readRequest(w, r)
	defer asked.forget()
	turn := 0
	if err == nil {
		turn, err = h.turn(r.Header)
	}
	seen := &Seen{Request: turn, Header: r.Header, LLM: asked.llm, Stream: asked.stream, Arrived: started}
	if !h.noLog {
		seen.Body, seen.Messages = asked.copied()
		h.log.add(seen)
	}
	var end End
	if err != nil {
		refuse(w, http.StatusBadRequest, "", err.Error())
		end = Refused
	} else {
		end = h.answer(w, r, asked, seen)
	}
	h.log.ended(seen, end)
	if h.onEnd != nil {
		h.onEnd(turn, end)
	}
	if end == Cut && !(h.cleanCut && asked.stream) {
		panic(http.ErrAbortHandler)
	}
}

// turn is the number of the Request: as the caller says, else in order of arrival among
// those that do not say.
func (h *Handler) turn(header http.Header) (int, error) {
	turn, err := toldTurn(header)
	if turn == 0 && err == nil {
		turn = int(h.arrived.Add(1))
	}
	return turn, err
}

// choose finds the line that answers: the first whose When the prompt holds, else by turn.
func (h *Handler) choose(turn int, prompt func() string) (Reply, bool) {
	for _, r := range h.replies {
		if r.When != "" && strings.Contains(prompt(), r.When) {
			return r, true
		}
	}
	if turn > len(h.byTurn) {
		return Reply{}, false
	}
	return h.byTurn[turn-1], true
}

// answer sends the reply for one readable request.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, asked request, seen *Seen) End {
	reply, found := h.choose(seen.Request, sync.OnceValue(asked.prompt))
	if !found {
		refuse(w, http.StatusBadRequest, "no_reply",
			fmt.Sprintf("rehearsal: no reply for request %d: the file has %d", seen.Request, len(h.byTurn)))
		return Refused
	}
	s := speech{options: h.options, reply: reply, turn: seen.Request, started: seen.Arrived,
		said: func(sent int) { h.log.said(seen, sent) }}
	if reply.Status != 0 {
		return s.refuse(r.Context(), w)
	}
	head := completion{ID: fmt.Sprintf("chatcmpl-rehearsal-%d", seen.Request), Created: seen.Arrived.Unix(), LLM: asked.llm}
	s.mouth = &collected{w: w, head: head}
	if asked.stream {
		s.mouth = &streamed{w: w, head: head, usage: asked.usage}
	}
	return s.run(r.Context(), asked.chars())
}
