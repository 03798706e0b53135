package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"processidea/internal/secret"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Error is why a Request got no reply at all.
type Error struct {
	Code            string // turn.CodeLLMUnreachable, turn.CodeLLMError or turn.CodeRateLimited
	Message         string // without the key
	IsRetryable     bool   // whether another attempt may succeed
	RetryAfter      time.Duration
	Remedy          string // what ends the wait if another attempt may succeed
	IsHeldBack      bool   // not sent: a limit, or an outage that other Requests probe
	IsBatchPending  bool   // no failure: a batch is not ready yet
	IsReasoningOnly bool   // the answer was only reasoning; it costs as much as any other
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// classifyAndRecord describes a failure before the reply began. An unavailable server opens the circuit.
func (x *exchange) classifyAndRecord(ctx context.Context, err error) *Error {
	var heldErr *Error
	if errors.As(err, &heldErr) {
		return heldErr
	}
	e := x.classifyError(err)
	e.Remedy, e.IsRetryable = cmp.Or(e.Remedy, x.client.unreachableRemedy()), e.IsRetryable && x.canRetry()
	outageKey, shouldOpen := x.circuitToOpen(err)
	if !shouldOpen || !e.IsRetryable || ctx.Err() != nil {
		return e
	}
	return x.client.circuitBreaker.recordFailure(outageKey, *e, x.startedAt, time.Now())
}

// unreachableRemedy says what ends the wait for a server.
func (c *Client) unreachableRemedy() string {
	return "it goes on by itself once the server answers; the worker's " + c.config.variableName("OPENAI_BASE_URL") +
		" says which server that is"
}

func (x *exchange) classifyError(err error) *Error {
	var rateErr rateLimitedError
	if errors.As(err, &rateErr) {
		e := &Error{Code: turn.CodeLLMUnreachable, Message: rateErr.Error(), IsRetryable: true,
			RetryAfter: rateErr.delay,
			IsHeldBack: true}
		if rateErr.serverText == "" {
			e.Code, e.Remedy = turn.CodeRateLimited, "it goes on by itself; higher limits are settings of the worker"
		}
		return e
	}
	var redirectErr redirectError
	if errors.As(err, &redirectErr) {
		return &Error{Code: turn.CodeLLMError, Message: x.redact(fmt.Sprintf("the LLM's server at %s is at another "+
			"address: %s. Set %s to that, start the worker again, and resume the process", x.client.host(), redirectErr,
			x.client.config.variableName("OPENAI_BASE_URL")))}
	}
	if errors.Is(err, errNoFirstByte) {
		return &Error{Code: turn.CodeLLMUnreachable, Message: err.Error(), IsRetryable: true}
	}
	var noReply missingReplyError
	var unreadable unreadableAnswerError
	hasNoReply := errors.As(err, &noReply)
	var message string
	if e := x.serverError; e == nil {
		problem := "cannot be reached"
		if errors.As(err, &unreadable) || noReply.text != "" {
			problem = "gives no reply"
		}
		message = fmt.Sprintf("the LLM's server at %s %s: %s", x.client.host(), problem, x.redact(x.causeText(err)))
		if hasNoReply && x.isHTMLReply() {
			return &Error{Code: turn.CodeLLMUnreachable, Message: message + ". See that " +
				x.client.config.variableName("OPENAI_BASE_URL") +
				" is the address of an LLM's server, and that no proxy " +
				"wants a login before it; then resume the process"}
		}
	} else {
		message = fmt.Sprintf("the LLM's server answered %d: %s", e.status, x.redact(e.text()))
		if !e.isTransient() {
			if remedy := x.serverErrorRemedy(); remedy != "" {
				message = strings.TrimRight(message, ".") + ". " + remedy + "resume the process"
			}
			return &Error{Code: turn.CodeLLMError, Message: message}
		}
	}
	return &Error{Code: turn.CodeLLMUnreachable, Message: message, IsRetryable: true,
		RetryAfter: x.retryAfter()}
}

// serverErrorRemedy says what to do at the worker about an error that the LLM's server gave; "" if that is unknown.
func (x *exchange) serverErrorRemedy() string {
	e, isBatch := x.serverError, x.response != nil && !isStreamRequest(x.response.Request)
	switch {
	case e.status == http.StatusUnauthorized,
		e.status == http.StatusForbidden && !e.mentions("moderation", "flagged"):
		return "Mend its key at the worker (" + x.client.config.variableName("OPENAI_API_KEY") +
			"), start the worker " + "again, and "
	case !isBatch && (e.status == http.StatusNotFound || e.status == http.StatusMethodNotAllowed):
		return fmt.Sprintf("See that %s is its address, which mostly ends with /v1, and that it has the model %s; "+
			"then ", x.client.config.variableName("OPENAI_BASE_URL"), x.params.Model)
	}
	return ""
}

// isHTMLReply reports whether a web page came in place of a reply, from a proxy that wants a login or from a wrong
// address. A person must fix that; waiting does not help. A batch is still waited for, since its server has accepted
// it.
func (x *exchange) isHTMLReply() bool {
	return x.response != nil && isStreamRequest(x.response.Request) && isHTML(x.response)
}

func (x *exchange) causeText(err error) string {
	var noReply missingReplyError
	var urlErr *url.Error // it repeats the address
	switch {
	case errors.As(err, &noReply):
		noReply.text = x.redactedExcerpt(noReply.text)
		if x.response != nil {
			return fmt.Sprintf("%s of type %q: %s", x.response.Status, x.response.Header.Get("Content-Type"), noReply)
		}
		return noReply.Error()
	case errors.As(err, &urlErr):
		err = urlErr.Err
	}
	return err.Error()
}

// host returns the server's host, or host:port.
func (c *Client) host() string {
	u, err := url.Parse(cmp.Or(c.config.BaseURL, openAIBaseURL))
	if err != nil {
		return c.config.BaseURL
	}
	return u.Host
}

// minSecretKeyBytes is the minimum length, in bytes, of keys that are redacted: keys for local servers are not secret,
// and may be ordinary words.
const minSecretKeyBytes = 16

// maxErrorMessageChars bounds what an error quotes, in characters: Temporal cuts messages at 4 KB.
const maxErrorMessageChars = 2000

// redact removes the key from a server's text and then shortens the text. In the other order, half a key might remain.
func (x *exchange) redact(text string) string {
	if key := x.client.config.APIKey; len(key) >= minSecretKeyBytes {
		text = secret.NewRedactor(map[string]string{"OPENAI_API_KEY": key}).RedactText(text)
	}
	return jsonval.Clip(text, maxErrorMessageChars)
}
