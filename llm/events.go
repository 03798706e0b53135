package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/valyala/fastjson"

	"processidea/model/jsonval"
)

// eventReader reads a server's response as the events of a stream, whatever its form: server-sent events, lines of
// JSON, or one JSON object. The openai library's own reader loses the first event after a byte order mark, and a last
// event without an empty line. It cannot read a response that is one object, takes `"error": null` for an error, and
// scans each event four times.
type eventReader struct {
	response    *http.Response
	lineScanner *bufio.Scanner
	isAfterCR   bool   // a line feed still belongs to the line before
	onLine      func() // called for every line, including comments
	isBareJSON  bool   // lines of JSON, not server-sent events
	isAtStart   bool   // only empty lines have come so far
	eventName   string // of the event that is being read
	data        []byte // of the event that is being read
	parser      fastjson.Parser
	parsedData  *fastjson.Value // data as JSON; nil if not parsed or no JSON
	eventValue  *fastjson.Value // the event that Next has read, valid until the next call; nil for [DONE]
	err         error
	// strayLines is the beginning of the lines that belong to no event, such as a web page in place of a stream, and of
	// events with an error message in place of a choice.
	strayLines []byte
}

func newEventReader(response *http.Response, onLine func()) *eventReader {
	e := &eventReader{response: response, onLine: onLine, lineScanner: bufio.NewScanner(response.Body), isAtStart: true}
	e.lineScanner.Buffer(nil, maxReplyBytes)
	e.lineScanner.Split(e.splitLine)
	return e
}

// splitLine is bufio.ScanLines for lines that end with a line feed, a carriage return, or both. It does not wait for
// what comes after a carriage return.
func (e *eventReader) splitLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if e.isAfterCR && len(data) > 0 && data[0] == '\n' {
		advance = 1
	}
	e.isAfterCR = e.isAfterCR && len(data) == 0
	line = data[advance:]
	lineEnd := bytes.IndexByte(line, '\n')
	if lineEnd < 0 {
		lineEnd = len(line)
	}
	if cr := bytes.IndexByte(line[:lineEnd], '\r'); cr >= 0 {
		lineEnd, e.isAfterCR = cr, true
	}
	switch {
	case lineEnd < len(line):
		return advance + lineEnd + 1, line[:lineEnd], nil
	case atEOF && len(line) > 0:
		return len(data), line, nil
	}
	return advance, nil, nil
}

// Err returns why the stream broke off; nil at its end.
func (e *eventReader) Err() error { return e.err }

// Close closes the connection.
func (e *eventReader) Close() error { return e.response.Body.Close() }

// Next reads the next event; false at the end of the stream.
func (e *eventReader) Next() bool {
	e.data = e.data[:0]
	for e.err == nil && e.lineScanner.Scan() {
		e.onLine()
		if e.processLine(e.lineScanner.Bytes()) {
			return true
		}
	}
	if e.err == nil {
		e.err = e.lineScanner.Err()
	}
	// A last event without an empty line after it counts if it is complete.
	return e.err == nil && e.tryParseEvent() && e.emitEvent()
}

// processLine processes a line and reports whether an event ends with it.
func (e *eventReader) processLine(line []byte) bool {
	if e.isAtStart {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		e.isBareJSON = bytes.HasPrefix(line, []byte("{")) || bytes.HasPrefix(line, []byte("[{"))
		e.isAtStart = len(line) == 0
	}
	if len(e.data)+len(line) > maxReplyBytes {
		e.err = fmt.Errorf("an event of more than %d MB", maxReplyBytes>>20)
		return false
	}
	if e.isBareJSON {
		e.data = append(append(e.data, line...), '\n')
		isEnd := bytes.HasSuffix(line, []byte("}")) || bytes.HasSuffix(line, []byte("]"))
		return isEnd && e.tryParseEvent() && e.emitEvent()
	}
	if len(line) == 0 {
		return len(e.data) > 0 && e.emitEvent()
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.eventName = string(value)
	case "error": // llama.cpp
		e.eventName, e.data = "error", bytes.Clone(value)
		return e.emitEvent()
	case "data":
		// Some servers send no empty line after an event. No part of an event is a whole JSON object by itself.
		e.data = append(append(e.data, value...), '\n')
		return e.tryParseEvent() && e.emitEvent()
	case "", "id", "retry": // a comment, or not used here
	default:
		e.keepStrayLine(line)
	}
	return false
}

