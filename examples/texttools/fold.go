package texttools

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folded is a text in the form for comparing: compatibility forms resolved (NFKC), case folded, invisible characters
// removed, runs of white space replaced by one space. Each byte is mapped to the runes of the source that it came from.
type folded struct {
	text                 []byte
	sourceFrom, sourceTo []int32 // per byte of text: first rune in the source, and the one after the last
}

func fold(source string) *folded {
	s, place := visible(source)
	f := &folded{
		text:       make([]byte, 0, len(s)),
		sourceFrom: make([]int32, 0, len(s)),
		sourceTo:   make([]int32, 0, len(s)),
	}
	caser := cases.Fold()
	for at := 0; s != ""; {
		n := 1
		if s[0] >= utf8.RuneSelf || (len(s) > 1 && s[1] >= utf8.RuneSelf) {
			n = max(1, norm.NFKC.NextBoundaryInString(s, true))
		}
		segment := s[:n]
		s = s[n:]
		next := at + utf8.RuneCountInString(segment)
		from, to := place[at], place[next-1]+1
		if n == 1 && segment[0] < utf8.RuneSelf {
			f.add(unicode.ToLower(rune(segment[0])), from, to)
		} else {
			// Folding can undo the normal form, so it is made again.
			for _, r := range norm.NFKC.String(caser.String(norm.NFKC.String(segment))) {
				f.add(r, from, to)
			}
		}
		at = next
	}
	return f
}

// visible drops the invisible characters, before accents are joined to their letters, and returns the place in the
// source of each remaining rune.
func visible(source string) (s string, place []int32) {
	var b strings.Builder
	b.Grow(len(source))
	place = make([]int32, 0, len(source))
	at := int32(0)
	for _, r := range source {
		if !invisible(r) {
			b.WriteRune(r)
			place = append(place, at)
		}
		at++
	}
	return b.String(), place
}

func (f *folded) add(r rune, from, to int32) {
	if invisible(r) {
		return
	}
	if unicode.IsSpace(r) {
		if n := len(f.text); n > 0 && f.text[n-1] == ' ' {
			f.sourceTo[n-1] = to
			return
		}
		r = ' '
	}
	if unicode.Is(unicode.Cherokee, r) {
		r = unicode.ToUpper(r) // cases.Fold folds each of its cases into the other
	}
	before := len(f.text)
	f.text = utf8.AppendRune(f.text, r)
	for range len(f.text) - before {
		f.sourceFrom = append(f.sourceFrom, from)
		f.sourceTo = append(f.sourceTo, to)
	}
}

// invisible characters are put between letters to hide a word.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// boundary reports whether a word may begin or end between two runes.
func boundary(before, after rune) bool {
	return !wordRune(before) || !wordRune(after) || unspaced(before) || unspaced(after)
}

func wordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// unspaced scripts write words without spaces between them; Hangul does set
// spaces, but particles join the word before them.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// isWholeWord reports whether text[start:end] is a whole word of the folded text.
func (f *folded) isWholeWord(start, end int) bool {
	if start > 0 {
		before, _ := utf8.DecodeLastRune(f.text[:start])
		first, _ := utf8.DecodeRune(f.text[start:])
		if !boundary(before, first) {
			return false
		}
	}
	if end < len(f.text) {
		last, _ := utf8.DecodeLastRune(f.text[:end])
		after, _ := utf8.DecodeRune(f.text[end:])
		return boundary(last, after)
	}
	return true
}
