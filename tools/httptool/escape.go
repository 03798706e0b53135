package httptool

import (
	"fmt"
	"net/url"
	"strings"
)

// encodeURLPart percent-encodes everything except letters, digits and -._~, for path segments and for queries.
func encodeURLPart(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// encodeURLLiteral percent-encodes the characters of a template's own text that a URL may not contain, and leaves
// separators and escapes unchanged. Otherwise net/http would re-encode the whole path, and write %2F as a slash.
func encodeURLLiteral(s string) string {
	return percentEncodeUnless(s, func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("-._~!$&'()*+,;=:@%/?[]", c) >= 0
	})
}

// encodeHeaderValue percent-encodes the characters that no header may contain; an encoded key stays unchanged.
func encodeHeaderValue(value string) string {
	return percentEncodeUnless(value, func(c byte) bool { return c > ' ' && c < 0x7f })
}

func percentEncodeUnless(s string, isAllowed func(byte) bool) string {
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
