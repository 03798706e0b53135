package secret

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"processidea/model/jsonval"
)

// MinLength is the least length in bytes of a value that is struck out: shorter ones are no secrets, and striking out
// every "1" would spoil results.
const MinLength = 4

// Redactor strikes out some secrets. Nil strikes nothing. It is safe for concurrent use.
type Redactor struct{ needles []needle }

// NewRedactor makes a Striker of names and values; `[secret NAME]` takes a value's place. Values shorter than MinLength
// are left alone.
func NewRedactor(secrets map[string]string) *Redactor {
	s := &Redactor{}
	for _, name := range jsonval.SortedKeys(secrets) {
		value := strings.TrimSpace(secrets[name]) // as servers take it out of a header
		for _, form := range append([]string{value}, basicAuthSecrets(value)...) {
			if len(form) >= MinLength {
				s.needles = append(s.needles, newNeedle(name, form))
			}
		}
	}
	if len(s.needles) == 0 {
		return nil
	}
	return s
}

// RedactText gives a text without the secrets.
func (s *Redactor) RedactText(text string) string {
	if s == nil {
		return text
	}
	var found []span
	for l := newLevel(text); l != nil; l = l.unescaped() {
		for _, n := range s.needles {
			found = append(found, n.findInLevel(l)...)
		}
	}
	return cutOut(text, found)
}

// RedactValue strikes the secrets out of every string, key and number of a JSON value; lists are changed in place.
func (s *Redactor) RedactValue(v any) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		return s.RedactText(v)
	case json.Number:
		if struck := s.RedactText(v.String()); struck != v.String() {
			return struck
		}
	case []any:
		for i, item := range v {
			v[i] = s.RedactValue(item)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[s.RedactText(name)] = s.RedactValue(item)
		}
		return out
	}
	return v
}

// basicAuthSecrets are the secrets in a value for basic authentication, user:password in base64: both, and the
// password.
func basicAuthSecrets(value string) []string {
	decoded, err := base64.StdEncoding.DecodeString(value)
	_, password, ok := strings.Cut(string(decoded), ":")
	if err != nil || !ok || strings.ContainsFunc(string(decoded), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil
	}
	return []string{string(decoded), password}
}

// span is a range of a text, with its replacement.
type span struct {
	from, to int
	mark     string
}

// cutOut puts marks in place of spans. Where spans overlap, the one that begins first counts, of those the longest, and
// what the others take beyond it goes too.
func cutOut(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.from >= at {
			out.WriteString(text[at:s.from])
			out.WriteString(s.mark)
		}
		at = max(at, s.to)
	}
	out.WriteString(text[at:])
	return out.String()
}
