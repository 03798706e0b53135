package rehearsal

import (
	"math"
	"unicode/utf8"
)

// piece is one chunk of the stream.
type piece struct {
	text      string
	isRefusal bool
	offset    int // characters before it
}

// endOffset is the number of characters up to its end.
func (p piece) endOffset() int { return p.offset + utf8.RuneCountInString(p.text) }

// pieces cuts the reply into chunks of at most size characters, never within a character. It ends at Cut, where the
// connection drops.
func (r Reply) pieces(size int) []piece {
	remaining := math.MaxInt
	if r.CutAfter != nil {
		remaining = *r.CutAfter
	}
	var all []piece
	offset := 0
	for _, part := range []piece{{text: r.Refusal, isRefusal: true}, {text: r.Content}} {
		for part.text != "" && remaining > 0 {
			text, chars := firstChars(part.text, min(size, remaining))
			all = append(all, piece{text: text, isRefusal: part.isRefusal, offset: offset})
			part.text = part.text[len(text):]
			offset += chars
			remaining -= chars
		}
	}
	return all
}

// firstChars returns the first characters of the text, n of them if there are as many.
func firstChars(text string, n int) (string, int) {
	end, chars := 0, 0
	for chars < n && end < len(text) {
		_, width := utf8.DecodeRuneInString(text[end:])
		end += width
		chars++
	}
	return text[:end], chars
}
