package texttools

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldedText is a text in the form for comparing: compatibility forms resolved (NFKC), case folded, invisible
// characters removed, runs of white space replaced by one space. Each byte is mapped to the runes of the source that it
// came from.
type foldedText struct {
	text                     []byte
	sourceStarts, sourceEnds []int32 // per byte of text: first rune in the source, and the one after the last
}

func foldText(source string) *foldedText {
	s, sourcePositions := removeInvisible(source)
	f := &foldedText{
		text:         make([]byte, 0, len(s)),
		sourceStarts: make([]int32, 0, len(s)),
		sourceEnds:   make([]int32, 0, len(s)),
	}
	caser := cases.Fold()
	for runeOffset := 0; s != ""; {
		n := 1
		if s[0] >= utf8.RuneSelf || (len(s) > 1 && s[1] >= utf8.RuneSelf) {
			n = max(1, norm.NFKC.NextBoundaryInString(s, true))
		}
		segment := s[:n]
		s = s[n:]
		nextOffset := runeOffset + utf8.RuneCountInString(segment)
		from, to := sourcePositions[runeOffset], sourcePositions[nextOffset-1]+1
		if n == 1 && segment[0] < utf8.RuneSelf {
			f.addRune(unicode.ToLower(rune(segment[0])), from, to)
		} else {
			// Folding can undo the normal form, so it is made again.
			for _, r := range norm.NFKC.String(caser.String(norm.NFKC.String(segment))) {
				f.addRune(r, from, to)
			}
		}
		runeOffset = nextOffset
	}
	return f
}

// removeInvisible drops the invisible characters, before accents are joined to their letters, and returns the place in
// the source of each remaining rune.
func removeInvisible(source string) (s string, sourcePositions []int32) {
	var b strings.Builder
	b.Grow(len(source))
	sourcePositions = make([]int32, 0, len(source))
	offset := int32(0)
	for _, r := range source {
		if !isInvisible(r) {
			b.WriteRune(r)
			sourcePositions = append(sourcePositions, offset)
		}
		offset++
	}
	return b.String(), sourcePositions
}

func (f *foldedText) addRune(r rune, from, to int32) {
	if isInvisible(r) {
		return
	}
	if unicode.IsSpace(r) {
		if n := len(f.text); n > 0 && f.text[n-1] == ' ' {
			f.sourceEnds[n-1] = to
			return
		}
		r = ' '
	}
	if unicode.Is(unicode.Cherokee, r) {
		r = unicode.ToUpper(r) // cases.Fold folds each of its cases into the other
	}
	oldLength := len(f.text)
	f.text = utf8.AppendRune(f.text, r)
	for range len(f.text) - oldLength {
		f.sourceStarts = append(f.sourceStarts, from)
		f.sourceEnds = append(f.sourceEnds, to)
	}
}

// isInvisible characters are put between letters to hide a word.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isWordBoundary reports whether a word may begin or end between two runes.
func isWordBoundary(before, after rune) bool {
	return !isWordRune(before) || !isWordRune(after) || isUnspacedScript(before) || isUnspacedScript(after)
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isUnspacedScript scripts write words without spaces between them; Hangul does set
// spaces, but particles join the word before them.
func isUnspacedScript(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// isWholeWord reports whether text[start:end] is a whole word of the folded text.
func (f *foldedText) isWholeWord(start, end int) bool {
	if start > 0 {
		before, _ := utf8.DecodeLastRune(f.text[:start])
		first, _ := utf8.DecodeRune(f.text[start:])
		if !isWordBoundary(before, first) {
			return false
		}
	}
	if end < len(f.text) {
		last, _ := utf8.DecodeLastRune(f.text[:end])
		after, _ := utf8.DecodeRune(f.text[end:])
		return isWordBoundary(last, after)
	}
	return true
}
