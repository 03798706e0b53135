package activities

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/valyala/fastjson"
)

// events reads a server's answer as the events of a stream, in whatever way it was sent: the openai client's own reader
// loses the first event behind a byte order mark and the last without an empty line, reads nothing of an answer that
// comes all at once, takes `"error": null` for an error, and reads each event four times over.
type events struct {
	answer *http.Response
	lines  *bufio.Scanner
	alive  func() // told of every line, comments among them
	bare   bool   // lines of JSON, without the form of events
	first  bool   // nothing but empty lines has come
	name   string // of the event that is being read
	data   []byte
	parser fastjson.Parser
	read   *fastjson.Value // what data is as JSON; nil: not known
	event  *fastjson.Value
	err    error
}

func newEvents(answer *http.Response, alive func()) *events {
	e := &events{answer: answer, alive: alive, lines: bufio.NewScanner(answer.Body), first: true}
	e.lines.Buffer(nil, maxReplyBytes)
	return e
}

// Event gives the event that Next has read, until the next one is; nil for the one that says that the stream is over.
func (e *events) Event() *fastjson.Value { return e.event }

// Err says why the stream broke off; nil at its end.
func (e *events) Err() error { return e.err }

// Close hangs up.
func (e *events) Close() error { return e.answer.Body.Close() }

// Next reads to the end of the next event; false at the end of the stream.
func (e *events) Next() bool {
	e.data = e.data[:0]
	for e.err == nil && e.lines.Scan() {
		e.alive()
		if e.line(e.lines.Bytes()) {
			return true
		}
	}
	if e.err == nil {
		e.err = e.lines.Err()
	}
	// An event without an empty line behind it counts where it is whole.
	return e.err == nil && e.whole() && e.give()
}

// line takes a line and says whether an event has ended with it.
func (e *events) line(line []byte) bool {
	if e.first {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		e.bare = bytes.HasPrefix(line, []byte("{"))
		e.first = len(line) == 0
	}
	if len(e.data)+len(line) > maxReplyBytes {
		e.err = fmt.Errorf("an event of more than %d MB", maxReplyBytes>>20)
		return false
	}
	if e.bare {
		e.data = append(append(e.data, line...), '\n')
		return bytes.HasSuffix(line, []byte("}")) && e.whole() && e.give()
	}
	if len(line) == 0 {
		return len(e.data) > 0 && e.give()
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "error": // llama.cpp
		e.name, e.data = "error", bytes.Clone(value)
		return e.give()
	case "data":
		// Some servers put no empty line behind an event. No part of one is whole JSON by itself.
		e.data = append(append(e.data, value...), '\n')
		return e.whole() && e.give()
	}
	return false
}

// whole says whether what was read is an event.
func (e *events) whole() bool {
	e.read, _ = e.parser.ParseBytes(e.data)
	return e.read != nil || over(e.data)
}

// over says whether an event is OpenAI's word for the end of the stream.
func over(data []byte) bool { return bytes.HasPrefix(data, []byte("[DONE]")) }

// give makes an event of what was read, in the form in which OpenAI says it.
func (e *events) give() bool {
	data, odd := e.data, e.bare || e.name == "error" || bytes.Contains(e.data, []byte(`"error"`))
	if odd {
		data, e.err = e.ordinary(data)
		e.read = nil
	}
	if e.read == nil && e.err == nil && !over(data) {
		e.read, e.err = e.parse(data)
	}
	if odd && e.err == nil && e.read.Exists("error") {
		e.err = errSaid{string(data)}
	}
	e.event, e.name, e.read = e.read, "", nil
	return e.err == nil
}

// parse reads an event that may be none, and says why.
func (e *events) parse(data []byte) (*fastjson.Value, error) {
	v, err := e.parser.ParseBytes(data)
	if err == nil {
		return v, nil
	}
	if why := json.Unmarshal(data, new(any)); why != nil { // the same in fewer words
		err = why
	}
	return nil, err
}

// errSaid is an error that a server put into its stream.
type errSaid struct{ event string }

func (e errSaid) Error() string {
	return "received error while streaming: " + strings.TrimSpace(e.event)
}

// ordinary turns what some servers send into what OpenAI's own does: a whole completion into a chunk, an error into an
// object under the key "error".
func (e *events) ordinary(data []byte) ([]byte, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		if e.name != "error" {
			return data, nil
		}
		return json.Marshal(map[string]string{"error": strings.TrimSpace(string(data))})
	}
	switch said, ok := m["error"]; {
	case ok && string(said) == "null":
		delete(m, "error")
	case ok:
		return data, nil
	case e.name == "error", string(m["object"]) == `"error"`: // vLLM
		return json.Marshal(map[string]json.RawMessage{"error": data})
	}
	if !e.bare {
		return json.Marshal(m)
	}
	choices, err := deltas(m["choices"])
	if err != nil {
		return nil, fmt.Errorf("the answer is no completion: %s", clip(string(data)))
	}
	m["choices"] = choices
	return json.Marshal(m)
}

// deltas turns the messages of a whole completion into the deltas of a chunk.
func deltas(choices json.RawMessage) (json.RawMessage, error) {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(choices, &list); err != nil {
		return nil, err
	}
	for _, c := range list {
		if _, ok := c["delta"]; !ok {
			c["delta"] = c["message"]
		}
		delete(c, "message")
	}
	return json.Marshal(list)
}
