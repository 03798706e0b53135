package rehearsal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// field is one key of an object, with its value as written.
type field struct {
	key   string
	value json.RawMessage
}

// object splits a JSON object into its fields, in order. It refuses what encoding/json
// lets pass: keys that stand twice, at any depth, and text that is not UTF-8.
func object(data []byte) ([]field, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if data = bytes.TrimSpace(data); data[0] != '{' {
		return nil, errors.New("not an object")
	}
	if err := unique(data); err != nil {
		return nil, err
	}
	return split(data)
}

func split(data []byte) ([]field, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	var fields []field
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		f := field{key: key.(string)}
		if err := decoder.Decode(&f.value); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// level is an object or a list that the walk over the tokens stands in.
type level struct {
	keys    map[string]bool // nil in a list
	isValue bool            // the next token is a key's value
}

// unique refuses an object in which a key stands twice. It keeps its own stack, as the
// nesting is the writer's choice.
func unique(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // 1e10000000 is to be kept, not converted
	stack := []*level{{}}
	for len(stack) > 1 || decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		top := stack[len(stack)-1]
		if key, ok := token.(string); ok && top.keys != nil && !top.isValue {
			if top.keys[key] {
				return fmt.Errorf("key %q: stands twice", key)
			}
			top.keys[key], top.isValue = true, true
			continue
		}
		switch token {
		case json.Delim('{'):
			top.isValue = false
			stack = append(stack, &level{keys: map[string]bool{}})
		case json.Delim('['):
			top.isValue = false
			stack = append(stack, &level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		default:
			top.isValue = false
		}
	}
	return nil
}

// solution encodes a solution as an LLM in strict mode writes it: compactly and calls
// first. Numbers, escapes and the order of other keys stay as they are.
func solution(data []byte) (string, error) {
	fields, err := object(data)
	if err != nil {
		return "", err
	}
	values := map[string]json.RawMessage{}
	for _, f := range fields {
		if f.key != "calls" && f.key != "output" {
			return "", fmt.Errorf("key %q: unknown in a solution, which has calls and output", f.key)
		}
		values[f.key] = f.value
	}
	calls, hasCalls := values["calls"]
	output, hasOutput := values["output"]
	var said bytes.Buffer
	switch {
	case !hasCalls && !hasOutput:
		return "", errors.New("has neither calls nor output")
	case hasCalls && calls[0] != '[':
		return "", errors.New(`key "calls": must be a list`)
	case !hasCalls:
		err = json.Compact(&said, fmt.Appendf(nil, `{"output":%s}`, output))
	case !hasOutput:
		err = json.Compact(&said, fmt.Appendf(nil, `{"calls":%s}`, calls))
	default:
		err = json.Compact(&said, fmt.Appendf(nil, `{"calls":%s,"output":%s}`, calls, output))
	}
	return said.String(), err
}
