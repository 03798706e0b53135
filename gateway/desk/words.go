package desk

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"processidea/model/jsonval"
)

// visible has nothing hide in a text: what steers terminals and the direction of writing is shown by its number.
func visible(s string) string {
	if !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isHidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHidden leaves out those that join letters: they are part of them.
func isHidden(r rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = 0x200c, 0x200d
	return r != zeroWidthNonJoiner && r != zeroWidthJoiner && isSteering(r)
}

func isSteering(r rune) bool {
	return r != '\n' && r != '\t' && unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// clip shortens a text to about n characters, and says how much is left out.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := n
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + fmt.Sprintf(" … (%s more)", plural(utf8.RuneCountInString(s[at:]), "character"))
}

// shortText is a value on one line: a text as it is, anything else as JSON.
func shortText(v any, n int) string {
	text, ok := v.(string)
	if !ok {
		if jsonval.SizeUpToLimit(v, 16*n) > 16*n {
			return "a value of more than " + plural(n, "character")
		}
		text = string(jsonval.Encode(v))
	}
	const perRune = 4
	if len(text) > perRune*n {
		return clip(visible(strings.ToValidUTF8(strings.Join(strings.Fields(text[:perRune*n]), " "), "")), n-1) + " …"
	}
	return clip(visible(strings.Join(strings.Fields(text), " ")), n)
}

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%s %ss", thousands(n), what)
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// ago tells how long ago a moment was.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	if d < 10*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

// until tells how long it is to a moment.
func until(now, t time.Time) string {
	d := t.Sub(now)
	if d <= 0 {
		return "now"
	}
	return "in " + span(d)
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return plural(int(d/time.Second), "second")
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return plural(int(d/time.Hour), "hour")
	}
	return plural(int(d/(24*time.Hour)), "day")
}

// stamp is a moment for people.
func stamp(t time.Time) string { return t.Local().Format("Mon 2 Jan 2006, 15:04:05 MST") }
