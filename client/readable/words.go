package readable

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// VisibleText replaces hidden characters, which control terminals or the direction of writing, by their number.
func VisibleText(s string) string {
	if !strings.ContainsFunc(s, IsHidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if IsHidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsHidden reports whether a character affects how a text is shown but is not visible itself. Characters that join
// letters are not hidden: they are part of the letters.
func IsHidden(r rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = 0x200c, 0x200d
	return r != zeroWidthNonJoiner && r != zeroWidthJoiner && isControlRune(r)
}

func isControlRune(r rune) bool {
	return r != '\n' && r != '\t' && unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' ||
		r == '\u2029' || r == utf8.RuneError
}

// Clip shortens a text to maxChars characters, and says how many are left out.
func Clip(s string, maxChars int) string { return clip(s, maxChars, 0) }

// clip is Clip for the start of a text, of which omittedCount characters are left out already.
func clip(s string, maxChars, omittedCount int) string {
	for end := range s {
		if maxChars == 0 {
			return cutAt(s, end, omittedCount)
		}
		maxChars--
	}
	return cutAt(s, len(s), omittedCount)
}

// clipBytes is Clip for a bound in bytes.
func clipBytes(s string, maxBytes int) string {
	end := min(maxBytes, len(s))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return cutAt(s, end, 0)
}

func cutAt(s string, end, omittedCount int) string {
	if end == len(s) && omittedCount == 0 {
		return s
	}
	return s[:end] + fmt.Sprintf(" … (%s more)", Plural(utf8.RuneCountInString(s[end:])+omittedCount, "character"))
}

// ShortText shows a value on one line: a text as it is, anything else as JSON.
func ShortText(v any, maxChars int) string {
	text, ok := v.(string)
	if !ok {
		if jsonval.SizeUpToLimit(v, 16*maxChars) > 16*maxChars {
			return "a value of more than " + Plural(maxChars, "character")
		}
		text = jsonval.EncodeToString(v)
	}
	const maxBytesPerRune = 4
	omittedCount := 0
	if len(text) > maxBytesPerRune*maxChars { // enough for what is shown
		start := strings.ToValidUTF8(text[:maxBytesPerRune*maxChars], "")
		omittedCount = utf8.RuneCountInString(text) - utf8.RuneCountInString(start)
		text = start
	}
	return clip(VisibleText(strings.Join(strings.Fields(text), " ")), maxChars, omittedCount)
}

// IsNumber reports whether a value is a number.
func IsNumber(v any) bool { _, ok := v.(json.Number); return ok }

// Plural returns a number with its noun: 1 Call, 1,000 Calls.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", diag.WithThousandsCommas(n), noun)
}

// AgoText says how long ago a moment was.
func AgoText(now, t time.Time) string {
	d := now.Sub(t)
	if d < 10*time.Second {
		return "just now"
	}
	return durationText(d) + " ago"
}

// UntilText says how long it is to a moment.
func UntilText(now, t time.Time) string {
	d := t.Sub(now)
	if d <= 0 {
		return "now"
	}
	return "in " + durationText(d)
}

// durationText returns a duration in words, with two units where one would mislead: "2 days" for 2 days and 23 hours.
func durationText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return Plural(int(d/time.Second), "second")
	case d < time.Hour:
		return Plural(int(d/time.Minute), "minute")
	case d < 2*day:
		return inUnits(d, time.Hour, "hour", time.Minute, "minute")
	}
	return inUnits(d, day, "day", time.Hour, "hour")
}

// inUnits adds the smaller unit if the larger one is less than ten.
func inUnits(d, largeUnit time.Duration, largeName string, smallUnit time.Duration, smallName string) string {
	d = d.Round(smallUnit)
	text := Plural(int(d/largeUnit), largeName)
	if remainder := d % largeUnit / smallUnit; remainder > 0 && d < 10*largeUnit {
		text += " " + Plural(int(remainder), smallName)
	}
	return text
}

// ElapsedText returns in words how long something took.
func ElapsedText(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f seconds", max(d, 0).Seconds())
	}
	return durationText(d)
}

// TimestampLayout is the layout of a moment for people.
const TimestampLayout = "Mon 2 Jan 2006, 15:04:05 MST"

// TimestampText formats a moment for people.
func TimestampText(t time.Time) string { return t.Local().Format(TimestampLayout) }
