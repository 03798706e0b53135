package secret

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// searchedSecret is one secret in all forms that are searched for.
type searchedSecret struct {
	replacement string
	plainForms  []string // in lower case: as given, and with escape-like parts undone, as they are undone in the texts
	spacedForms []string // the plain forms that contain a space, with a space for every +
	hexForm     string   // in lower case
	base64Forms []string // without the characters that depend on neighbouring bytes
}

// minBase64SecretBytes is the minimum length, in bytes, of a secret that is searched for within longer base64. The few
// characters of a shorter secret occur in any long text.
const minBase64SecretBytes = 8

func newSearchedSecret(name, value string) searchedSecret {
	n := searchedSecret{replacement: "[secret " + name + "]", hexForm: hex.EncodeToString([]byte(value))}
	for l := newTextLevel(value); l != nil && len(l.text) >= MinSecretBytes; l = l.unescapedLevel() {
		n.plainForms = append(n.plainForms, l.lowerText)
		if strings.Contains(l.text, " ") {
			n.spacedForms = append(n.spacedForms, l.lowerWithSpaces)
		}
	}
	if len(value) < minBase64SecretBytes {
		n.base64Forms = []string{base64.RawStdEncoding.EncodeToString([]byte(value))}
		return n
	}
	// Base64 turns three bytes into four characters, so a secret within longer base64 has one of three forms.
	for bytesBefore := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, bytesBefore), value...))
		from := (bytesBefore*8 + 5) / 6
		to := (bytesBefore + len(value)) * 8 / 6
		n.base64Forms = append(n.base64Forms, encoded[from:to])
	}
	return n
}

// findInLevel finds the secret on one level of a text.
func (n searchedSecret) findInLevel(l *textLevel) []span {
	var spans []span
	for _, form := range n.plainForms {
		spans = append(spans, n.findForm(l, l.lowerText, form, nil)...)
	}
	for _, form := range n.spacedForms {
		spans = append(spans, n.findForm(l, l.lowerWithSpaces, form, nil)...)
	}
	spans = append(spans, n.findForm(l, l.lowerText, n.hexForm, nil)...)
	for _, form := range n.base64Forms {
		spans = append(spans, n.findForm(l, l.standardBase64Text, form, expandBase64Range)...)
	}
	return spans
}

// findForm searches for a form in a text of the same length as the level's. expandMatch, if not nil, may extend a
// match.
func (n searchedSecret) findForm(l *textLevel, text, form string,
	expandMatch func(text string, from, to int) (int, int)) []span {
	var spans []span
	for offset := 0; ; {
		i := strings.Index(text[offset:], form)
		if i < 0 {
			return spans
		}
		from, to := offset+i, offset+i+len(form)
		if expandMatch != nil {
			from, to = expandMatch(text, from, to)
		}
		spans = append(spans, span{l.originalStart(from), l.originalEnd(to), n.replacement})
		offset = to
	}
}

// expandBase64Range extends a range to the neighbouring characters that hold some of the secret's bits, and to the
// padding.
func expandBase64Range(text string, from, to int) (int, int) {
	if from > 0 && isBase64Char(text[from-1]) {
		from--
	}
	if to < len(text) && isBase64Char(text[to]) {
		to++
	}
	for to < len(text) && text[to] == '=' {
		to++
	}
	return from, to
}

func isBase64Char(c byte) bool {
	return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '+' || c == '/'
}
