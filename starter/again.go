package main

import (
	"os"
	"strings"
	"unicode"
)

// again is the command line that goes on with the process.
func (r *runner) again() string {
	words := []string{"starter"}
	for _, arg := range os.Args[1:] {
		words = append(words, quote(arg))
	}
	line := strings.Join(words, " ")
	if !strings.Contains(line, "--id") {
		line += " --id " + quote(r.options.id)
	}
	return line
}

// quote makes an argument safe to paste into a shell.
func quote(arg string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./=:,@%+", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
