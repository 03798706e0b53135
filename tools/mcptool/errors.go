package mcptool

import (
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"processidea/model/ideafile"
	"processidea/tools/httptool"
)

// Error is why a tool has no result. It contains no secret that the server was given.
type Error struct {
	Code       string // a code of package model
	Retry      bool   // whether another attempt may succeed
	Err        error
	retryAfter time.Duration
	act        string
}

// Error reads `mcptool: act thing: cause`.
func (e *Error) Error() string { return "mcptool: " + e.act + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Final reports whether another attempt would only repeat the error.
func (e *Error) Final() bool { return !e.Retry }

// FaultCode is Code, as runner.FaultCode asks for it.
func (e *Error) FaultCode() string { return e.Code }

// RetryDelay is how long the server wants to be left alone, as runner.RetryDelay asks for it.
func (e *Error) RetryDelay() time.Duration { return e.retryAfter }

// Throttled reports whether the server is asked too often, as runner.IsThrottled asks.
func (e *Error) Throttled() bool {
	u := refusalIn(e.Err)
	return u != nil && u.isThrottled()
}

func (e *Error) withAct(act string) *Error {
	e.act = act
	return e
}

// refusedError marks what this worker is not allowed to do: run a program, or reach a host.
type refusedError struct{ error }

func isRefused(err error) bool {
	var r refusedError
	return errors.As(err, &r) || httptool.IsRefused(err)
}

// serverError is the error that a server answered with; nil if the connection failed. The SDK reports some failures of
// the connection as if the server had answered, with codes that no server sends.
func serverError(err error) *jsonrpc.Error {
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) || (failure.Code >= codeRejected && failure.Code <= codeUnknown) {
		return nil
	}
	return failure
}

// The SDK's own codes, from ErrUnknown to ErrRejected.
const codeUnknown, codeRejected = -32001, -32005

// unsentError is the Error of a call that did not reach the server.
func unsentError(act string, err error) *Error {
	if u := refusalIn(err); u != nil && (u.isLater() || u.isMendable()) {
		return u.failure().withAct(act)
	}
	code := ideafile.CodeMCPUnreachable
	if isRefused(err) {
		code = ideafile.CodeMCPRefused
	}
	return &Error{act: act, Code: code, Retry: !isRefused(err), Err: err}
}
