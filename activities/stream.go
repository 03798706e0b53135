package activities

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"processidea/model/jsonval"
)

// Bounds of one reply. They end a reply that would not end by itself.
const (
	maxReplyBytes = 32 << 20
	maxReplyCalls = 5000
	maxBlank      = 4_000 // white space in a row, as LLMs that are forced into a form sometimes give without end
)

// solution is a reply as it is read.
type solution struct {
	calls  []json.RawMessage
	output json.RawMessage
}

// readSolution reads {"calls": […], "output": …} from a stream and hands each Call on at the byte that closes it. It
// returns at the byte that closes the whole.
func readSolution(r io.Reader, onCall func(index int, raw json.RawMessage)) (*solution, error) {
	s := &solution{}
	d := json.NewDecoder(r)
	if err := want(d, json.Delim('{')); err != nil {
		return s, err
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return s, cut(err)
		}
		key, _ := t.(string)
		if seen[key] {
			return s, fmt.Errorf("the key %q stands twice", key)
		}
		seen[key] = true
		if err := s.member(d, key, onCall); err != nil {
			return s, err
		}
	}
	if err := want(d, json.Delim('}')); err != nil {
		return s, err
	}
	if !seen["calls"] {
		return s, errors.New(`"calls" is missing`)
	}
	return s, nil
}

func (s *solution) member(d *json.Decoder, key string, onCall func(int, json.RawMessage)) error {
	switch key {
	case "calls":
		return s.readCalls(d, onCall)
	case "output":
		return cut(d.Decode(&s.output))
	}
	return fmt.Errorf("unknown key %.40q", key)
}

func (s *solution) readCalls(d *json.Decoder, onCall func(int, json.RawMessage)) error {
	if err := want(d, json.Delim('[')); err != nil {
		return fmt.Errorf(`"calls": %w`, err)
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return cut(err)
		}
		if len(s.calls) >= maxReplyCalls {
			return errEndless{fmt.Sprintf("more than %d calls", maxReplyCalls)}
		}
		s.calls = append(s.calls, raw)
		onCall(len(s.calls), raw)
	}
	return want(d, json.Delim(']'))
}

func want(d *json.Decoder, delim json.Delim) error {
	t, err := d.Token()
	if err != nil {
		return cut(err)
	}
	if t != delim {
		return fmt.Errorf("want %q, got %.40v", delim.String(), t)
	}
	return nil
}

// errCut says that the text ended inside the reply.
var errCut = errors.New("the reply ends before its end")

// errEndless says that a reply went over a bound.
type errEndless struct{ why string }

func (e errEndless) Error() string { return "the reply does not end: " + e.why }

// cut tells truncation, which encoding/json reports as a plain io.EOF, from bad JSON.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

// decodeCall reads one Call strictly. Every broken one is a form error, not the end of the reply.
func decodeCall(raw json.RawMessage) (any, error) { return jsonval.Decode(raw) }
