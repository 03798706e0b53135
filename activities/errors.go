package activities

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/tools"
	"processidea/tools/runner"
)

// nonRetryable returns an error that Temporal does not retry.
func nonRetryable(code string, err error) error {
	return temporal.NewApplicationErrorWithOptions(err.Error(), code, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// invalidIdea is the error of an Idea that cannot be read.
func invalidIdea(problems error) error { return nonRetryable(turn.CodeInvalidIdea, problems) }

// storeAway is the error of a Call that could not be run, or may be run again, because the store cannot be written. Trying again at once
// would not help: its instance waits for the store.
func storeAway(err error) error {
	return nonRetryable(ideafile.CodeStoreAway, errors.New(jsonval.Clip(err.Error(), maxErrorMessage)))
}

// toolFailure turns a runner's error into one of Temporal's: whether to try again, and not before when.
func toolFailure(err error) error {
	return temporal.NewApplicationErrorWithOptions(jsonval.Clip(err.Error(), maxErrorMessage), runner.Code(err), temporal.ApplicationErrorOptions{
		NonRetryable: tools.IsFinal(err), NextRetryDelay: min(runner.RetryDelay(err), time.Hour),
	})
}

// llmFailure does the same with an error of the LLM's client.
func llmFailure(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	return temporal.NewApplicationErrorWithOptions(e.Message, e.Code,
		temporal.ApplicationErrorOptions{NonRetryable: !e.Retry, NextRetryDelay: e.RetryAfter})
}

// maxErrorMessage keeps an error below the 4 KB at which Temporal cuts it, in characters.
const maxErrorMessage = 2000
