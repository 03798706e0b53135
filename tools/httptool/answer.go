package httptool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"processidea/internal/retryafter"
	"processidea/model/jsonval"
	"processidea/tools/memory"
)

// response is a server's response, read to its end.
type response struct {
	status      int
	contentType string
	header      http.Header
	location    string // where what was made, or begun, is found
	body        []byte
}

func (c *Client) readResponse(resp *http.Response) (*response, error) {
	defer resp.Body.Close()
	if resp.ContentLength > c.maxAnswerBytes && resp.Request.Method != "HEAD" {
		return nil, finalErrorf("the answer is over %d bytes", c.maxAnswerBytes)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, min(memory.MaxUncountedBytes, c.maxAnswerBytes)+1))
	if err == nil && len(body) > memory.MaxUncountedBytes {
		body, err = readLargeBody(resp, body, c.maxAnswerBytes)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > c.maxAnswerBytes {
		return nil, finalErrorf("the answer is over %d bytes", c.maxAnswerBytes)
	}
	a := &response{
		status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"),
		header: resp.Header, body: body,
	}
	if locationURL, err := resp.Location(); err == nil && (a.status == http.StatusCreated ||
		a.status == http.StatusAccepted) {
		a.location = locationURL.String()
	}
	return a, nil
}

// readLargeBody reads the rest of a large answer, once the worker has memory for the largest allowed answer.
func readLargeBody(resp *http.Response, firstPart []byte, maxBodyBytes int64) ([]byte, error) {
	if err := memory.Reserve(resp.Request.Context(), int(maxBodyBytes)); err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1-int64(len(firstPart))))
	return append(firstPart, rest...), err
}

// maxErrorBodyBytes bounds the bodies, in bytes, that are searched for the pause that a server demands.
const maxErrorBodyBytes = 64 << 10

// statusError returns the Error of a status that is not a success; nil if the answer is a result.
func (a *response) statusError(acceptsAnyStatus bool, now time.Time) error {
	retryAfter := retryafter.FromHeader(a.header, now)
	if retryAfter == 0 && a.status >= 400 && len(a.body) <= maxErrorBodyBytes {
		errorBody, _ := a.parseJSON()
		retryAfter = retryafter.FromErrorBody(errorBody, now)
	}
	isThrottled := a.status == 429 || a.status == 403 && retryAfter > 0 // as GitHub does
	isRetryable := isThrottled || a.status == 408 || a.status >= 500
	if (a.status >= 200 && a.status < 300) || (acceptsAnyStatus && !isRetryable) {
		return nil
	}
	e := a.unusableError(nil)
	e.IsRetryable, e.isThrottled = isRetryable, isThrottled
	if isRetryable {
		e.RetryAfter = retryAfter
	}
	return e
}

// unusableError returns the final Error of an answer that cannot be a result.
func (a *response) unusableError(cause error) *Error {
	text, err := a.decodedBody()
	if c := a.compressionProblem(); c != "" {
		text = c
	} else if err != nil {
		text = strings.ToValidUTF8(string(a.body), "\uFFFD")
	}
	return &Error{Status: a.status, Body: strings.TrimSpace(text), Err: cause}
}

// parseValue returns the answer's JSON if it is declared as JSON, or is plain text that parses as JSON; or else its
// text. An empty answer is nil, or its location where that fits better. If the answer is not declared as JSON,
// firstFittingReading may choose the other reading: the text 12 where a text is wanted, or JSON that is declared as
// HTML.
func (a *response) parseValue(firstFittingReading func(readings ...any) any) (any, error) {
	mediaType, _, _ := mime.ParseMediaType(a.contentType)
	if len(bytes.TrimSpace(a.body)) == 0 {
		if a.location != "" {
			return firstFittingReading(nil, a.location, jsonval.Object{"location": a.location}), nil
		}
		if strings.HasPrefix(mediaType, "text/") {
			return firstFittingReading(nil, string(a.body)), nil
		}
		return nil, nil
	}
	if isJSONMediaType(mediaType) {
		v, err := a.parseJSON()
		if err != nil {
			return nil, a.unusableError(fmt.Errorf("the answer is not the JSON that it says it is: %w", err))
		}
		return v, nil
	}
	text, err := a.bodyText()
	if err != nil {
		return nil, err
	}
	readings := []any{text}
	if v, err := a.parseJSON(); err == nil {
		readings = []any{text, v}
		switch mediaType {
		case "", "text/plain", "application/octet-stream": // many servers send JSON under these types
			readings = []any{v, text}
		}
	}
	return firstFittingReading(readings...), nil
}

