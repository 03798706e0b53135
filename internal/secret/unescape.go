package secret

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// readEscape reads the escape at the beginning of a text: a URL's (%2F), a JSON or program text's (\/, \u002f, \x2f),
// or HTML's (&#47;). length is 0 if there is none.
func readEscape(text string) (plain string, length int) {
	switch text[0] {
	case '%':
		if b, ok := parseHexDigits(text, 1, 3); ok {
			return string([]byte{byte(b)}), 3
		}
	case '\\':
		return readBackslashEscape(text)
	case '&':
		return readHTMLEntity(text)
	}
	return "", 0
}

func parseHexDigits(text string, from, to int) (uint64, bool) {
	if len(text) < to {
		return 0, false
	}
	n, err := strconv.ParseUint(text[from:to], 16, 32)
	return n, err == nil
}

// controlCharByLetter maps the letters of escapes to control characters.
var controlCharByLetter = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", 'b': "\b", 'f': "\f"}

func readBackslashEscape(text string) (string, int) {
	if len(text) < 2 {
		return "", 0
	}
	switch c := text[1]; c {
	case '"', '\\', '/', '\'':
		return text[1:2], 2
	case 'x':
		if b, ok := parseHexDigits(text, 2, 4); ok {
			return string([]byte{byte(b)}), 4
		}
	case 'U':
		if r, ok := parseHexDigits(text, 2, 10); ok && r <= utf8.MaxRune {
			return string(rune(r)), 10
		}
	case 'u':
		first, ok := parseHexDigits(text, 2, 6)
		if !ok {
			return "", 0
		}
		if utf16.IsSurrogate(rune(first)) && strings.HasPrefix(text[6:], `\u`) {
			if second, ok := parseHexDigits(text, 8, 12); ok {
				return string(utf16.DecodeRune(rune(first), rune(second))), 12
			}
		}
		return string(rune(first)), 6
	default:
		if plain := controlCharByLetter[c]; plain != "" {
			return plain, 2
		}
	}
	return "", 0
}

// maxEntityLength bounds an HTML escape, in bytes. Programs write longer ones for no single character.
const maxEntityLength = 10

func readHTMLEntity(text string) (string, int) {
	end := strings.IndexByte(text[:min(len(text), maxEntityLength)], ';')
	if end < 0 {
		return "", 0
	}
	plain := html.UnescapeString(text[:end+1])
	if plain == text[:end+1] {
		return "", 0
	}
	return plain, end + 1
}
