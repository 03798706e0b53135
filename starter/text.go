package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode"

	"processidea/model/jsonval"
)

// printable takes out what would not print as itself: a value from outside must not steer the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return harmless(r)
	}, s)
}

// harmless is a character that leaves the terminal as it is: control characters and those that turn the direction of
// writing become dots.
func harmless(r rune) rune {
	turns := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	if r != '\n' && unicode.IsControl(r) || turns {
		return '·'
	}
	return r
}

// clip shortens a text to so many characters.
func clip(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:max(most-1, 0)]) + "…"
}

// compact shows a value on one line: a text as it is, anything else as JSON.
func compact(v any, most int) string {
	s, ok := v.(string)
	if !ok {
		s = string(jsonval.Encode(v))
	}
	return clip(printable(s), most)
}

// indent shows a value as JSON on several lines, with numbers as they were written.
func indent(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, jsonval.Encode(v), "", "  "); err != nil {
		return string(jsonval.Encode(v))
	}
	return strings.Map(harmless, b.String())
}

// writeJSON writes a value as one line of JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
