package spelling

import (
	"fmt"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// circledRanges are the ranges of circled numbers: ① … ⑳, ㉑ … ㉟, ㊱ … ㊿.
var circledRanges = []struct {
	from, to int
	first    rune
}{{1, 20, '①'}, {21, 35, '㉑'}, {36, 50, '㊱'}}

// InstanceTokenForNumber returns the token of the nth instance, from 1: ① … ㊿, then 51, 52, …
func InstanceTokenForNumber(n int) string {
	for _, c := range circledRanges {
		if n >= c.from && n <= c.to {
			return string(c.first + rune(n-c.from))
		}
	}
	return strconv.Itoa(n)
}

// NumberOfInstanceToken returns the number that a token is, circled or in digits; ok is false for any other token.
func NumberOfInstanceToken(token string) (n int, ok bool) {
	n, ok = circledNumber(token)
	if ok {
		return n, true
	}
	n, err := strconv.Atoi(token)
	return n, err == nil
}

func circledNumber(token string) (n int, ok bool) {
	r := []rune(token)
	if len(r) != 1 {
		return 0, false
	}
	for _, c := range circledRanges {
		if d := int(r[0] - c.first); d >= 0 && d <= c.to-c.from {
			return c.from + d, true
		}
	}
	return 0, false
}

// MaxTypeableTokenBytes bounds the length of a token in ids, in bytes, so that ids made of it fit the 255 characters
// that Temporal's databases hold.
const MaxTypeableTokenBytes = 32

// TypeableInstanceToken returns the form of a token for ids and the keyboard: ① is 1. In any other token, letters,
// digits, "-", "_" and "." stay, and the rest is percent-encoded. A result longer than MaxTypeableTokenBytes ends in ~
// and twelve digits of the token's SHA-256.
func TypeableInstanceToken(token string) string {
	if n, ok := circledNumber(token); ok {
		return strconv.Itoa(n)
	}
	return ShortenID(percentEncodeToken(token), token, MaxTypeableTokenBytes)
}

// ShortenID returns an id of at most maxBytes bytes: the id itself, or its beginning, ~, and twelve hex digits of the
// SHA-256 of the parameter of. It never cuts a percent-encoded byte in two.
func ShortenID(id, digestInput string, maxBytes int) string {
	if len(id) <= maxBytes {
		return id
	}
	const digits = 12
	id = id[:maxBytes-digits-1]
	if escapeIndex := strings.LastIndexByte(id, '%'); escapeIndex > len(id)-3 && escapeIndex >= 0 {
		id = id[:escapeIndex]
	}
	return id + "~" + jsonval.Digest(digestInput)[:digits]
}

const charactersInIDs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

func percentEncodeToken(token string) string {
	var b strings.Builder
	for i := range len(token) {
		if c := token[i]; strings.IndexByte(charactersInIDs, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// MatchesInstanceToken reports whether a word, in either spelling, names an instance.
func MatchesInstanceToken(typedToken, token string) bool {
	return typedToken == token || typedToken == TypeableInstanceToken(token)
}

// FindInstanceToken returns the token that a word names, in either spelling.
func FindInstanceToken(tokens []string, typedToken string) (token string, ok bool) {
	for _, t := range tokens {
		if MatchesInstanceToken(typedToken, t) {
			return t, true
		}
	}
	return "", false
}

// InstanceTokenIndex finds tokens by either spelling. Its zero value is empty.
type InstanceTokenIndex struct{ tokenBySpelling map[string]string }

// NewInstanceTokenIndex makes a InstanceTokenIndex of tokens that are all distinct in both spellings.
func NewInstanceTokenIndex(tokens []string) *InstanceTokenIndex {
	x := &InstanceTokenIndex{}
	for _, t := range tokens {
		x.AddToken(t)
	}
	return x
}

// AddToken adds a token. It returns another token with a spelling in common, for which it could be mistaken; "" if
// there is none.
func (x *InstanceTokenIndex) AddToken(token string) (conflictingToken string) {
	if x.tokenBySpelling == nil {
		x.tokenBySpelling = map[string]string{}
	}
	for _, word := range []string{token, TypeableInstanceToken(token)} {
		otherToken, exists := x.tokenBySpelling[word]
		if exists && otherToken != token {
			return otherToken
		}
		x.tokenBySpelling[word] = token
	}
	return ""
}

// FindToken returns the token that a word names, in either spelling.
func (x *InstanceTokenIndex) FindToken(typedToken string) (token string, ok bool) {
	token, ok = x.tokenBySpelling[typedToken]
	return token, ok
}
