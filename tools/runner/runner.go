package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// Runner runs the Calls of one kind of Tool. Many Calls use it concurrently.
type Runner interface {
	// Validate returns the error in a Tool's spec, as far as it shows without running the Tool. It needs no network and
	// no environment: `starter check` calls it too.
	Validate(spec any) error
	// Run runs one Call and returns its result as a JSON value: nil, bool, string, json.Number, []any, map[string]any.
	// An error is retried unless it is final (see tools.Final). It should be final if the same parameters lead to it
	// again (a 404, a missing file, a setting). An error with the code ideafile.CodeToolAccessDenied pauses the process
	// until the operator of the worker acts. FaultCode, RetryDelay and IsThrottled describe an error's optional
	// methods.
	Run(ctx context.Context, in Input) (any, error)
}

// ToolChecker is a Runner that can check more of a Tool than its spec alone.
type ToolChecker interface {
	// CheckTool returns the problems of a Tool with a valid spec. The paths are relative to the Tool, such as
	// .properties.text.
	CheckTool(t *ideafile.Tool, spec any) diag.Problems
}

// RequirementsChecker is a Runner that knows, before any Call of a Tool runs, what this worker lacks for its Calls.
type RequirementsChecker interface {
	// MissingRequirements returns sentences that name the setting to change: a host that may not be reached, a missing
	// secret, a program that may not be run. It contacts nothing outside the worker.
	MissingRequirements(spec any) []error
}

// Input is one Call, ready to run: its parameters are checked, and stored values are restored.
type Input struct {
	ProcessID     string
	InstanceToken string // the instance's; empty for the anonymous instance
	CallID        string // the id, such as 3.2@①
	ToolName      string
	Params        map[string]any
	ScopeValues   map[string]any // the values that the Tool's _scopes let through, by path; nil without
	// IdempotencyKey is the same on every attempt; Attempt counts from 1.
	IdempotencyKey string
	Attempt        int
	// Spec is the Tool's value of `_activity.<kind>` in the Idea; for a Go function its name. DecodeSpec reads it.
	Spec any
	// FitsAsResult reports whether a value may be the result, by the Tool's `_output` and the State schema; if nil, any value
	// may.
	FitsAsResult func(value any) bool
}

// FirstFittingReading returns the first of several readings of one answer that may be the result, or the first reading
// if none may.
func (in Input) FirstFittingReading(readings ...any) any {
	for _, v := range readings {
		if in.FitsAsResult == nil || len(readings) == 1 || in.FitsAsResult(v) {
			return v
		}
	}
	return readings[0]
}

// DecodeSpec reads a spec, a JSON value, into a Go type.
func DecodeSpec[T any](spec any) (v T, err error) {
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		return v, fmt.Errorf("runner: decode spec: %w", err)
	}
	return v, nil
}

// FaultCode returns the error code of a Runner's error: the result of its method `FaultCode() string`, or else
// ideafile.CodeToolFailed.
func FaultCode(err error) string {
	var faultCoder interface{ FaultCode() string }
	if errors.As(err, &faultCoder) && faultCoder.FaultCode() != "" {
		return faultCoder.FaultCode()
	}
	return ideafile.CodeToolFailed
}

// RetryDelay returns the minimum delay that a Runner's error demands before the next attempt: the result of its method
// `RetryDelay() time.Duration`, or else 0.
func RetryDelay(err error) time.Duration {
	var retryDelayer interface{ RetryDelay() time.Duration }
	if errors.As(err, &retryDelayer) {
		return retryDelayer.RetryDelay()
	}
	return 0
}

// IsThrottled reports whether a Runner's error says that a server's rate limit refused the Call unread: the result of
// its method `Throttled() bool`. The Tool has then not run, so the Call waits, whatever the attempt.
func IsThrottled(err error) bool {
	var throttled interface{ Throttled() bool }
	return errors.As(err, &throttled) && throttled.Throttled()
}
