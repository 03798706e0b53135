package mcptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"processidea/internal/retryafter"
	"processidea/model/ideafile"
	"processidea/tools/httptool"
)

// refusedRequest is the answer of a server that refuses a request before reading it. The requested tool has not run.
type refusedRequest struct {
	status              int
	retryAfter          time.Duration // the pause that the server demands; 0: none
	isSessionUnknown    bool          // the server no longer knows the session
	mayBeSessionUnknown bool          // it may be the session that the server refuses; a new one tells
	message             string
}

const (
	sessionIDHeader  = "Mcp-Session-Id"
	methodCallTool   = "tools/call"
	methodInitialize = "initialize"
)

// methodsWithReportedRefusal are the methods whose refusals are reported. With other methods the SDK probes for a
// protocol that the server speaks, or ends the session.
var methodsWithReportedRefusal = []string{methodInitialize, "notifications/initialized", "tools/list", methodCallTool}

// sessionErrorPattern matches what servers say about a session that began before their restart.
var sessionErrorPattern = regexp.MustCompile(`(?i)session|not initialized`)

// closeIfRefused returns a *refusedRequest for an answer that refuses a request of a method, and closes the
// answer; nil for any other answer.
func (c *conn) closeIfRefused(r *http.Response, method string) error {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isHTMLPage := r.StatusCode == http.StatusOK && mediaType == "text/html"
	if (r.StatusCode < 300 || r.StatusCode >= 500) && !isHTMLPage || r.Body == nil {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	u := &refusedRequest{status: r.StatusCode, retryAfter: retryafter.FromHeader(r.Header, time.Now())}
	switch {
	case isHTMLPage && httptool.HasPasswordField(body): // of a proxy, which passes nothing on before the login
		_ = r.Body.Close()
		u.status = http.StatusUnauthorized
		u.message = "the server refused the request: it answered with a login page (status 200)"
		return u
	case isHTMLPage:
		r.Body = &chunkReader{Closer: r.Body, remainingBytes: body, err: io.EOF}
		return nil
	}
	if r.Request.Header.Get(sessionIDHeader) != "" {
		u.isSessionUnknown = u.status == http.StatusNotFound ||
			u.status == http.StatusBadRequest && sessionErrorPattern.Match(body)
		u.mayBeSessionUnknown = u.status == http.StatusGone || u.status == http.StatusUnauthorized
	}
	if !slices.Contains(methodsWithReportedRefusal, method) && !u.isRetryable() && !u.isOperatorFixable() {
		r.Body = &chunkReader{Closer: r.Body, remainingBytes: body, err: io.EOF}
		return nil
	}
	_ = r.Body.Close()
	u.message = fmt.Sprintf("the server refused the request: status %d", r.StatusCode)
	if detail := c.excerpt(errorMessage(body)); detail != "" {
		u.message += ": " + detail
	}
	if location, err := r.Location(); err == nil {
		u.message += ": it redirects to " + c.excerpt(location.Redacted()) +
			"; if that is its address, write it in the file"
	}
	if method == methodInitialize && (u.status == http.StatusNotFound || u.status == http.StatusMethodNotAllowed) {
		u.message += "; its address may be another, or of the older transport (SSE), which is not spoken here"
	}
	return u
}

// errorMessage returns the message of a protocol error; for any other answer, all of its text.
func errorMessage(body []byte) string {
	var fields struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &fields) == nil && fields.Error.Message != "" {
		return fields.Error.Message
	}
	return strings.ToValidUTF8(string(body), "\ufffd")
}

func (u *refusedRequest) Error() string { return u.message }

func asRefusal(err error) *refusedRequest {
	var u *refusedRequest
	errors.As(err, &u)
	return u
}

// isRetryable reports whether the server may accept the request later, or in another session.
func (u *refusedRequest) isRetryable() bool {
	return u.isSessionUnknown || u.isThrottled() || u.status == http.StatusTooEarly
}

// isThrottled reports whether the refusal is a rate limit. GitHub also uses 403 for that.
func (u *refusedRequest) isThrottled() bool {
	return u.status == http.StatusTooManyRequests || u.status == http.StatusForbidden && u.retryAfter > 0
}

// isOperatorFixable reports whether the operator of the worker can fix the cause of the refusal.
func (u *refusedRequest) isOperatorFixable() bool {
	switch u.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired:
		return true
	}
	return false
}

// toError returns the Error for a refusal. A request that the server may accept later is sent again. Any other refusal
// can only be fixed by the operator of the worker, or by the author of the Call.
func (u *refusedRequest) toError() *Error {
	switch {
	case u.isRetryable():
		return &Error{Code: ideafile.CodeMCPUnreachable, IsRetryable: true, Err: u, retryAfter: u.retryAfter}
	case u.isOperatorFixable():
		return &Error{Code: ideafile.CodeMCPServerNotAllowed, Err: u}
	}
	return &Error{Code: ideafile.CodeToolFailed, Err: u}
}
