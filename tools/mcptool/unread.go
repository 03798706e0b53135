package mcptool

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"processidea/internal/retryafter"
	"processidea/model/ideafile"
)

// refusedRequest is the answer of a server that refuses a request before it reads it. The requested tool has not run.
type refusedRequest struct {
	status int
	wait   time.Duration // the pause that the server demands; 0: none
	text   string
}

// unreadOf returns such an answer, and closes it; nil for every other.
func (c *conn) unreadOf(r *http.Response) error {
	switch r.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	_ = r.Body.Close()
	text := fmt.Sprintf("the server refused the request: status %d", r.StatusCode)
	if about := c.excerpt(string(said)); about != "" {
		text += ": " + about
	}
	return &refusedRequest{r.StatusCode, retryafter.Parse(r.Header.Get("Retry-After"), time.Now()), text}
}

func (u *refusedRequest) Error() string { return u.text }

func unreadIn(err error) *refusedRequest {
	var u *refusedRequest
	errors.As(err, &u)
	return u
}

// isLater reports whether the server takes the request at another time.
func (u *refusedRequest) isLater() bool { return u.status == http.StatusTooManyRequests }

// failure is the Error of a refusal. The operator of the worker can mend what the server refuses to this worker; a
// request refused for its rate is retried.
func (u *refusedRequest) failure() *Error {
	if u.isLater() {
		return &Error{Code: ideafile.CodeMCPUnreachable, Retry: true, Err: u, after: u.wait}
	}
	return &Error{Code: ideafile.CodeMCPRefused, Err: u}
}
