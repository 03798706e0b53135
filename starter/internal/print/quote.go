package print

import (
	"strings"
	"unicode"
)

// Quote makes an argument safe to paste into a shell.
func Quote(arg string) string {
	isPlain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./=:,@%+", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !isPlain(r) }) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
