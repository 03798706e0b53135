package mcptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"processidea/internal/retryafter"
	"processidea/model/ideafile"
)

// refusedRequest is the answer of a server that refuses a request before it reads it. The requested tool has not run.
type refusedRequest struct {
	status           int
	wait             time.Duration // the pause that the server demands; 0: none
	isSessionUnknown bool          // the server no longer knows the session
	text             string
}

const (
	headerSession = "Mcp-Session-Id"
	methodCall    = "tools/call"
	methodBegin   = "initialize"
)

// reportedMethods are those whose refusals are told. With others the SDK looks for a protocol that the server
// speaks, or takes its leave.
var reportedMethods = []string{methodBegin, "notifications/initialized", "tools/list", methodCall}

// aboutSession finds what servers say of a session that began before they were started again.
var aboutSession = regexp.MustCompile(`(?i)session|not initialized`)

// refusalOf returns such an answer to a request of a method, and closes it; nil for every other.
func (c *conn) refusalOf(r *http.Response, method string) error {
	if r.StatusCode < 300 || r.StatusCode >= 500 || r.Body == nil {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	u := &refusedRequest{status: r.StatusCode, wait: retryafter.Of(r.Header, time.Now())}
	u.isSessionUnknown = r.Request.Header.Get(headerSession) != "" && (u.status == http.StatusNotFound ||
		u.status == http.StatusBadRequest && aboutSession.Match(body))
	if !slices.Contains(reportedMethods, method) && !u.isLater() && !u.isMendable() {
		r.Body = &pieces{Closer: r.Body, rest: body, err: io.EOF}
		return nil
	}
	_ = r.Body.Close()
	u.text = fmt.Sprintf("the server refused the request: status %d", r.StatusCode)
	if about := c.excerpt(errorIn(body)); about != "" {
		u.text += ": " + about
	}
	if to, err := r.Location(); err == nil {
		u.text += ": it redirects to " + c.excerpt(to.Redacted()) + "; if that is its address, write it in the file"
	}
	if method == methodBegin && (u.status == http.StatusNotFound || u.status == http.StatusMethodNotAllowed) {
		u.text += "; its address may be another, or of the older transport (SSE), which is not spoken here"
	}
	return u
}

// errorIn is the message of an error of the protocol; of any other answer, all of it.
func errorIn(body []byte) string {
	var known struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &known) == nil && known.Error.Message != "" {
		return known.Error.Message
	}
	return strings.ToValidUTF8(string(body), "\ufffd")
}

func (u *refusedRequest) Error() string { return u.text }

func refusalIn(err error) *refusedRequest {
	var u *refusedRequest
	errors.As(err, &u)
	return u
}

// isLater reports whether the server takes the request at another time, or in another session.
func (u *refusedRequest) isLater() bool {
	return u.isSessionUnknown || u.isThrottled() || u.status == http.StatusTooEarly
}

// isThrottled reports whether the server is asked too often. GitHub says that with 403 too.
func (u *refusedRequest) isThrottled() bool {
	return u.status == http.StatusTooManyRequests || u.status == http.StatusForbidden && u.wait > 0
}

// isMendable reports whether the operator of the worker can mend what the server refuses to this worker.
func (u *refusedRequest) isMendable() bool {
	switch u.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired:
		return true
	}
	return false
}

// failure is the Error of a refusal. A request that the server takes later is sent again; what is wrong with it
// otherwise, only its sender can mend.
func (u *refusedRequest) failure() *Error {
	switch {
	case u.isLater():
		return &Error{Code: ideafile.CodeMCPUnreachable, Retry: true, Err: u, retryAfter: u.wait}
	case u.isMendable():
		return &Error{Code: ideafile.CodeMCPRefused, Err: u}
	}
	return &Error{Code: ideafile.CodeToolFailed, Err: u}
}