func (e *eventReader) keepStrayLine(line []byte) {
	if len(e.strayLines) < maxErrorMessageChars {
		e.strayLines = append(append(e.strayLines, line[:min(len(line), maxErrorMessageChars)]...), '\n')
	}
}

// tryParseEvent reports whether the data read so far is a complete event.
func (e *eventReader) tryParseEvent() bool {
	if len(e.data) > minCheckedEventBytes {
		if e.err = jsonval.UntrustedNodeLimit.Check(e.data); e.err != nil {
			return false
		}
	}
	e.parsedData, _ = e.parser.ParseBytes(e.data)
	return e.parsedData != nil || isEndOfStream(e.data)
}

// minCheckedEventBytes is from which size on an event's parts are counted before it is parsed: parsed, a part takes a
// hundred bytes.
const minCheckedEventBytes = 1 << 20

// isEndOfStream reports whether an event is OpenAI's end of a stream.
func isEndOfStream(data []byte) bool { return bytes.HasPrefix(data, []byte("[DONE]")) }

// emitEvent makes an event of the data, in OpenAI's form, and reports whether there is an event and no error. An event
// without data, or a text under another event name, only keeps the connection open.
func (e *eventReader) emitEvent() bool {
	isOtherEvent := e.eventName != "" && e.eventName != "message" && e.eventName != "error"
	if len(bytes.TrimSpace(e.data)) == 0 || isOtherEvent && !e.tryParseEvent() {
		e.keepStrayLine(bytes.TrimSpace(e.data))
		e.eventName, e.data = "", e.data[:0]
		return false
	}
	data, needsNormalizing := e.data, e.isBareJSON || e.eventName == "error" || bytes.Contains(e.data, []byte(`"error`)) ||
		bytes.Contains(e.data, []byte(`"base_resp"`)) // MiniMax
	if needsNormalizing {
		data, e.err = e.normalizeEvent(data)
		e.parsedData = nil
	}
	if e.parsedData == nil && e.err == nil && !isEndOfStream(data) {
		if e.parsedData, e.err = e.parseJSON(data); e.err != nil {
			e.err = unreadableAnswerError{fmt.Errorf("an event is no JSON: %w: %s", e.err,
				jsonval.Clip(toOneLine(data), maxExcerptChars))}
		}
	}
	if needsNormalizing && e.err == nil && e.parsedData.Exists("error") {
		e.err = inStreamError{string(data)}
	}
	if e.err == nil && !e.isBareJSON && e.parsedData != nil && !e.parsedData.Exists("choices") &&
		hasErrorMessage(data) {
		e.keepStrayLine(bytes.TrimSpace(data))
	}
	e.eventValue, e.eventName, e.parsedData = e.parsedData, "", nil
	return e.err == nil
}

// hasErrorMessage reports whether data without an error key has an error message.
func hasErrorMessage(data []byte) bool {
	e := parseServerError(data)
	return e.message != "" && e.message != e.body
}

// parseJSON parses data that may be no JSON, with an error that is short enough to quote.
func (e *eventReader) parseJSON(data []byte) (*fastjson.Value, error) {
	v, err := e.parser.ParseBytes(data)
	if err == nil {
		return v, nil
	}
	if parseErr := json.Unmarshal(data, new(any)); parseErr != nil { // fastjson's errors quote all of the data
		err = parseErr
	}
	return nil, err
}

// inStreamError is an error that a server sent as an event of its stream.
type inStreamError struct{ event string }

func (e inStreamError) Error() string {
	return "received error while streaming: " + strings.TrimSpace(e.event)
}

