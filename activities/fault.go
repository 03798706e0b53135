package activities

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"

	"processidea/activities/secret"
	"processidea/model/turn"
)

// fault is what a server said against a request, in whatever form it said it.
type fault struct {
	status              int
	code, kind, message string
	raw                 string
}

// maxFault is how much of an error's body is read, in bytes.
const maxFault = 64 << 10

// faultOf reads a fault from an answer's body or from the event that ended a stream; nil where the server said nothing.
func faultOf(err error, answer *http.Response) *fault {
	var s errSaid
	switch {
	case errors.As(err, &s):
		f := parseFault([]byte(s.event))
		f.status = f.late()
		return f
	case answer != nil && answer.StatusCode >= 400:
		body, _ := io.ReadAll(io.LimitReader(answer.Body, maxFault))
		f := parseFault(body)
		f.status = answer.StatusCode
		return f
	}
	return nil
}

// parseFault reads what servers answer: OpenAI's {"error": {…}}, the same with a text for the object, in a list, or
// without the outer object, and plain text.
func parseFault(body []byte) *fault {
	f := &fault{raw: string(body)}
	var v any
	_ = json.Unmarshal(body, &v)
	if list, ok := v.([]any); ok && len(list) > 0 { // Google
		v = list[0]
	}
	m, ok := v.(map[string]any)
	if inner := m["error"]; ok && inner != nil {
		v = inner
	}
	switch v := v.(type) {
	case map[string]any:
		f.message = cmp.Or(text(v["message"]), text(v["msg"]), text(v["detail"]))
		f.code, f.kind = text(v["code"]), cmp.Or(text(v["type"]), text(v["status"]))
	case string:
		f.message = v
	case nil:
		f.message = f.raw
	}
	return f
}

// late is what the status would have been, had it not been sent already.
func (f *fault) late() int {
	status, _ := strconv.Atoi(f.code)
	switch {
	case status >= 400 && status <= 599:
		return status
	case f.code == quota || f.kind == quota:
		return http.StatusTooManyRequests
	}
	return http.StatusInternalServerError
}

// text is a value as it would be read aloud; nothing for null.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// transient says whether another attempt may succeed.
func (f *fault) transient() bool {
	switch f.status {
	case http.StatusRequestTimeout, http.StatusConflict:
		return true
	case http.StatusTooManyRequests:
		return f.code != quota && f.kind != quota
	}
	return f.status >= 500
}

const quota = "insufficient_quota"

// refusal sorts what went wrong before the first word: what Temporal may try again, and what is final.
func (c *chat) refusal(err error) error {
	var busy errBusy
	if errors.As(err, &busy) {
		return temporal.NewApplicationErrorWithOptions(busy.Error(), turn.CodeLLMUnreachable,
			temporal.ApplicationErrorOptions{NextRetryDelay: busy.wait})
	}
	f := c.fault
	if f == nil {
		return temporal.NewApplicationErrorWithOptions("the LLM cannot be reached: "+c.said(c.cause(err)),
			turn.CodeLLMUnreachable, temporal.ApplicationErrorOptions{})
	}
	words := c.said(cmp.Or(f.message, f.code, f.kind, http.StatusText(f.status)))
	words = fmt.Sprintf("the LLM's server answered %d: %s", f.status, words)
	if !f.transient() {
		return temporal.NewApplicationErrorWithOptions(words, turn.CodeLLMError, temporal.ApplicationErrorOptions{NonRetryable: true})
	}
	return temporal.NewApplicationErrorWithOptions(words, turn.CodeLLMUnreachable,
		temporal.ApplicationErrorOptions{NextRetryDelay: retryAfter(c.answer, time.Now())})
}

func (c *chat) cause(err error) string {
	if errors.Is(err, errNothing) && c.answer != nil {
		return fmt.Sprintf("it answered %s of type %q, without a word", c.answer.Status, c.answer.Header.Get("Content-Type"))
	}
	return err.Error()
}

// minKey is the least length of a key that is struck out, in bytes: what local servers are given for one is no secret.
const minKey = 16

// said is what a server said, without the key: some repeat it in their errors. The key is struck out first, since half of
// one would not be found.
func (c *chat) said(text string) string {
	if len(c.key) >= minKey {
		text = secret.NewStriker(map[string]string{"OPENAI_API_KEY": c.key}).Text(text)
	}
	return clip(text)
}

// retryAfter reads how long the server wants to be left alone: milliseconds, seconds, or a date. It may be minutes, an
// hour at most.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	if r == nil {
		return 0
	}
	d := time.Duration(0)
	after := r.Header.Get("Retry-After")
	if ms, err := strconv.ParseFloat(r.Header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		d = time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	} else if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds > 0 {
		d = time.Duration(min(seconds, 1e6) * float64(time.Second))
	} else if at, err := http.ParseTime(after); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), time.Hour)
}
