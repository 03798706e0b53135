package httptool

import (
	"errors"
	"fmt"
	"time"

	"processidea/internal/secret"
	"processidea/model/ideafile"
)

// Error is why a request has no result. It contains no secret of the request, and does not unwrap to the causes of Err,
// which might contain one.
type Error struct {
	Status     int           // of the answer; 0: none
	Body       string        // the answer's first 1,000 characters
	RetryAfter time.Duration // the pause that the server demands; 0: none
	Retry      bool          // whether another attempt may succeed
	Err        error         // the cause, if it is not the status
	// NotAllowed reports that this worker lacks what the tool needs, whatever its parameters: a host in its allow-list,
	// or a secret. Only the operator of the worker can mend that.
	NotAllowed bool
	act        string // method and URL template
	throttled  bool   // the server is asked too often, and has not read the request
}

// Error reads `httptool: act thing: cause`.
func (e *Error) Error() string {
	text := "httptool: " + e.act
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
func (e *Error) Final() bool { return !e.Retry }

// FaultCode distinguishes what the worker lacks, for runner.FaultCode.
func (e *Error) FaultCode() string {
	if e.NotAllowed {
		return ideafile.CodeNotAllowed
	}
	return ""
}

// RetryDelay is RetryAfter, as runner.RetryDelay asks for it.
func (e *Error) RetryDelay() time.Duration { return e.RetryAfter }

// Throttled reports whether the server is asked too often, as runner.IsThrottled asks.
func (e *Error) Throttled() bool { return e.throttled }

// RedactError returns an error without the secrets in its text. errors.Is finds the original error, but it does not
// unwrap to it.
func RedactError(s *secret.Redactor, err error) error {
	return &redactedError{s.RedactText(err.Error()), err}
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string        { return e.text }
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// finalCause marks a cause that is not the network's.
type finalCause struct{ error }

// Unwrap returns the cause.
func (f finalCause) Unwrap() error { return f.error }

// notAllowed marks what this worker lacks: a host in its allow-list, or a secret.
type notAllowed struct{ error }

func refusef(format string, args ...any) error {
	return finalCause{notAllowed{fmt.Errorf(format, args...)}}
}

func isNotAllowed(err error) bool {
	var n notAllowed
	return errors.As(err, &n)
}

func finalErrorf(format string, args ...any) error {
	return finalCause{fmt.Errorf(format, args...)}
}

// IsRefused reports whether this worker refused the request, and not the network: another attempt would fail the same
// way.
func IsRefused(err error) bool {
	var f finalCause
	return errors.As(err, &f)
}
