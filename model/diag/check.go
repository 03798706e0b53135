package diag

import (
	"fmt"
	"strings"
)

// someOf lists names, and how many there are beside the first ones.
func SomeOf(names []string) string {
	const shown = 8
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// placeBefore orders JSON paths as their places stand in the file: the schema before the context, numbers by value.
func PlaceBefore(a, b string) bool {
	if x, y := inContext(a), inContext(b); x != y {
		return y
	}
	for a != "" && b != "" {
		x, y := leadingDigits(a), leadingDigits(b)
		switch {
		case x != y && x != "" && y != "":
			if len(x) != len(y) {
				return len(x) < len(y)
			}
			return x < y
		case a[0] != b[0]:
			return a[0] < b[0]
		}
		n := max(1, len(x))
		a, b = a[n:], b[n:]
	}
	return a == "" && b != ""
}

func inContext(path string) bool { return strings.HasPrefix(path, "$.context") }

func leadingDigits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}
