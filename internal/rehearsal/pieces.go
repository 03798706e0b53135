package rehearsal

import (
	"math"
	"unicode/utf8"
)

// replyChunk is one chunk of the stream.
type replyChunk struct {
	text        string
	isRefusal   bool
	startOffset int // characters before it
}

// endOffset is the number of characters up to its end.
func (p replyChunk) endOffset() int { return p.startOffset + utf8.RuneCountInString(p.text) }

// splitIntoChunks cuts the reply into chunks of at most maxChars characters, never within a character. It ends at
// CutAfterChars, where the connection drops.
func (r Reply) splitIntoChunks(maxChars int) []replyChunk {
	remaining := math.MaxInt
	if r.CutAfterChars != nil {
		remaining = *r.CutAfterChars
	}
	var all []replyChunk
	offset := 0
	for _, part := range []replyChunk{{text: r.Refusal, isRefusal: true}, {text: r.Content}} {
		for part.text != "" && remaining > 0 {
			text, chars := takeFirstChars(part.text, min(maxChars, remaining))
			all = append(all, replyChunk{text: text, isRefusal: part.isRefusal, startOffset: offset})
			part.text = part.text[len(text):]
			offset += chars
			remaining -= chars
		}
	}
	return all
}

// takeFirstChars returns the first characters of the text, n of them if there are as many.
func takeFirstChars(text string, n int) (string, int) {
	end, chars := 0, 0
	for chars < n && end < len(text) {
		_, width := utf8.DecodeRuneInString(text[end:])
		end += width
		chars++
	}
	return text[:end], chars
}
