package rehearsal

import (
	"math"
	"unicode/utf8"
)

// piece is one chunk of the stream.
type piece struct {
	text    string
	refusal bool
	after   int // characters before it
}

// endOffset is the number of characters up to its end.
func (p piece) endOffset() int { return p.after + utf8.RuneCountInString(p.text) }

// pieces cuts the reply into chunks of at most size characters, never within a character. It ends at Cut, where the
// connection drops.
func (r Reply) pieces(size int) []piece {
	left := math.MaxInt
	if r.Cut != nil {
		left = *r.Cut
	}
	var all []piece
	after := 0
	for _, part := range []piece{{text: r.Refusal, refusal: true}, {text: r.Content}} {
		for part.text != "" && left > 0 {
			text, chars := firstChars(part.text, min(size, left))
			all = append(all, piece{text: text, refusal: part.refusal, after: after})
			part.text = part.text[len(text):]
			after += chars
			left -= chars
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
