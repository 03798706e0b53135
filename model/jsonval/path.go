package jsonval

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// MarshalJSON writes a path in the form that ParsePath reads.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal(p.String()) }

// UnmarshalJSON reads the form that MarshalJSON writes.
func (p *Path) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	path, err := ParsePath(s)
	*p = path
	return err
}

// Path is a place inside a JSON value, outermost step first. A step is a key, or an index where it meets an array.
// The empty Path is the whole value.
type Path []string

const maxPathSteps = 64

// ParsePath reads a.b, a[0].b, a.0.b and a["any key"].
func ParsePath(s string) (Path, error) {
	p := Path{}
	for rest := s; rest != ""; {
		step, after, err := nextStep(rest, len(p) == 0)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", Clip(s, 80), err)
		}
		p, rest = append(p, step), after
	}
	if len(p) > maxPathSteps {
		return nil, fmt.Errorf("path %q: more than %d steps", Clip(s, 80), maxPathSteps)
	}
	return p, nil
}

func nextStep(s string, first bool) (step, rest string, err error) {
	if s[0] == '[' {
		return bracketStep(s)
	}
	if !first {
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

func bracketStep(s string) (step, rest string, err error) {
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

// String gives the form that ParsePath reads.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case !isName(step) || strings.Contains(step, "†") || strings.Contains(step, "||") || strings.Contains(step, "&&"):
			b.WriteString("[" + strconv.Quote(step) + "]")
		case i > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

// Within says whether p is q or lies below it.
func (p Path) Within(q Path) bool {
	if len(p) < len(q) {
		return false
	}
	for i, step := range q {
		if p[i] != step {
			return false
		}
	}
	return true
}

// Overlaps says whether a write at one of the two can be seen at the other.
func (p Path) Overlaps(q Path) bool { return p.Within(q) || q.Within(p) }

// Lookup finds the value at a path; there is one even where it is null.
func Lookup(v any, p Path) (any, bool) {
	for _, step := range p {
		next, ok := StepInto(v, step)
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

func StepInto(v any, step string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[step]
		return next, ok
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != step {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// Put gives a copy of v in which the value at p is x; objects are made on the way. Only the objects along the path are
// copied. ok is false where something other than an object is in the way.
func Put(v any, p Path, x any) (out any, ok bool) {
	if len(p) == 0 {
		return x, true
	}
	m, isObject := v.(map[string]any)
	if !isObject && v != nil {
		return nil, false
	}
	below, ok := Put(m[p[0]], p[1:], x)
	if !ok {
		return nil, false
	}
	out2 := make(map[string]any, len(m)+1)
	//workflowcheck:ignore -- a map again
	for k, e := range m {
		out2[k] = e
	}
	out2[p[0]] = below
	return out2, true
}

// Remove gives a copy of a value without what stands at a path in its objects; ok is false where nothing does.
func Remove(v any, p Path) (out any, ok bool) {
	m, isObject := v.(map[string]any)
	if !isObject || len(p) == 0 {
		return v, false
	}
	below, ok := m[p[0]]
	if !ok || len(p) == 1 {
		return WithoutKey(m, p[0]), ok
	}
	if below, ok = Remove(below, p[1:]); !ok {
		return v, false
	}
	return Put(v, p[:1], below)
}

// Clip shortens a text to n runes, for messages.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
