package protocol

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// FaultCodeOf returns the error code with which an activity failed; empty if it failed without one.
func FaultCodeOf(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type()
	}
	return ""
}

// AttemptsLeft returns how many attempts remain to a Call that the Tool's server refused unread; at least 1.
func AttemptsLeft(err error) (left int) {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		_ = app.Details(&left)
	}
	return max(left, 1)
}

// RetryDelay returns how long to wait before a failed activity is tried again.
func RetryDelay(err error) time.Duration {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.NextRetryDelay()
	}
	return 0
}

// IsWorkerLost reports whether an activity ended because its worker stopped sending heartbeats.
func IsWorkerLost(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT
}

// FaultOf describes an activity's error for the LLM and for people.
func FaultOf(err error) *diag.Fault {
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return &diag.Fault{Code: ideafile.CodeToolFailed, Message: "it took longer than its timeout allows"}
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		code := app.Type()
		if code == "" {
			code = ideafile.CodeToolFailed
		}
		return &diag.Fault{Code: code, Message: app.Message()}
	}
	return &diag.Fault{Code: ideafile.CodeToolFailed, Message: err.Error()}
}

// isRetryable reports whether an activity that failed may be tried again.
func isRetryable(err error) bool {
	var app *temporal.ApplicationError
	return !errors.As(err, &app) || !app.NonRetryable()
}
