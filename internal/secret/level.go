package secret

import (
	"slices"
	"strings"
)

// level is a text with some of its escapes undone, and where they stood in the text above. The one on top is the text
// as it came; JSON within JSON, or a URL within HTML, needs more.
type level struct {
	text    string
	parent  *level
	escapes []escape // in the order of the text
	depth   int

	spaced string // the text in lower case with a space for every +, as forms write spaces
	lower  string // the text in lower case
	base64 string // the text with the usual characters of base64 for those of URLs
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

// lowerASCII is strings.ToLower for ASCII: the text keeps its length.
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

// escape is a run of a level's text that stood otherwise in the text above.
type escape struct {
	at, len  int
	from, to int // above
}

// maxEscapeDepth bounds how many escapes within escapes are undone.
const maxEscapeDepth = 4

// unescaped undoes the escapes of a level; nil if there are none.
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

// originalStart maps the start of a byte to the original text. A byte within an escape takes the whole escape along.
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

// originalEnd maps the end of the text before a position to the original text.
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

// lastEscapeBefore is the last escape that begins before a position; an empty one at the beginning if there is none.
func (l *level) lastEscapeBefore(at int) escape {
	n, _ := slices.BinarySearchFunc(l.escapes, at, func(e escape, at int) int { return e.at - at })
	if n == 0 {
		return escape{}
	}
	return l.escapes[n-1]
}
