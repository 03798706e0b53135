package readable_test

import (
	"strings"
	"testing"
	"time"

	"processidea/client/readable"
)

func TestACellSaysHowMuchOfATextItLeavesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"ab\n cd", "ab cd"}, {strings.Repeat("x", 12), "xxxxxxxxxx … (2 characters more)"},
		{strings.Repeat("x", 10_000), "xxxxxxxxxx … (9,990 characters more)"},
		{strings.Repeat("é", 10_000), "éééééééééé … (9,990 characters more)"},
		{strings.Repeat(" ", 999) + "x", " … (960 characters more)"},
	} {
		if got := readable.ShortText(c.text, 10); got != c.want {
			t.Errorf("%.20q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestATimeIsToldAsPeopleWouldTellIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"0s": "now", "-1h": "now", "1s": "in 1 second", "59s": "in 59 seconds", "60s": "in 1 minute",
		"59m59s": "in 59 minutes",
		"1h":     "in 1 hour", "1h30m": "in 1 hour 30 minutes", "9h59m": "in 9 hours 59 minutes",
		"23h30m":    "in 23 hours",
		"47h59m50s": "in 48 hours", "48h": "in 2 days", "71h": "in 2 days 23 hours", "71h59m58s": "in 3 days",
		"480h": "in 20 days",
		"500h": "in 20 days",
	} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := readable.UntilText(now, now.Add(d)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
