package rehearsal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// field is one key of an object, with its value as written.
type field struct {
	key   string
	value json.RawMessage
}

// splitObject splits a JSON object into its fields, in order. It refuses what encoding/json lets pass, as
// jsonval.Decode does, but takes numbers of any size: they are only passed on.
func splitObject(data []byte) ([]field, error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	data = bytes.TrimSpace(data)
	if data[0] != '{' {
		return nil, errors.New("not an object")
	}
	if _, err := jsonval.DecodeWithBounds(data, jsonval.DecodeLimits{}); err != nil {
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

// solutionKeys are the keys of a solution, in the order in which an LLM in strict mode writes them.
var solutionKeys = []string{"calls", "finished", "output", "notes"}

// solution encodes a solution as an LLM in strict mode writes it: without white space, and with the calls first.
// Numbers, escapes and the order of keys inside stay as they are.
func solution(data []byte) (string, error) {
	fields, err := splitObject(data)
	if err != nil {
		return "", err
	}
	values := map[string]json.RawMessage{}
	for _, f := range fields {
		if !slices.Contains(solutionKeys, f.key) {
			return "", fmt.Errorf("key %q: unknown in a solution, which has calls, finished, output and notes", f.key)
		}
		values[f.key] = f.value
	}
	calls, hasCalls := values["calls"]
	_, hasOutput := values["output"]
	switch {
	case !hasCalls && !hasOutput:
		return "", errors.New("has neither calls nor output")
	case hasCalls && calls[0] != '[':
		return "", errors.New(`key "calls": must be a list`)
	}
	var members []string
	for _, key := range solutionKeys {
		if value, ok := values[key]; ok {
			members = append(members, fmt.Sprintf("%q:%s", key, value))
		}
	}
	var said bytes.Buffer
	err = json.Compact(&said, []byte("{"+strings.Join(members, ",")+"}"))
	return said.String(), err
}
