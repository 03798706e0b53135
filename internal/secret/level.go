package secret

import (
	"slices"
	"strings"
)

// level is a text with some of its escapes undone, and where those escapes are in the parent's text. The top level is
// the original text. JSON within JSON, or a URL within HTML, needs several levels.
type level struct {
	text    string
	parent  *level
	escapes []escape // in the order of the text
	depth   int

	spaced string // lower with a space for every +, as forms encode spaces
	lower  string // the text in lower case
	base64 string // the text with standard base64 characters in place of the URL-safe ones
}

func newLevel(text string) *level {
	l := &level{}
	l.setText(text)
	return l
}

func (l *level) setText(text string) {
	l.text, l.lower, l.base64 = text, lowerASCII(text), standardBase64.Replace(text)
	l.spaced = strings.ReplaceAll(l.lower, "+", " ")
}

var standardBase64 = strings.NewReplacer("-", "+", "_", "/")

// lowerASCII is strings.ToLower for ASCII only, so that the text keeps its length.
func lowerASCII(text string) string {
	upper := func(r rune) bool { return 'A' <= r && r <= 'Z' }
	if strings.IndexFunc(text, upper) < 0 {
		return text
	}
	b := []byte(text)
	for i, c := range b {
		if upper(rune(c)) {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// escape is a run of a level's text that is escaped in the parent's text.
type escape struct {
	at, len  int
	from, to int // in the parent's text
}

// maxEscapeDepth bounds how many nested escapes are undone.
const maxEscapeDepth = 4

// unescaped returns the next level, with this level's escapes undone, or nil if there are none.
func (l *level) unescaped() *level {
	if l.depth == maxEscapeDepth || !strings.ContainsAny(l.text, `%\&`) {
		return nil
	}
	next := &level{parent: l, depth: l.depth + 1}
	var out strings.Builder
	last := 0
	for i := 0; i < len(l.text); {
		plain, length := readEscape(l.text[i:])
		if length == 0 {
			i++
			continue
		}
		out.WriteString(l.text[last:i])
		next.escapes = append(next.escapes, escape{out.Len(), len(plain), i, i + length})
		out.WriteString(plain)
		i += length
		last = i
	}
	if len(next.escapes) == 0 {
		return nil
	}
	out.WriteString(l.text[last:])
	next.setText(out.String())
	return next
}

// originalStart maps the start of a byte to the original text. A byte of an escape maps to the start of the escape.
func (l *level) originalStart(at int) int {
	if l.parent == nil {
		return at
	}
	e := l.lastEscapeBefore(at + 1)
	if at < e.at+e.len {
		return l.parent.originalStart(e.from)
	}
	return l.parent.originalStart(e.to + at - e.at - e.len)
}

// originalEnd maps the end of the text before a position to the original text. Within an escape it maps to the end of
// the escape.
func (l *level) originalEnd(at int) int {
	if l.parent == nil {
		return at
	}
	e := l.lastEscapeBefore(at)
	if at <= e.at+e.len {
		return l.parent.originalEnd(e.to)
	}
	return l.parent.originalEnd(e.to + at - e.at - e.len)
}

// lastEscapeBefore returns the last escape that begins before a position, or an empty one at the beginning.
func (l *level) lastEscapeBefore(at int) escape {
	n, _ := slices.BinarySearchFunc(l.escapes, at, func(e escape, at int) int { return e.at - at })
	if n == 0 {
		return escape{}
	}
	return l.escapes[n-1]
}
