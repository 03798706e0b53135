package secret

import (
	"slices"
	"strings"
)

// textLevel is a text with some of its escapes undone, and where those escapes are in the parent's text. The top level
// is the original text. JSON within JSON, or a URL within HTML, needs several levels.
type textLevel struct {
	text          string
	parent        *textLevel
	undoneEscapes []undoneEscape // in the order of the text
	depth         int

	lowerWithSpaces    string // lowerText with a space for every +, as forms encode spaces
	lowerText          string // the text in lower case
	standardBase64Text string // the text with standard base64 characters in place of the URL-safe ones
}

func newTextLevel(text string) *textLevel {
	l := &textLevel{}
	l.setText(text)
	return l
}

func (l *textLevel) setText(text string) {
	l.text, l.lowerText, l.standardBase64Text = text, lowerASCII(text), toStandardBase64.Replace(text)
	l.lowerWithSpaces = strings.ReplaceAll(l.lowerText, "+", " ")
}

var toStandardBase64 = strings.NewReplacer("-", "+", "_", "/")

// lowerASCII is strings.ToLower for ASCII only, so that the text keeps its length.
func lowerASCII(text string) string {
	isUpper := func(r rune) bool { return 'A' <= r && r <= 'Z' }
	if strings.IndexFunc(text, isUpper) < 0 {
		return text
	}
	b := []byte(text)
	for i, c := range b {
		if isUpper(rune(c)) {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// undoneEscape is a run of a level's text that is escaped in the parent's text.
type undoneEscape struct {
	startOffset, length    int
	parentStart, parentEnd int // in the parent's text
}

// maxEscapeDepth bounds how many nested escapes are undone.
const maxEscapeDepth = 4

// unescapedLevel returns the next level, with this level's escapes undone, or nil if there are none.
func (l *textLevel) unescapedLevel() *textLevel {
	if l.depth == maxEscapeDepth || !strings.ContainsAny(l.text, `%\&`) {
		return nil
	}
	next := &textLevel{parent: l, depth: l.depth + 1}
	var out strings.Builder
	lastEnd := 0
	for i := 0; i < len(l.text); {
		plain, length := readEscape(l.text[i:])
		if length == 0 {
			i++
			continue
		}
		out.WriteString(l.text[lastEnd:i])
		next.undoneEscapes = append(next.undoneEscapes, undoneEscape{out.Len(), len(plain), i, i + length})
		out.WriteString(plain)
		i += length
		lastEnd = i
	}
	if len(next.undoneEscapes) == 0 {
		return nil
	}
	out.WriteString(l.text[lastEnd:])
	next.setText(out.String())
	return next
}

// originalStart maps the start of a byte to the original text. A byte of an escape maps to the start of the escape.
func (l *textLevel) originalStart(offset int) int {
	if l.parent == nil {
		return offset
	}
	e := l.lastEscapeBefore(offset + 1)
	if offset < e.startOffset+e.length {
		return l.parent.originalStart(e.parentStart)
	}
	return l.parent.originalStart(e.parentEnd + offset - e.startOffset - e.length)
}

// originalEnd maps the end of the text before a position to the original text. Within an escape it maps to the end of
// the escape.
func (l *textLevel) originalEnd(offset int) int {
	if l.parent == nil {
		return offset
	}
	e := l.lastEscapeBefore(offset)
	if offset <= e.startOffset+e.length {
		return l.parent.originalEnd(e.parentEnd)
	}
	return l.parent.originalEnd(e.parentEnd + offset - e.startOffset - e.length)
}

// lastEscapeBefore returns the last escape that begins before a position, or an empty one at the beginning.
func (l *textLevel) lastEscapeBefore(offset int) undoneEscape {
	n, _ := slices.BinarySearchFunc(l.undoneEscapes, offset,
		func(e undoneEscape, offset int) int { return e.startOffset - offset })
	if n == 0 {
		return undoneEscape{}
	}
	return l.undoneEscapes[n-1]
}