// normalizeEvent converts the forms of some servers into OpenAI's: a whole completion into a chunk, and an error into
// an object under the key "error".
func (e *eventReader) normalizeEvent(data []byte) ([]byte, error) {
	encodeAsError := func(failure any) ([]byte, error) { return json.Marshal(jsonval.Object{"error": failure}) }
	var m map[string]json.RawMessage
	var list []map[string]json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 { // Google
		m = list[0]
	} else if err := json.Unmarshal(data, &m); err != nil {
		if e.eventName != "error" {
			return data, nil
		}
		return encodeAsError(strings.TrimSpace(string(data)))
	}
	switch failure, ok := m["error"]; {
	case ok && isEmptyError(failure):
		delete(m, "error")
	case ok && bytes.IndexByte([]byte(`{["`), failure[0]) < 0: // true: the members beside it describe the error
		return encodeAsError(json.RawMessage(data))
	case ok:
		return encodeAsError(failure)
	case findFailure(m) != nil:
		return encodeAsError(findFailure(m))
	case e.eventName == "error", string(m["object"]) == `"error"`: // vLLM
		return encodeAsError(json.RawMessage(data))
	}
	if !e.isBareJSON {
		return json.Marshal(m)
	}
	if m["choices"] == nil && !bytes.HasPrefix(m["message"], []byte("{")) && hasErrorMessage(data) { // SiliconFlow
		return encodeAsError(json.RawMessage(data))
	}
	if string(m["choices"]) == "null" {
		m["choices"] = json.RawMessage("[]")
	}
	choices, err := messagesToDeltas(m["choices"])
	if err != nil {
		return nil, unreadableAnswerError{errors.New("the answer is no completion: " + toOneLine(data))}
	}
	m["choices"] = choices
	return json.Marshal(m)
}

// unreadableAnswerError means that a server's answer does not follow the protocol.
type unreadableAnswerError struct{ error }

// isEmptyError reports whether an error is empty: some servers send null, "" and {"code": 0} with good answers.
func isEmptyError(failure json.RawMessage) bool {
	var v any
	if json.Unmarshal(failure, &v) != nil {
		return false
	}
	members, ok := v.(jsonval.Object)
	if !ok {
		members = jsonval.Object{"": v}
	}
	for _, member := range members {
		if member != nil && member != "" && member != false && member != 0.0 && member != "0" {
			return false
		}
	}
	return true
}

// findFailure returns the error beside choices, or in the first choice; nil if there is none.
func findFailure(m map[string]json.RawMessage) json.RawMessage {
	var minimaxResponse struct {
		Code    int    `json:"status_code"`
		Message string `json:"status_msg"`
	}
	if json.Unmarshal(m["base_resp"], &minimaxResponse) == nil && minimaxResponse.Code != 0 { // MiniMax
		failure, _ := json.Marshal(jsonval.Object{"code": minimaxResponse.Code, "message": minimaxResponse.Message})
		return failure
	}
	messageJSON := cmp.Or(string(m["error_message"]), string(m["error_msg"]), string(m["error_type"]), "null")
	if messageJSON != "null" {
		failure, _ := json.Marshal(map[string]json.RawMessage{
			"code": m["error_code"], "type": m["error_type"], "message": json.RawMessage(messageJSON)})
		return failure
	}
	var groqResponse struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(m["x_groq"], &groqResponse) == nil && groqResponse.Error != nil &&
		!isEmptyError(groqResponse.Error) {
		return groqResponse.Error
	}
	var choices []struct {
		Error        json.RawMessage `json:"error"`
		FinishReason string          `json:"finish_reason"`
	}
	if json.Unmarshal(m["choices"], &choices) != nil || len(choices) == 0 {
		return nil
	}
	switch first := choices[0]; {
	case len(first.Error) > 0 && string(first.Error) != "null":
		return first.Error
	case first.FinishReason == "error":
		return json.RawMessage(`"the server gave up on the reply and does not say why"`)
	}
	return nil
}

// messagesToDeltas turns the messages of a whole completion into the deltas of a chunk.
func messagesToDeltas(choices json.RawMessage) (json.RawMessage, error) {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(choices, &list); err != nil {
		return nil, err
	}
	for _, c := range list {
		if delta := string(c["delta"]); delta == "" || delta == "null" {
			c["delta"] = c["message"]
		}
		delete(c, "message")
	}
	return json.Marshal(list)
}
