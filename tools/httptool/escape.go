package httptool

import (
	"fmt"
	"net/url"
	"strings"
)

// encodeSegment percent-encodes everything except letters, digits and -._~, for path segments and for queries.
func encodeSegment(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// encodeLiteral percent-encodes the characters of a template's own text that a URL may not contain, and leaves
// separators and escapes unchanged. Otherwise net/http would re-encode the whole path, and write %2F as a slash.
func encodeLiteral(s string) string {
	return encodeUnless(s, func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("-._~!$&'()*+,;=:@%/?[]", c) >= 0
	})
}

// encodeHeader percent-encodes the characters that no header may contain; an encoded key stays unchanged.
func encodeHeader(key string) string {
	return encodeUnless(key, func(c byte) bool { return c > ' ' && c < 0x7f })
}

func encodeUnless(s string, isAllowed func(byte) bool) string {
	var out strings.Builder
	for i := range len(s) {
		if isAllowed(s[i]) {
			out.WriteByte(s[i])
		} else {
			fmt.Fprintf(&out, "%%%02X", s[i])
		}
	}
	return out.String()
}
