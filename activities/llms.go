package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// llmCandidate is an LLM that may answer a Request.
type llmCandidate struct {
	client   *llm.Client
	settings ideafile.LLM
}

// llmCandidates are the LLMs of an Idea on this worker's servers. An LLM on a server that the worker does not know has
// no client.
func (a *Activities) llmCandidates(llms ideafile.LLMs) (list []llmCandidate) {
	for _, llmSettings := range llms {
		client := a.LLM
		if llmSettings.Server != "" {
			client = a.LLMClientByServer[llmSettings.Server]
		}
		list = append(list, llmCandidate{client, llmSettings})
	}
	return list
}

// errNoLLM and unknownServerError are errors of the worker's configuration, not of the LLM.
var errNoLLM = &llm.Error{Code: turn.CodeLLMError,
	Message: "no LLM is configured: set OPENAI_API_KEY or OPENAI_BASE_URL where the worker runs, " +
		"or start with --replies"}

func unknownServerError(serverName string) *llm.Error {
	return &llm.Error{Code: turn.CodeLLMError,
		Message: fmt.Sprintf("this worker knows no LLM server %q: its OPENAI_SERVERS does not name it", serverName)}
}

// askLLMs asks the LLMs in their order. It asks the next one only if the one before gave no reply: a second answer on
// top of the beginning of another would be a different Plan. The error has the failure of each, and allows a retry if
// one of them does.
func (r *request) askLLMs(ctx context.Context, attempt *RequestAttempt) (*llm.Reply, error) {
	var failures []llmFailure
	var answer *llm.Reply
	for n, c := range r.llmCandidates {
		r.llmRequest.Settings, r.llmRequest.FirstByteTimeout = c.settings, c.settings.Timeout
		if n == len(r.llmCandidates)-1 {
			r.llmRequest.FirstByteTimeout = 0 // Temporal's own timeout bounds its last attempt
		}
		var err error
		answer, err = c.stream(ctx, r.llmRequest)
		attempt.setReplyDetails(answer)
		var failure *llm.Error
		if err == nil || !errors.As(err, &failure) || ctx.Err() != nil {
			return answer, err
		}
		failures = append(failures, llmFailure{cmp.Or(answer.RequestedModel, c.settings.Model), failure})
		if n < len(r.llmCandidates)-1 {
			activity.GetLogger(ctx).Warn("the LLM does not answer; the next one is asked", "llm", answer.RequestedModel,
				"next",
				r.llmCandidates[n+1].settings.Model,
				"code", failure.Code)
			r.activities.observeRequestEnd(attempt, nil, failure)
			attempt.StartedAt = time.Now()
		}
	}
	return answer, joinLLMErrors(failures)
}

func (c llmCandidate) stream(ctx context.Context, llmRequest llm.Request) (*llm.Reply, error) {
	client, err := c.configuredClient()
	if err != nil {
		return &llm.Reply{RequestedModel: c.settings.Model}, err
	}
	return client.Stream(ctx, llmRequest)
}

// configuredClient returns the client, or the reason why there is none.
func (c llmCandidate) configuredClient() (*llm.Client, error) {
	switch {
	case c.client.IsConfigured():
		return c.client, nil
	case c.settings.Server != "":
		return nil, unknownServerError(c.settings.Server)
	}
	return nil, errNoLLM
}

// llmFailure is an LLM that gave no reply, and the reason.
type llmFailure struct {
	llmName string
	err     *llm.Error
}

// joinLLMErrors makes one error of several. It allows a retry if one of them does, after the shortest of their delays.
func joinLLMErrors(failures []llmFailure) *llm.Error {
	if len(failures) == 1 {
		return failures[0].err
	}
	joinedErr := &llm.Error{Code: turn.CodeLLMError}
	var messages []string
	for _, f := range failures {
		messages = append(messages, f.llmName+": "+f.err.Message)
		joinedErr.IsReasoningOnly = joinedErr.IsReasoningOnly || f.err.IsReasoningOnly
		if !f.err.IsRetryable {
			continue
		}
		if !joinedErr.IsRetryable || f.err.RetryAfter < joinedErr.RetryAfter {
			joinedErr.RetryAfter, joinedErr.Code, joinedErr.Remedy = f.err.RetryAfter, f.err.Code, f.err.Remedy
		}
		joinedErr.IsRetryable = true
	}
	joinedErr.Message = fmt.Sprintf("none of %d LLMs answers: %s", len(failures), strings.Join(messages, "; "))
	return joinedErr
}
