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

// splitObject splits a JSON object into its members, with their values as written. Like jsonval.Decode it refuses some
// texts that encoding/json accepts, but it takes numbers of any size: they are only passed on.
func splitObject(data []byte) (map[string]json.RawMessage, error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if bytes.TrimSpace(data)[0] != '{' {
		return nil, errors.New("not an object")
	}
	if _, err := jsonval.DecodeWithLimits(data, jsonval.DecodeLimits{}); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(data, &members)
	return members, err
}

// solutionKeys are the keys of a solution, in the order in which an LLM in strict mode writes them.
var solutionKeys = []string{"calls", "finished", "output", "notes"}

// encodeSolution encodes a solution as an LLM in strict mode writes it: without white space, and with the calls first.
// Numbers, escapes and the order of keys inside stay as they are.
func encodeSolution(data json.RawMessage) (string, error) {
	values, err := splitObject(data)
	if err != nil {
		return "", err
	}
	for _, key := range jsonval.SortedKeys(values) {
		if !slices.Contains(solutionKeys, key) {
			return "", fmt.Errorf("key %q: unknown in a solution, which has calls, finished, output and notes", key)
		}
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
	var solution bytes.Buffer
	err = json.Compact(&solution, []byte("{"+strings.Join(members, ",")+"}"))
	return solution.String(), err
}
