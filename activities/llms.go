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

// candidate is an LLM that may answer a Request.
type candidate struct {
	client   *llm.Client
	settings ideafile.LLM
}

// candidates are the LLMs of an Idea on this worker's servers. An LLM on a server that the worker does not know has no
// client.
func (a *Activities) candidates(llms ideafile.LLMs) (all []candidate) {
	for _, one := range llms {
		client := a.LLM
		if one.Server != "" {
			client = a.LLMServers[one.Server]
		}
		all = append(all, candidate{client, one})
	}
	return all
}

// errNoLLM and unknownServer are errors of the worker's configuration, not of the LLM.
var errNoLLM = &llm.Error{Code: turn.CodeLLMError,
	Message: "no LLM is configured: set OPENAI_API_KEY or OPENAI_BASE_URL where the worker runs, " +
		"or start with --replies"}

func unknownServer(name string) *llm.Error {
	return &llm.Error{Code: turn.CodeLLMError,
		Message: fmt.Sprintf("this worker knows no LLM server %q: its OPENAI_SERVERS does not name it", name)}
}

// askLLMs asks the LLMs in their order. It asks the next one only if the one before gave no reply: a second answer on
// top of the beginning of another would be a different Plan. The error has the failure of each, and allows a retry if
// one of them does.
func (r *request) askLLMs(ctx context.Context, seen *RequestAttempt) (*llm.Reply, error) {
	var failed []failedLLM
	var answer *llm.Reply
	for n, c := range r.candidates {
		r.question.Settings, r.question.FirstByteTimeout = c.settings, c.settings.Timeout
		if n == len(r.candidates)-1 {
			r.question.FirstByteTimeout = 0 // Temporal's own timeout bounds its last attempt
		}
		var err error
		answer, err = c.stream(ctx, r.question)
		seen.describeReply(answer)
		var failure *llm.Error
		if err == nil || !errors.As(err, &failure) || ctx.Err() != nil {
			return answer, err
		}
		failed = append(failed, failedLLM{cmp.Or(answer.Model, c.settings.Model), failure})
		if n < len(r.candidates)-1 {
			activity.GetLogger(ctx).Warn("the LLM does not answer; the next one is asked", "llm", answer.Model, "next",
				r.candidates[n+1].settings.Model,
				"code", failure.Code)
			r.a.endRequest(seen, nil, failure)
			seen.Began = time.Now()
		}
	}
	return answer, joinLLMErrors(failed)
}

func (c candidate) stream(ctx context.Context, question llm.Request) (*llm.Reply, error) {
	client, err := c.configured()
	if err != nil {
		return &llm.Reply{Model: c.settings.Model}, err
	}
	return client.Stream(ctx, question)
}

// configured returns the client, or the reason why there is none.
func (c candidate) configured() (*llm.Client, error) {
	switch {
	case c.client.Configured():
		return c.client, nil
	case c.settings.Server != "":
		return nil, unknownServer(c.settings.Server)
	}
	return nil, errNoLLM
}

// failedLLM is an LLM that gave no reply, and the reason.
type failedLLM struct {
	model string
	err   *llm.Error
}

// joinLLMErrors makes one error of several. It allows a retry if one of them does, after the shortest of their delays.
func joinLLMErrors(failed []failedLLM) *llm.Error {
	if len(failed) == 1 {
		return failed[0].err
	}
	all := &llm.Error{Code: turn.CodeLLMError}
	var messages []string
	for _, f := range failed {
		messages = append(messages, f.model+": "+f.err.Message)
		all.ReasoningOnly = all.ReasoningOnly || f.err.ReasoningOnly
		if !f.err.Retry {
			continue
		}
		if !all.Retry || f.err.RetryAfter < all.RetryAfter {
			all.RetryAfter, all.Code, all.Remedy = f.err.RetryAfter, f.err.Code, f.err.Remedy
		}
		all.Retry = true
	}
	all.Message = fmt.Sprintf("none of %d LLMs answers: %s", len(failed), strings.Join(messages, "; "))
	return all
}
