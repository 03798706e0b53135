package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of one reply. They end an endless reply.
const (
	maxReplyBytes    = 32 << 20
	maxReplyCalls    = 5000
	maxBlankRunChars = 4_000 // white space in a row, which LLMs that are forced into a form sometimes write endlessly
)

// solution is a reply as read.
type solution struct {
	callCount    int
	output       json.RawMessage
	isFinished   *bool // nil: absent
	notes        string
	bufferedRest io.Reader // the part of the text after the solution that is already read
}

// readSolution reads {"calls": […], "finished": …, "output": …, "notes": …} from a stream and passes each Call to
// onCall at the byte that closes it. It returns at the byte that closes the object.
func readSolution(r io.Reader, onCall func(index int, raw json.RawMessage)) (*solution, error) {
	s := &solution{}
	d := json.NewDecoder(r)
	if err := expectDelim(d, json.Delim('{')); err != nil {
		return s, err
	}
	seenKeys := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return s, truncationError(err)
		}
		key, _ := t.(string)
		if seenKeys[key] {
			return s, fmt.Errorf("the key %q stands twice", key)
		}
		seenKeys[key] = true
		if err := s.readMember(d, key, onCall); err != nil {
			return s, err
		}
	}
	if err := expectDelim(d, json.Delim('}')); err != nil {
		return s, err
	}
	if !seenKeys["calls"] {
		return s, errors.New(`"calls" is missing`)
	}
	s.bufferedRest = d.Buffered()
	return s, nil
}

// trailingText returns the text after the solution: the part already read, and the rest in a buffer.
func (s *solution) trailingText(buffered *bytes.Buffer) []byte {
	if s.bufferedRest == nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(io.MultiReader(s.bufferedRest, buffered), maxTrailingTextBytes))
	return text
}

func (s *solution) readMember(d *json.Decoder, key string, onCall func(int, json.RawMessage)) error {
	switch key {
	case "calls":
		return s.readCalls(d, onCall)
	case "output":
		return truncationError(d.Decode(&s.output))
	case "finished":
		if err := truncationError(d.Decode(&s.isFinished)); err != nil {
			return fmt.Errorf(`"finished": %w`, err)
		}
		return nil
	case "notes":
		if err := truncationError(d.Decode(&s.notes)); err != nil {
			return fmt.Errorf(`"notes": %w`, err)
		}
		return nil
	}
	return fmt.Errorf("unknown key %.40q", key)
}

func (s *solution) readCalls(d *json.Decoder, onCall func(int, json.RawMessage)) error {
	if err := expectDelim(d, json.Delim('[')); err != nil {
		return fmt.Errorf(`"calls": %w`, err)
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return truncationError(err)
		}
		if s.callCount >= maxReplyCalls {
			return unboundedReplyError{fmt.Sprintf("more than %d calls", maxReplyCalls)}
		}
		s.callCount++
		onCall(s.callCount, raw)
	}
	return expectDelim(d, json.Delim(']'))
}

func expectDelim(d *json.Decoder, delim json.Delim) error {
	t, err := d.Token()
	if err != nil {
		return truncationError(err)
	}
	if t != delim {
		return fmt.Errorf("want %q, got %.40v", delim.String(), t)
	}
	return nil
}

// errTruncated means that the text ended inside the solution.
var errTruncated = errors.New("the reply ends before its end")

// unboundedReplyError means that a reply exceeded a bound.
type unboundedReplyError struct{ reason string }

func (e unboundedReplyError) Error() string { return "the reply does not end: " + e.reason }

// truncationError converts io.EOF and io.ErrUnexpectedEOF into errTruncated, and leaves other errors unchanged.
func truncationError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}
