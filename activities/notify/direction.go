package notify

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/bidi"

	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// startIsolate and endIsolate enclose a text with a direction of its own, so that the text around it keeps its order.
const startIsolate, endIsolate = '\u2068', '\u2069'

// isolateDirection returns a text from data, enclosed unless it runs from left to right, so that the rest of the
// message keeps its direction. Control characters that would turn the rest are shown by their numbers.
func isolateDirection(text string) string {
	var out strings.Builder
	hasRightToLeft := false
	for _, r := range text {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.LRO, bidi.RLO, bidi.LRE, bidi.RLE, bidi.PDF, bidi.LRI, bidi.RLI, bidi.FSI, bidi.PDI:
			fmt.Fprintf(&out, "⟨U+%04X⟩", r)
			continue
		case bidi.R, bidi.AL, bidi.AN:
			hasRightToLeft = true
		}
		out.WriteRune(r)
	}
	if !hasRightToLeft {
		return out.String()
	}
	return string(startIsolate) + out.String() + string(endIsolate)
}

// isolatedSentence returns a Call's sentence, of at most maxFieldChars, in which the data is isolated.
func isolatedSentence(c shown.Call) string {
	if len(c.Parts) == 0 {
		return isolateDirection(jsonval.Clip(c.Sentence, maxFieldChars))
	}
	var out strings.Builder
	charsLeft := maxFieldChars
	for _, part := range c.Parts {
		text := jsonval.Clip(part.Text, charsLeft)
		if charsLeft -= len([]rune(text)); part.IsData {
			text = isolateDirection(text)
		}
		if out.WriteString(text); charsLeft <= 0 {
			break
		}
	}
	return out.String()
}
