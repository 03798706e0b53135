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
	replies                []Reply
	numberedReplies        []Reply // those without When
	unnumberedRequestCount atomic.Int64
	log                    requestLog
}

// NewHandler returns the bare handler, for any server. A reply with a Cut ends in a panic with http.ErrAbortHandler,
// which makes the server drop the connection.
func NewHandler(replies []Reply, opts ...Option) *Handler {
	h := &Handler{options: newOptions(opts), replies: replies}
	for _, r := range replies {
		if r.PromptSubstring == "" {
			h.numberedReplies = append(h.numberedReplies, r)
		}
	}
	return h
}

// Requests returns the requests so far, in order of arrival.
func (h *Handler) Requests() []LoggedRequest { return h.log.copy() }

// ServeHTTP answers one request with the reply for it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrivedAt := time.Now()
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		sendError(w, http.StatusNotFound, "",
			fmt.Sprintf("rehearsal: serve %s %s: no such endpoint", r.Method, r.URL.Path))
		return
	}
	req, err := readRequest(w, r)
	number := 0
	if err == nil {
		number, err = h.requestNumber(r.Header)
	}
	logEntry := &LoggedRequest{RequestNumber: number, Header: r.Header, LLMName: req.LLM, WantsStream: req.WantsStream,
		ArrivedAt: arrivedAt}
	if !h.omitsRequestLog {
		if !h.omitsLoggedBodies {
			logEntry.Body, logEntry.Messages = req.body, req.Messages
		}
		h.log.add(logEntry)
	}
	var end EndReason
	if err != nil {
		sendError(w, http.StatusBadRequest, "", err.Error())
		end = EndRefused
	} else {
		end = h.sendReply(w, r, req, logEntry)
	}
	h.log.setEnd(logEntry, end)
	if h.onReplyEnd != nil {
		h.onReplyEnd(number, end)
	}
	if end == EndCut {
		panic(http.ErrAbortHandler)
	}
}

// requestNumber returns the Request's number from its header, or counts those without a header in order of arrival.
func (h *Handler) requestNumber(header http.Header) (int, error) {
	number, err := requestNumberFromHeader(header)
	if number == 0 && err == nil {
		number = int(h.unnumberedRequestCount.Add(1))
	}
	return number, err
}

// chooseReply finds the reply: the first whose When occurs in the prompt, otherwise the one at this number.
func (h *Handler) chooseReply(requestNumber int, prompt func() string) (Reply, bool) {
	for _, r := range h.replies {
		if r.PromptSubstring != "" && strings.Contains(prompt(), r.PromptSubstring) {
			return r, true
		}
	}
	if requestNumber > len(h.numberedReplies) {
		return Reply{}, false
	}
	return h.numberedReplies[requestNumber-1], true
}

// sendReply sends the reply for one readable request.
func (h *Handler) sendReply(w http.ResponseWriter, r *http.Request, req request, logEntry *LoggedRequest) EndReason {
	reply, isFound := h.chooseReply(logEntry.RequestNumber, sync.OnceValue(req.prompt))
	if !isFound {
		sendError(w, http.StatusBadRequest, "no_reply",
			fmt.Sprintf("rehearsal: no reply for request %d: the file has %d: "+
				"add one, or have an LLM answer, and start anew", logEntry.RequestNumber, len(h.numberedReplies)))
		return EndRefused
	}
	s := timedReply{options: h.options, reply: reply, requestNumber: logEntry.RequestNumber,
		arrivedAt:    logEntry.ArrivedAt,
		logSentChars: func(sent int) { h.log.setSentChars(logEntry, sent) }}
	if reply.ErrorStatus != 0 {
		return s.sendError(r.Context(), w)
	}
	completionHead := completion{ID: fmt.Sprintf("chatcmpl-rehearsal-%d", logEntry.RequestNumber),
		Created: logEntry.ArrivedAt.Unix(),
		LLM:     req.LLM}
	s.writer = &jsonWriter{w: w, completionHead: completionHead}
	if req.WantsStream {
		s.writer = &eventStreamWriter{w: w, completionHead: completionHead, wantsUsage: req.StreamOptions.IncludeUsage}
	}
	return s.run(r.Context(), req.promptChars())
}

// ChooseReply returns the reply for the Request with this number, from 1. It is the first reply whose When occurs in
// the prompt, otherwise the one at this number among those without When. ok is false if there is none.
func ChooseReply(replies []Reply, requestNumber int, prompt string) (r Reply, ok bool) {
	return NewHandler(replies).chooseReply(requestNumber, func() string { return prompt })
}
