package httptool

import (
	"errors"
	"fmt"
	"time"

	"processidea/internal/secret"
	"processidea/model/ideafile"
)

// Error says why a request has no result. It contains no secret of the request. It does not unwrap to the causes of
// Err, which might contain a secret.
type Error struct {
	Status      int           // status of the answer; 0: none
	Body        string        // the answer's first 1,000 characters
	RetryAfter  time.Duration // the pause that the server demands; 0: none
	IsRetryable bool          // whether another attempt may succeed
	Err         error         // the cause, if it is not the status
	// IsNotAllowed reports that this worker lacks what the tool needs, whatever its parameters: a host in its
	// allow-list, or a secret. Only the operator of the worker can fix that.
	IsNotAllowed bool
	methodAndURL string // method and URL template
	isThrottled  bool   // the server's rate limit refused the request unread
}

// Error reads `httptool: act thing: cause`.
func (e *Error) Error() string {
	text := "httptool: " + e.methodAndURL
	if e.Status != 0 {
		text += fmt.Sprintf(": status %d", e.Status)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Final reports whether another attempt would only repeat the error.
func (e *Error) Final() bool { return !e.IsRetryable }

// FaultCode returns ideafile.CodeToolAccessDenied if the worker lacks something, for runner.FaultCode.
func (e *Error) FaultCode() string {
	if e.IsNotAllowed {
		return ideafile.CodeToolAccessDenied
	}
	return ""
}

// RetryDelay returns RetryAfter, for runner.RetryDelay.
func (e *Error) RetryDelay() time.Duration { return e.RetryAfter }

// Throttled reports whether the server's rate limit refused the request, for runner.IsThrottled.
func (e *Error) Throttled() bool { return e.isThrottled }

// RedactError returns an error without the secrets in its text. errors.Is finds the original error, but the result does
// not unwrap to it.
func RedactError(s *secret.Redactor, err error) error {
	return &redactedError{s.RedactText(err.Error()), err}
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string        { return e.text }
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// finalError marks a cause that does not come from the network.
type finalError struct{ error }

// Unwrap returns the cause.
func (f finalError) Unwrap() error { return f.error }

// notAllowedError marks the lack of something at this worker: a host in its allow-list, or a secret.
type notAllowedError struct{ error }

func notAllowedErrorf(format string, args ...any) error {
	return finalError{notAllowedError{fmt.Errorf(format, args...)}}
}

func isNotAllowed(err error) bool {
	var n notAllowedError
	return errors.As(err, &n)
}

func finalErrorf(format string, args ...any) error {
	return finalError{fmt.Errorf(format, args...)}
}

// IsRefused reports whether this worker refused the request, rather than the network failing: another attempt would
// fail the same way.
func IsRefused(err error) bool {
	var f finalError
	return errors.As(err, &f)
}
