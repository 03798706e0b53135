package mcptool

import (
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"processidea/model/ideafile"
	"processidea/tools/httptool"
)

// Error says why a tool has no result. It contains no secret that the server was given.
type Error struct {
	Code        string // a code of package ideafile
	IsRetryable bool   // whether another attempt may succeed
	Err         error
	retryAfter  time.Duration
	actionText  string
}

// Error reads `mcptool: act thing: cause`.
func (e *Error) Error() string { return "mcptool: " + e.actionText + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Final reports whether another attempt would only repeat the error.
func (e *Error) Final() bool { return !e.IsRetryable }

// FaultCode returns Code, for runner.FaultCode.
func (e *Error) FaultCode() string { return e.Code }

// RetryDelay returns how long the server wants no further request, for runner.RetryDelay.
func (e *Error) RetryDelay() time.Duration { return e.retryAfter }

// Throttled reports whether the server's rate limit refused the call, for runner.IsThrottled.
func (e *Error) Throttled() bool {
	u := asRefusal(e.Err)
	return u != nil && u.isThrottled()
}

func (e *Error) withAction(action string) *Error {
	e.actionText = action
	return e
}

// disallowedError marks something that this worker may not do: run a program, or reach a host.
type disallowedError struct{ error }

func isDisallowed(err error) bool {
	var r disallowedError
	return errors.As(err, &r) || httptool.IsRefused(err)
}

// serverError returns the error that a server answered with; nil if the connection failed. The SDK reports some
// failures of the connection as if the server had answered, with codes that no server sends.
func serverError(err error) *jsonrpc.Error {
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) || (failure.Code >= sdkCodeRejected && failure.Code <= sdkCodeUnknown) {
		return nil
	}
	return failure
}

// The SDK's own codes, from ErrUnknown to ErrRejected.
const sdkCodeUnknown, sdkCodeRejected = -32001, -32005

// unsentError returns the Error for a call that did not reach the server.
func unsentError(action string, err error) *Error {
	if u := asRefusal(err); u != nil && (u.isRetryable() || u.isOperatorFixable()) {
		return u.toError().withAction(action)
	}
	code := ideafile.CodeMCPUnreachable
	if isDisallowed(err) {
		code = ideafile.CodeMCPServerNotAllowed
	}
	return &Error{actionText: action, Code: code, IsRetryable: !isDisallowed(err), Err: err}
}