// parseJSON decodes the body as JSON: in UTF-8, whatever the server declares, or else in the declared character set.
func (a *response) parseJSON() (any, error) {
	v, err := decodeJSON(a.body)
	if err == nil {
		return v, nil
	}
	if text, decodeErr := a.decodedBody(); decodeErr == nil {
		if v, textErr := decodeJSON([]byte(text)); textErr == nil {
			return v, nil
		}
	}
	return nil, err
}

// answerDecodeLimits allow deeper values than the engine accepts from LLMs, because servers write them.
var answerDecodeLimits = jsonval.DecodeLimits{MaxDepth: 500, MaxNumberBytes: 400, IntegersFitFloat64: true,
	RefusesLoneSurrogates: true}

// decodeJSON is jsonval.DecodeWithLimits, but accepts a byte order mark.
func decodeJSON(raw []byte) (any, error) {
	return jsonval.DecodeWithLimits(bytes.TrimPrefix(raw, []byte("\uFEFF")), answerDecodeLimits)
}

func (a *response) bodyText() (string, error) {
	text, err := a.decodedBody()
	if err != nil {
		return "", &Error{Status: a.status, Err: err}
	}
	return text, nil
}

// xmlEncodingPattern finds the character set that an XML document declares.
var xmlEncodingPattern = regexp.MustCompile(`^<\?xml[^>]*\sencoding=["']([\w.-]+)["']`)

// decodedBody returns the body in UTF-8, without a byte order mark. It is converted from UTF-16 if it begins with its
// mark, or else from the character set that its type or, in XML, its first line declares.
func (a *response) decodedBody() (string, error) {
	if c := a.compressionProblem(); c != "" {
		return "", errors.New(c)
	}
	_, params, _ := mime.ParseMediaType(a.contentType)
	charset, err := htmlindex.Get(params["charset"])
	hasByteOrderMark := len(a.body) > 2 &&
		(bytes.HasPrefix(a.body, []byte("\xff\xfe")) || bytes.HasPrefix(a.body, []byte("\xfe\xff")))
	declaredCharsetMatch := xmlEncodingPattern.FindSubmatch(a.body)
	switch {
	case hasByteOrderMark:
		charset, err = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM), nil
	case strings.HasPrefix(strings.ToLower(params["charset"]), "utf-16") && isText(a.body):
		charset = unicode.UTF8 // it cannot be both
	case declaredCharsetMatch != nil && params["charset"] == "" && !isText(a.body):
		charset, err = htmlindex.Get(string(declaredCharsetMatch[1]))
	}
	if err == nil && charset != unicode.UTF8 {
		decoded, err := charset.NewDecoder().Bytes(a.body)
		if err == nil && isText(decoded) && !bytes.ContainsRune(decoded, utf8.RuneError) { // else it is in another set
			return string(bytes.TrimPrefix(decoded, []byte("\uFEFF"))), nil
		}
	}
	if !isText(a.body) {
		return "", fmt.Errorf("the answer is not text (%s)", a.contentType)
	}
	return string(bytes.TrimPrefix(a.body, []byte("\uFEFF"))), nil
}

func isText(body []byte) bool { return utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 }

// compressionProblem says that the body is compressed in a way that nobody has asked for; "" if it is not.
func (a *response) compressionProblem() string {
	encoding := a.header.Get("Content-Encoding")
	if encoding == "" || encoding == "identity" || isText(a.body) { // some servers write utf-8 there
		return ""
	}
	return fmt.Sprintf("the answer is compressed in a way that is not read (Content-Encoding: %s): have the server "+
		"send it as it is, or as gzip", excerpt(encoding))
}
