// Package exit maps errors and Results to the program's exit codes.
package exit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
)

// The program's exit codes.
const (
	Done             = 0
	Failed           = 1   // the process failed or was cancelled
	Usage            = 2   // bad usage, or an invalid file
	Paused           = 3   // the process is paused, or waits for a person
	Unreachable      = 4   // the server or the LLM cannot be reached
	IncompleteForget = 5   // the process is forgotten, but not everywhere
	Interrupted      = 130 // the shells' code for SIGINT
)

// Error is an error with an exit code of the program. If Cause is nil, everything has been printed already.
type Error struct {
	Code  int
	Cause error
}

// Error is the text of the cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Cause.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// WithCode returns an error without a cause: everything has been printed already.
func WithCode(code int) error { return &Error{Code: code} }

// Usagef is an error in how the program was called, or in what it was given.
func Usagef(format string, args ...any) error { return &Error{Usage, fmt.Errorf(format, args...)} }

// Unreachablef is an error of a server that cannot be reached.
func Unreachablef(format string, args ...any) error {
	return &Error{Unreachable, fmt.Errorf(format, args...)}
}

// usageErrors are the kinds of errors that the user can fix.
var usageErrors = []error{
	client.ErrInvalid, client.ErrNotFound, client.ErrRefused, client.ErrIDInUse, client.ErrKeys, client.ErrNoValue,
	client.ErrBadPlace,
	client.ErrForgotten,
}

// CodeOf gives the code for an error.
func CodeOf(err error) int {
	var e *Error
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled): // only a signal cancels
		return Interrupted
	case errors.As(err, &e):
		return e.Code
	}
	for _, usageErr := range usageErrors {
		if errors.Is(err, usageErr) {
			return Usage
		}
	}
	if errors.Is(err, client.ErrNoWorker) || client.IsUnreachable(err) {
		return Unreachable
	}
	return Failed
}

// CodeOfResult returns the exit code for a Result.
func CodeOfResult(r loop.ProcessResult) int {
	switch r.Status {
	case loop.StatusCompleted:
		return Done
	case loop.StatusPaused:
		if r.Error != nil && r.Error.Code == turn.CodeLLMUnreachable {
			return Unreachable
		}
		return Paused
	case loop.StatusRunning:
		if slices.ContainsFunc(r.HoldUps, func(h turn.HoldUp) bool { return h.CauseCode == turn.CodeLLMUnreachable }) {
			return Unreachable
		}
		for _, i := range r.Instances {
			if i.Status == ideafile.InstanceWaiting {
				return Paused
			}
		}
		return Done
	}
	return Failed
}
