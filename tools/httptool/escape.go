package httptool

import (
	"fmt"
	"net/url"
	"strings"
)

// encodeSegment percent-encodes all but letters, digits and -._~, for a path segment as
// for a query.
func encodeSegment(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// encodeLiteral percent-encodes what a template's own text may not hold in a URL and leaves its separators and
// escapes alone. Were it left as it is, net/http would write the whole path anew, and %2F as a slash.
func encodeLiteral(s string) string {
	return encodeUnless(s, func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("-._~!$&'()*+,;=:@%/?[]", c) >= 0
	})
}

// encodeHeader percent-encodes what no header may hold; a key that is encoded already stays as it is.
func encodeHeader(key string) string {
	return encodeUnless(key, func(c byte) bool { return c > ' ' && c < 0x7f })
}

func encodeUnless(s string, stays func(byte) bool) string {
	var out strings.Builder
	for i := range len(s) {
		if stays(s[i]) {
			out.WriteByte(s[i])
		} else {
			fmt.Fprintf(&out, "%%%02X", s[i])
		}
	}
	return out.String()
}
