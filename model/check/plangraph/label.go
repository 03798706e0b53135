package plangraph

import (
	"strings"
	"unicode"

	"processidea/model/jsonval"
)

// pathLabel writes a path for a label.
func pathLabel(p jsonval.Path) string {
	if len(p) == 0 {
		return "State"
	}
	return jsonval.Clip(p.String(), 60)
}

// singleLine replaces with a space what ends a line or cannot be shown.
func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Zl, r) ||
			unicode.Is(unicode.Zp, r) ||
			unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}
