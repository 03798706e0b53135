package rehearsal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"processidea/model/jsonval"
)

// maxReportedMistakes is the maximum number of mistakes listed for a file. The rest are only counted.
const maxReportedMistakes = 100

// Parse reads a replies file: JSON Lines, one reply a line, blank lines ignored.
// Its error joins everything that is wrong, each with its line and its key.
func Parse(data []byte) ([]Reply, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors put a byte order mark first
	var replies []Reply
	var mistakes []error
	omittedCount := 0
	lineIndex := -1
	for line := range bytes.Lines(data) {
		lineIndex++
		line = bytes.Trim(line, " \t\r\n")
		if len(line) == 0 {
			continue
		}
		reply, errs := parseLine(line)
		for _, err := range errs {
			if len(mistakes) == maxReportedMistakes {
				omittedCount++
				continue
			}
			mistakes = append(mistakes, fmt.Errorf("rehearsal: parse line %d: %w", lineIndex+1, err))
		}
		if len(mistakes) == 0 {
			replies = append(replies, reply)
		}
	}
	if omittedCount > 0 {
		mistakes = append(mistakes, fmt.Errorf("rehearsal: parse and %d more mistakes", omittedCount))
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	return replies, nil
}

// CountReplies returns the number of replies in a replies file, and the same errors as Parse.
func CountReplies(data []byte) (replyCount int, err error) {
	list, err := Parse(data)
	return len(list), err
}

// fieldReaders returns a function for each key that a line may have, which sets the reply's field.
func (r *Reply) fieldReaders() map[string]func(json.RawMessage) error {
	return map[string]func(json.RawMessage) error{
		"solution":      readInto(&r.Content, encodeSolution),
		"raw":           readInto(&r.Content, readText),
		"when":          readInto(&r.PromptSubstring, readNonEmptyText),
		"refusal":       readInto(&r.Refusal, readNonEmptyText),
		"finish_reason": readInto(&r.FinishReason, readNonEmptyText),
		"ttft_ms":       readInto(&r.TTFT, readDuration(time.Millisecond)),
		"tps":           readInto(&r.TPS, readNumber),
		"retry_after":   readInto(&r.RetryAfter, readDuration(time.Second)),
		"status":        readInto(&r.ErrorStatus, readErrorStatus),
		"cut": func(v json.RawMessage) error {
			r.CutAfterChars = new(int)
			return readInto(r.CutAfterChars, readWholeNumber)(v)
		},
	}
}

// readInto returns a function that reads a value into a field.
func readInto[T any](field *T, read func(json.RawMessage) (T, error)) func(json.RawMessage) error {
	return func(v json.RawMessage) (err error) {
		*field, err = read(v)
		return err
	}
}

func parseLine(line []byte) (Reply, []error) {
	reply := Reply{FinishReason: "stop"}
	values, err := splitObject(line)
	if err != nil {
		return reply, []error{err}
	}
	var mistakes []error
	presentKeys, readers := map[string]bool{}, reply.fieldReaders()
	for _, key := range jsonval.SortedKeys(values) {
		readField, isKnown := readers[key]
		if !isKnown {
			mistakes = append(mistakes, fmt.Errorf("key %q: unknown", key))
			continue
		}
		if string(values[key]) == "null" { // null means absent, as everywhere in a process
			continue
		}
		presentKeys[key] = true
		if err := readField(values[key]); err != nil {
			mistakes = append(mistakes, fmt.Errorf("key %q: %w", key, err))
		}
	}
	return reply, append(mistakes, conflictingKeyErrors(presentKeys)...)
}

// conflictingKeyErrors finds keys that exclude each other. Ignoring one of them would play something else than the line
// says.
func conflictingKeyErrors(presentKeys map[string]bool) []error {
	var errs []error
	if presentKeys["solution"] && presentKeys["raw"] {
		errs = append(errs, errors.New(`key "raw": not beside "solution"`))
	}
	if !presentKeys["solution"] && !presentKeys["raw"] && !presentKeys["status"] && !presentKeys["refusal"] {
		errs = append(errs, errors.New(`key "solution" or "raw": one of them is needed`))
	}
	if presentKeys["retry_after"] && !presentKeys["status"] {
		errs = append(errs, errors.New(`key "retry_after": only beside "status"`))
	}
	for _, key := range []string{"solution", "refusal", "finish_reason", "tps", "cut"} {
		if presentKeys[key] && presentKeys["status"] {
			errs = append(errs, fmt.Errorf(`key %q: not beside "status"`, key))
		}
	}
	return errs
}
