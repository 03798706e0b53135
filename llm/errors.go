package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/secret"
)

// Error is why a Request got no reply at all.
type Error struct {
	Code       string // turn.CodeLLMUnreachable or turn.CodeLLMError
	Message    string // without the key
	Retry      bool   // whether another attempt may succeed
	RetryAfter time.Duration
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// failure classifies what went wrong before the LLM said anything.
func (x *exchange) failure(err error) *Error {
	var limited errRateLimited
	if errors.As(err, &limited) {
		return &Error{Code: turn.CodeLLMUnreachable, Message: limited.Error(), Retry: true, RetryAfter: limited.wait}
	}
	if errors.Is(err, errNoFirstByte) {
		return &Error{Code: turn.CodeLLMUnreachable, Message: err.Error(), Retry: true}
	}
	e := x.serverError
	if e == nil {
		return &Error{Code: turn.CodeLLMUnreachable, Message: "the LLM cannot be reached: " + x.redact(x.cause(err)), Retry: true}
	}
	message := x.redact(cmp.Or(e.message, e.code, e.kind, http.StatusText(e.status)))
	message = fmt.Sprintf("the LLM's server answered %d: %s", e.status, message)
	if !e.transient() {
		return &Error{Code: turn.CodeLLMError, Message: message}
	}
	return &Error{Code: turn.CodeLLMUnreachable, Message: message, Retry: true, RetryAfter: retryAfter(x.response, time.Now())}
}

func (x *exchange) cause(err error) string {
	if errors.Is(err, errEmptyResponse) && x.response != nil {
		return fmt.Sprintf("%v: %s of type %q", err, x.response.Status, x.response.Header.Get("Content-Type"))
	}
	return err.Error()
}

// minSecretKey is the length in bytes from which a key is redacted: the keys that local servers are given are no secrets,
// and may be ordinary words.
const minSecretKey = 16

// maxMessage bounds what an error quotes, in characters: Temporal cuts messages at 4 KB.
const maxMessage = 2000

// redact strikes the key out of what a server said, and shortens it: in that order, since half a key would not be found.
func (x *exchange) redact(text string) string {
	if key := x.client.config.Key; len(key) >= minSecretKey {
		text = secret.NewStriker(map[string]string{"OPENAI_API_KEY": key}).Text(text)
	}
	return jsonval.Clip(text, maxMessage)
}
