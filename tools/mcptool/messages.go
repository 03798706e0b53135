package mcptool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"processidea/internal/safego"
)

// unreadableAnswerCode is the code of the error that replaces an unreadable answer. No server sends it.
const unreadableAnswerCode = -32799

// messageIDPattern finds the id of a message, which servers write first or last.
var messageIDPattern = regexp.MustCompile(
	`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,|[}\]"]\s*,\s*"id"\s*:\s*(\d+)\s*\}\s*$`)

// isJSONRPCMessage reports whether a line is a message, readable or not. Programs also log objects and lists, and log
// the id of the request that they work at.
func isJSONRPCMessage(line []byte) bool {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return bytes.Contains(line, []byte(`"jsonrpc"`)) || messageIDPattern.Match(line) &&
			(bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"error"`)))
	}
	otherMembers := maps.Clone(members)
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		delete(otherMembers, name)
	}
	if members["jsonrpc"] != nil {
		return len(otherMembers) == 0 || members["method"] != nil || members["result"] != nil || members["error"] != nil
	}
	isObject := func(name string) bool { return bytes.HasPrefix(members[name], []byte("{")) }
	return len(otherMembers) == 0 && members["id"] != nil && (isObject("result") || isObject("error"))
}

// ensureReadable returns a message unchanged, or an error in place of an unreadable one: the SDK would end the
// connection, and with it all other calls. id is the id of the answered request; if nil, it is searched for in the
// message. A message without an id is returned unchanged.
func (c *conn) ensureReadable(message, id []byte) []byte {
	repairedMessage := message
	m, err := jsonrpc.DecodeMessage(message)
	if request, _ := m.(*jsonrpc.Request); err != nil || request != nil && request.Method == "" {
		repairedMessage = repairAnswer(message, id)
		m, err = jsonrpc.DecodeMessage(repairedMessage)
	}
	if err == nil && !utf8.Valid(message) {
		err = errors.New("its text is not UTF-8")
	}
	if err == nil {
		repairedMessage, err = withSentID(m, id, repairedMessage)
	}
	if err == nil {
		return repairedMessage
	}
	if match := messageIDPattern.FindSubmatch(message); id == nil && match != nil {
		id = bytes.Join(match[1:], nil)
	}
	if id == nil {
		return message
	}
	text := fmt.Sprintf("the server's answer cannot be read: %v: %s", err,
		c.excerpt(strings.ToValidUTF8(string(message), "\ufffd")))
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id),
		"error": map[string]any{"code": unreadableAnswerCode, "message": text}})
	if err != nil {
		return message
	}
	return answer
}

// splitMessages splits a text into its messages: in protocols before 2025-06-18 a server may answer with a list of
// them.
func splitMessages(text []byte) (list []json.RawMessage) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))
	if !bytes.HasPrefix(text, []byte("[")) || json.Unmarshal(text, &list) != nil || len(list) == 0 {
		return []json.RawMessage{text}
	}
	return list
}

// isResponse reports whether a message is neither a request nor a notification.
func isResponse(message json.RawMessage) bool {
	var fields struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(message, &fields) == nil && fields.Method == ""
}

var byteOrderMark = []byte("\uFEFF")

// isErrorWithoutID reports whether a message is an error that names no request.
func isErrorWithoutID(message []byte) bool {
	var fields struct {
		ID     any    `json:"id"`
		Method string `json:"method"`
		Error  any    `json:"error"`
	}
	return json.Unmarshal(message, &fields) == nil && fields.ID == nil && fields.Method == "" && fields.Error != nil
}

// repairAnswer repairs an answer: it adds the version that some servers omit, and removes the null method that some
// add. An error gets the id that was sent, because servers that refuse a request before reading its id write null.
func repairAnswer(message, id []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil || fields["result"] == nil && fields["error"] == nil {
		return message
	}
	fields["jsonrpc"] = json.RawMessage(`"2.0"`)
	delete(fields, "method")
	delete(fields, "params")
	if id != nil && fields["result"] == nil {
		fields["id"] = id
	}
	encoded, err := json.Marshal(fields)
	if err != nil {
		return message
	}
	return encoded
}

// withSentID returns a message whose id is the number that was sent: some servers answer with the id in quotes, and
// errors may name another request. The SDK would wait in vain for the number. A result for another request is an error.
func withSentID(m jsonrpc.Message, sentID, text []byte) ([]byte, error) {
	response, _ := m.(*jsonrpc.Response)
	if response == nil {
		return text, nil
	}
	_, isNumber := response.ID.Raw().(int64)
	answeredID, err := strconv.ParseFloat(fmt.Sprint(response.ID.Raw()), 64)
	hasNumber := err == nil
	sentIDNumber, err := strconv.ParseFloat(string(sentID), 64)
	switch isSentNumber := err == nil; {
	case isSentNumber && (!hasNumber || answeredID != sentIDNumber):
		if response.Error == nil {
			return text, errors.New("it answers another request")
		}
		answeredID = sentIDNumber
	case !hasNumber, isNumber:
		return text, nil
	}
	var encoded []byte
	if response.ID, err = jsonrpc.MakeID(answeredID); err == nil {
		encoded, err = jsonrpc.EncodeMessage(response)
	}
	if err == nil {
		text = encoded
	}
	return text, nil // unchanged if it cannot be encoded
}

// chunkReader is a reader of what nextChunk returns, piece by piece.
type chunkReader struct {
	io.Closer
	nextChunk      func() ([]byte, error)
	remainingBytes []byte
	err            error
}

// Read is called on a goroutine of the SDK.
func (p *chunkReader) Read(into []byte) (n int, err error) {
	for len(p.remainingBytes) == 0 && p.err == nil {
		if panicErr := safego.Run("mcp.read", func() error {
			p.remainingBytes,
				p.err = p.nextChunk()
			return nil
		}); panicErr != nil {
			p.err = panicErr
		}
	}
	if n = copy(into, p.remainingBytes); n > 0 {
		p.remainingBytes = p.remainingBytes[n:]
		return n, nil
	}
	return 0, p.err
}

// wrapAnswerBody makes the SDK read the answer to a request message by message, through readable.
func (c *conn) wrapAnswerBody(answer *http.Response, id []byte) {
	in := bufio.NewReader(answer.Body)
	p := &chunkReader{Closer: answer.Body}
	switch mediaType, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); mediaType {
	case "application/json":
		p.nextChunk = func() ([]byte, error) {
			body, err := io.ReadAll(in)
			if err != nil {
				return nil, err
			}
			return c.findReadableAnswer(body, id), io.EOF
		}
	case "text/event-stream":
		p.nextChunk = (&eventStream{conn: c, reader: in, requestID: id}).readEvent
	case "", "text/plain", "text/json", "application/octet-stream", "application/x-ndjson": // which the SDK refuses
		p.remainingBytes, p.err = io.ReadAll(in)
		if p.err == nil {
			p.err = io.EOF
			if isJSONRPCMessage(splitMessages(p.remainingBytes)[0]) {
				p.remainingBytes = c.findReadableAnswer(p.remainingBytes, id)
				answer.Header.Set("Content-Type", "application/json")
			}
		}
	default:
		return
	}
	answer.Body = p
}

// findReadableAnswer returns the answer to a request from a text that may hold other messages too.
func (c *conn) findReadableAnswer(text, id []byte) []byte {
	messages := splitMessages(text)
	return c.ensureReadable(messages[max(0, slices.IndexFunc(messages, isResponse))], id)
}

// eventStream reads the messages of a server that answers a request with a stream of events.
type eventStream struct {
	conn      *conn
	reader    *bufio.Reader
	requestID []byte // of the request
	isAfterCR bool   // a line feed still belongs to the line before
}

// readEvent reads an event, up to the empty line after it. An event without a message is left out: some servers send a
// text to keep the connection open, or [DONE].
func (s *eventStream) readEvent() ([]byte, error) {
	var event, data []byte
	for {
		line, err := s.readLine()
		if dataLine, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, dataLine...), '\n')
		} else if len(line) > 0 {
			event = append(append(event, line...), '\n')
		}
		if len(line) > 0 && err == nil {
			continue
		}
		for _, message := range splitMessages(data) {
			if !isJSONRPCMessage(message) {
				continue
			}
			var id []byte // other messages may come before the answer
			if isErrorWithoutID(message) {
				id = s.requestID
			}
			message = bytes.ReplaceAll(s.conn.ensureReadable(message, id), []byte("\n"), []byte(" "))
			event = fmt.Appendf(event, "data: %s\n\n", message)
		}
		return append(event, '\n'), err
	}
}

// readLine reads a line, which ends with a line feed, a carriage return, or both.
func (s *eventStream) readLine() (line []byte, err error) {
	for {
		b, err := s.reader.ReadByte()
		switch {
		case err != nil:
			return line, err
		case b == '\n' && s.isAfterCR && len(line) == 0:
			s.isAfterCR = false
			continue
		case b == '\n', b == '\r':
			s.isAfterCR = b == '\r'
			return line, nil
		}
		s.isAfterCR = false
		line = append(line, b)
	}
}
