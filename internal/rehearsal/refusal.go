package rehearsal

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
)

// sendError answers with an HTTP error in OpenAI's form.
func sendError(w http.ResponseWriter, status int, code, message string) {
	errorType := "invalid_request_error"
	switch {
	case status == http.StatusTooManyRequests:
		errorType, code = "requests", cmp.Or(code, "rate_limit_exceeded")
	case status == http.StatusUnauthorized:
		code = cmp.Or(code, "invalid_api_key")
	case status >= 500:
		errorType = "server_error"
	}
	errorBody := map[string]any{"message": message, "type": errorType, "param": nil, "code": nil}
	if code != "" {
		errorBody["code"] = code
	}
	body, _ := json.Marshal(map[string]any{"error": errorBody})
	sendJSON(w, status, body)
}

// sendReplyError answers with the error that a reply describes. If the message is a JSON object with an error, it
// becomes the whole body, so that errors of other servers can be played too.
func sendReplyError(w http.ResponseWriter, reply Reply) {
	if reply.RetryAfter > 0 {
		seconds := math.Round(reply.RetryAfter.Seconds()*1000) / 1000
		w.Header().Set("Retry-After", strconv.FormatFloat(seconds, 'f', -1, 64))
	}
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(reply.Content), &body) == nil && body.Error != nil {
		sendJSON(w, reply.ErrorStatus, []byte(reply.Content))
		return
	}
	sendError(w, reply.ErrorStatus, "", cmp.Or(reply.Content, http.StatusText(reply.ErrorStatus), "error"))
}

func sendJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// sendError answers with the reply's error, at the time of its first token.
func (s timedReply) sendError(ctx context.Context, w http.ResponseWriter) EndReason {
	if s.awaitDue(ctx, 0, s.reply.dueAt(s.arrivedAt, 0)) != nil {
		return EndClientGone
	}
	sendReplyError(w, s.reply)
	return EndRefused
}
