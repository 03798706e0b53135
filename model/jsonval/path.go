package jsonval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Path is a place inside a JSON value, outermost step first. A step is an index if it meets an array, and a key
// otherwise. The empty Path is the whole value.
type Path []string

const maxPathSteps = 64

// ParsePath reads a path written as a.b, a[0].b, a.0.b or a["any key"].
func ParsePath(s string) (Path, error) {
	p := Path{}
	for rest := s; rest != ""; {
		step, remaining, err := parseStep(rest, len(p) == 0)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", ClipForError(s), err)
		}
		p, rest = append(p, step), remaining
	}
	if len(p) > maxPathSteps {
		return nil, fmt.Errorf("path %q: more than %d steps", ClipForError(s), maxPathSteps)
	}
	return p, nil
}

func parseStep(s string, isFirst bool) (step, rest string, err error) {
	if s[0] == '[' {
		return parseBracketStep(s)
	}
	if !isFirst {
		if s[0] != '.' {
			return "", "", fmt.Errorf("want . or [ before %q", Clip(s, 20))
		}
		s = s[1:]
	}
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	step = s[:end]
	if step == "" || strings.TrimSpace(step) != step || strings.ContainsAny(step, "]\"†") {
		return "", "", fmt.Errorf("bad step %q", Clip(step, 20))
	}
	return step, s[end:], nil
}

func parseBracketStep(s string) (step, rest string, err error) {
	if strings.HasPrefix(s, `["`) {
		quoted, err := strconv.QuotedPrefix(s[1:])
		if err != nil || !strings.HasPrefix(s[1+len(quoted):], "]") {
			return "", "", fmt.Errorf("unclosed [")
		}
		step, err = strconv.Unquote(quoted)
		return step, s[len(quoted)+2:], err
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return "", "", fmt.Errorf("unclosed [")
	}
	if _, err := strconv.ParseUint(s[1:end], 10, 31); err != nil {
		return "", "", fmt.Errorf("want an index in [%s]", Clip(s[1:end], 20))
	}
	return s[1:end], s[end+1:], nil
}

// String writes the path in the form that ParsePath reads.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case !keyNeedsNoQuotes(step) || strings.Contains(step, "†") || strings.Contains(step, "||") ||
			strings.Contains(step, "&&"):
			b.WriteString("[" + strconv.Quote(step) + "]")
		case i > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

// MarshalJSON writes the path as the string that ParsePath reads.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal(p.String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Path) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	path, err := ParsePath(s)
	*p = path
	return err
}

// WithStep returns the path with one more step. The path itself stays as it is.
func (p Path) WithStep(step string) Path { return append(slices.Clip(p), step) }

// IsAtOrBelow reports whether p is q or below it.
func (p Path) IsAtOrBelow(q Path) bool {
	return len(p) >= len(q) && slices.Equal(p[:len(q)], q)
}

// Overlaps reports whether a write at one of the two paths can be seen at the other.
func (p Path) Overlaps(q Path) bool { return p.IsAtOrBelow(q) || q.IsAtOrBelow(p) }

// JSONPathWithKey gives the JSON path of a key below path: $.a.b, or $["a b"] if the key is no plain name.
func JSONPathWithKey(path, key string) string {
	if keyNeedsNoQuotes(key) {
		return path + "." + key
	}
	return path + "[" + string(encodeString(nil, key)) + "]"
}

// JSONPathWithKeys appends steps to the JSON path root: $.a["b c"].
func JSONPathWithKeys(root string, steps ...string) string {
	for _, s := range steps {
		root = JSONPathWithKey(root, s)
	}
	return root
}

// keyNeedsNoQuotes reports whether a key can be written without brackets and quotes.
func keyNeedsNoQuotes(s string) bool {
	return s != "" && !strings.ContainsAny(s, ".[]\"'\\") && strings.IndexFunc(s, unicode.IsSpace) < 0
}

// NearestAncestorValue returns the value at the longest proper prefix of a path that has one.
func NearestAncestorValue(v any, p Path) any {
	for n := len(p) - 1; n > 0; n-- {
		if ancestor, ok := ValueAt(v, p[:n]); ok {
			return ancestor
		}
	}
	return v
}

// CanSetAt reports whether a value can be set at a path: the value above it is an object.
func CanSetAt(v any, p Path) bool {
	_, isObject := NearestAncestorValue(v, p).(Object)
	return isObject
}
