package secret

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"processidea/model/jsonval"
)

// MinSecretBytes is the minimum length, in bytes, of a value that is redacted. Shorter values are not secrets, and
// redacting every "1" would spoil results.
const MinSecretBytes = 4

// Redactor removes some secrets from texts and values. A nil Redactor removes nothing. It is safe for concurrent use.
type Redactor struct{ searchedSecrets []searchedSecret }

// NewRedactor makes a Redactor from names and values; `[secret NAME]` replaces a value. It ignores values shorter than
// MinSecretBytes, and returns nil if no value is left.
func NewRedactor(secrets map[string]string) *Redactor {
	s := &Redactor{}
	for _, name := range jsonval.SortedKeys(secrets) {
		value := strings.TrimSpace(secrets[name]) // as servers trim it in a header
		for _, form := range append([]string{value}, basicAuthSecrets(value)...) {
			if len(form) >= MinSecretBytes {
				s.searchedSecrets = append(s.searchedSecrets, newSearchedSecret(name, form))
			}
		}
	}
	if len(s.searchedSecrets) == 0 {
		return nil
	}
	return s
}

// RedactText returns the text without the secrets.
func (s *Redactor) RedactText(text string) string {
	if s == nil {
		return text
	}
	var spans []span
	for l := newTextLevel(text); l != nil; l = l.unescapedLevel() {
		for _, n := range s.searchedSecrets {
			spans = append(spans, n.findInLevel(l)...)
		}
	}
	return replaceSpans(text, spans)
}

// RedactValue removes the secrets from every string, key and number of a JSON value. It changes lists in place.
func (s *Redactor) RedactValue(v any) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		return s.RedactText(v)
	case json.Number:
		if redacted := s.RedactText(v.String()); redacted != v.String() {
			return redacted
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

// basicAuthSecrets returns the secrets in a value for basic authentication, user:password in base64: user:password as a
// whole, and the password alone.
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
	from, to    int
	replacement string
}

// replaceSpans replaces spans by their marks. Of overlapping spans, only the first one gets a mark, the longest if
// several begin there; the text of the others is removed too.
func replaceSpans(text string, spans []span) string {
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
	offset := 0
	for _, s := range spans {
		if s.from >= offset {
			out.WriteString(text[offset:s.from])
			out.WriteString(s.replacement)
		}
		offset = max(offset, s.to)
	}
	out.WriteString(text[offset:])
	return out.String()
}
