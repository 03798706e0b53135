package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"processidea/internal/retryafter"
)

// serverError is a server's error for a request, whatever its form.
type serverError struct {
	status                   int
	isThrottled              bool          // rate-limited with status 403, as by Azure's gateway
	retryAfter               time.Duration // the wait that the body asks for; 0: none
	code, errorType, message string
	body                     string
}

// text is the server's text, or the meaning of its status.
func (e *serverError) text() string {
	return cmp.Or(e.message, e.code, e.errorType, http.StatusText(e.status))
}

// maxErrorBodyBytes bounds how much of an error's body is read, in bytes.
const maxErrorBodyBytes = 64 << 10

// readServerError reads the error from the response's body, or from the event that ended the stream; nil if the server
// sent no error.
func readServerError(err error, response *http.Response) *serverError {
	var inStream inStreamError
	switch {
	case errors.As(err, &inStream):
		e := parseServerError([]byte(inStream.event))
		e.status = e.impliedStatus()
		return e
	case response != nil && response.StatusCode >= 400:
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBodyBytes))
		e := parseServerError(body)
		e.status = response.StatusCode
		e.isThrottled = e.status == http.StatusForbidden && max(e.retryAfter, retryAfter(response, time.Now())) > 0
		return e
	}
	return nil
}

// parseServerError reads the forms that servers use: OpenAI's {"error": {…}}; the same with a text instead of the
// object, inside a list, under another key, or without the outer object; and plain text.
func parseServerError(body []byte) *serverError {
	e := &serverError{body: string(body)}
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil || d.More() {
		v = nil
	}
	switch v := innerError(v).(type) {
	case map[string]any:
		e.message = errorMessage(v)
		meta, _ := v["metadata"].(map[string]any)
		if cause := textOrJSON(meta["raw"]); cause != "" { // OpenRouter: it adds "Provider returned error"
			e.message += ": " + cause
		}
		errorText, _ := v["error"].(string)
		e.code = cmp.Or(textOrJSON(v["code"]), textOrJSON(v["http_status_code"]), errorText) // TGI
		e.errorType = cmp.Or(textOrJSON(v["type"]), textOrJSON(v["status"]))
		if e.message+e.code+e.errorType == "" && len(v) > 0 {
			e.message = e.body
		}
	case string:
		e.message = v
	case nil:
		e.message = e.body
	}
	e.retryAfter = min(cmp.Or(retryafter.FromErrorBody(v, time.Now()), parseWaitFromText(e.message)), time.Hour)
	return e
}

// retryAfterPattern finds how Azure and OpenAI say in their text when to ask again.
var retryAfterPattern = regexp.MustCompile(`(?i)(?:retry|try again) (?:after|in) ` +
	`((?:\d+(?:\.\d+)?(?:h|ms|m|s))+|\d+(?:\.\d+)? ?(?:millisecond|second|minute)s?)\b`)

// parseWaitFromText reads the wait in the text of an error; 0 if it names none.
func parseWaitFromText(text string) time.Duration {
	match := retryAfterPattern.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	normalizer := strings.NewReplacer(" ", "", "milliseconds", "ms", "millisecond", "ms", "seconds", "s", "second", "s",
		"minutes", "m", "minute", "m")
	return retryafter.Parse(normalizer.Replace(strings.ToLower(match[1])), time.Now())
}

// errorMessage returns the message in a server's error.
func errorMessage(v map[string]any) string {
	return cmp.Or(textOrJSON(v["message"]), textOrJSON(v["msg"]), textOrJSON(v["detail"]), textOrJSON(v["Message"]),
		textOrJSON(v["faultstring"]), textOrJSON(v["error_description"]))
}

// innerError unwraps a server's error from the members and lists around it.
func innerError(v any) any {
	switch outer := v.(type) {
	case []any: // Google, Cloudflare
		if len(outer) > 0 {
			return innerError(outer[0])
		}
	case map[string]any:
		for _, key := range []string{"error", "errors", "fault"} {
			switch inner := outer[key].(type) {
			case nil, bool, json.Number: // the members beside it describe the error
			case string:
				if errorMessage(outer) == "" {
					return inner
				}
			default:
				return innerError(inner)
			}
		}
	}
	return v
}

// impliedStatus returns the status that an error within a stream would have had, if the status had not been sent
// already.
func (e *serverError) impliedStatus() int {
	for _, code := range []string{e.code, e.errorType} {
		if status, _ := strconv.Atoi(code); status >= 400 && status <= 599 {
			return status
		}
	}
	switch {
	case e.isQuotaExhausted():
		return http.StatusTooManyRequests
	case strings.HasPrefix(e.message, "Unexpected endpoint"): // LM Studio, for every path that it does not know
		return http.StatusNotFound
	}
	return cmp.Or(statusByErrorCode[strings.ToLower(e.code)], statusByErrorCode[strings.ToLower(e.errorType)],
		http.StatusInternalServerError)
}

// statusByErrorCode are the HTTP statuses of OpenAI's, Anthropic's and Google's codes and kinds of errors.
var statusByErrorCode = map[string]int{
	"invalid_api_key": 401, "context_length_exceeded": 400, "model_not_found": 404, "rate_limit_exceeded": 429,
	"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529,
	"invalid_argument": 400, "unauthenticated": 401, "permission_denied": 403, "not_found": 404,
	"resource_exhausted": 429, "unavailable": 503,
}

// textOrJSON returns a string unchanged, "" for null, and any other value as JSON.
func textOrJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// groqStatusAtCapacity is Groq's status for a tier that is at capacity.
const groqStatusAtCapacity = 498

// isTransient reports whether another attempt may succeed.
func (e *serverError) isTransient() bool {
	switch e.status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, groqStatusAtCapacity:
		return true
	case http.StatusTooManyRequests:
		return !e.isQuotaExhausted()
	}
	return e.status >= 500 || e.isThrottled
}

// isQuotaExhausted reports whether somebody has to pay: OpenAI, Moonshot and others report that with the status of a
// rate limit.
func (e *serverError) isQuotaExhausted() bool {
	for _, code := range []string{e.code, e.errorType} {
		switch code {
		case "insufficient_quota", "exceeded_current_quota_error", "billing_not_active", "billing_hard_limit_reached":
			return true
		}
	}
	return strings.Contains(strings.ToLower(e.message), "insufficient balance")
}

// mentions reports whether the error contains one of the words.
func (e *serverError) mentions(words ...string) bool {
	text := strings.ToLower(e.body)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// retryAfter returns how long the server wants no further request, by its header or else by its error.
func (x *exchange) retryAfter() time.Duration {
	wait := retryAfter(x.response, time.Now())
	if wait == 0 && x.serverError != nil {
		wait = x.serverError.retryAfter
	}
	return wait
}

// retryAfter reads how long the server wants no further request, from milliseconds, seconds or a date: an hour at most.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	if r == nil {
		return 0
	}
	d := retryafter.FromHeader(r.Header, now)
	if ms, err := strconv.ParseFloat(r.Header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		d = time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	}
	return min(d, time.Hour)
}
