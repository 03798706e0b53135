package activities

import (
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"processidea/llm"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/tools"
	"processidea/tools/runner"
)

// nonRetryableError returns an error that Temporal does not retry.
func nonRetryableError(code string, err error) error {
	return temporal.NewApplicationErrorWithOptions(err.Error(), code,
		temporal.ApplicationErrorOptions{NonRetryable: true})
}

// ideaOrError returns an Idea that was read, or the error of its problems.
func ideaOrError(idea *ideafile.Idea, problems diag.Problems) (*ideafile.Idea, error) {
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, nonRetryableError(turn.CodeInvalidIdea, errs)
	}
	return idea, nil
}

// storeUnavailableError is the error of a Call that could not run, or may run again, because the store cannot be
// written. An immediate retry would not help: its instance waits for the store.
func storeUnavailableError(err error) error {
	return nonRetryableError(ideafile.CodeStoreUnavailable, errors.New(jsonval.Clip(err.Error(), maxErrorChars)))
}

// maxToolServerWait bounds how long a Tool's server may ask callers to wait.
const maxToolServerWait = 24 * time.Hour

// toolError turns a runner's error into one of Temporal's, which says whether to try again, and the earliest time.
func toolError(err error) error {
	return temporal.NewApplicationErrorWithOptions(jsonval.Clip(err.Error(), maxErrorChars), runner.FaultCode(err),
		temporal.ApplicationErrorOptions{
			NonRetryable: tools.IsFinal(err), Details: panicStack(err),
			NextRetryDelay: min(runner.RetryDelay(err), maxToolServerWait),
		})
}

// throttledError makes the instance of a Call wait and then repeat the last attempt, which does not count.
func throttledError(info activity.Info, err error, wait time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(jsonval.Clip(err.Error(), maxErrorChars), turn.CodeToolBusy,
		temporal.ApplicationErrorOptions{NonRetryable: true, NextRetryDelay: wait,
			Details:  []any{remainingAttempts(info)},
			Category: temporal.ApplicationErrorCategoryBenign})
}

// llmError turns an error of the LLM's client into one of Temporal's. An error that is retried is benign: it is no
// failure of the worker.
func llmError(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	o := temporal.ApplicationErrorOptions{NonRetryable: !e.IsRetryable, NextRetryDelay: e.RetryAfter}
	if e.IsRetryable {
		o.Category = temporal.ApplicationErrorCategoryBenign
	}
	return temporal.NewApplicationErrorWithOptions(jsonval.Clip(e.Message, maxErrorChars), e.Code, o)
}

// panicError is the error of an activity in which a goroutine panicked. It is retried like a failure of a Tool, unless
// it is final.
func panicError(err error, isFinal bool) error {
	return temporal.NewApplicationErrorWithOptions(jsonval.Clip(err.Error(), maxErrorChars), ideafile.CodeToolFailed,
		temporal.ApplicationErrorOptions{NonRetryable: isFinal, Details: panicStack(err)})
}

// maxStackChars is how much of a panic's stack is kept with a failure, in characters: the innermost frames.
const maxStackChars = 1500

// panicStack is the stack of a panic, as the details of a failure; nil for other errors.
func panicStack(err error) []any {
	var stackTracer interface{ StackTrace() string }
	if !errors.As(err, &stackTracer) {
		return nil
	}
	return []any{jsonval.Clip(stackTracer.StackTrace(), maxStackChars)}
}

// maxErrorChars keeps an error below the 4 KB at which Temporal cuts it, in characters.
const maxErrorChars = 2000
