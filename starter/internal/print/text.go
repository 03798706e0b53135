package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"processidea/model/jsonval"
)

// TerminalWidth is the width in characters if the writer is a terminal; otherwise 0.
func TerminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		return 80
	}
	return width
}

// Printable makes a text one line, and replaces characters that would not print as themselves: a value from outside
// must not control the terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return replaceHarmful(r)
	}, s)
}

// Fprintf is fmt.Fprintf with texts, JSON and Stringers among the arguments made Printable.
func Fprintf(w io.Writer, format string, args ...any) {
	for n, arg := range args {
		switch v := arg.(type) {
		case string:
			args[n] = Printable(v)
		case []byte:
			args[n] = Printable(string(v))
		case fmt.Stringer:
			args[n] = Printable(v.String())
		}
	}
	fmt.Fprintf(w, format, args...)
}

// replaceHarmful replaces characters that would control the terminal by a dot: control characters, and characters that
// change the direction of writing.
func replaceHarmful(r rune) rune {
	isBidiControl := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	if r != '\n' && unicode.IsControl(r) || isBidiControl {
		return '·'
	}
	return r
}

var lineBreaks = regexp.MustCompile(`\s*\n\s*`)

// OneLine is Printable, but turns each line break and the space around it into a single space.
func OneLine(s string) string { return Printable(lineBreaks.ReplaceAllString(s, " ")) }

// FitWidth shortens a text to at most maxWidth characters, including the mark for what was left out.
func FitWidth(s string, maxWidth int) string {
	if utf8.RuneCountInString(s) <= maxWidth {
		return s
	}
	return jsonval.Clip(s, max(maxWidth-1, 0))
}

// Compact shows a value on one line: a text as it is, anything else as JSON.
func Compact(v any, maxWidth int) string {
	s, ok := v.(string)
	if !ok {
		s = jsonval.EncodeToString(v)
	}
	return FitWidth(Printable(s), maxWidth)
}

// AgoText says in words how long ago something was.
func AgoText(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if n := int(d / unit.of); n > 0 {
			return Plural(n, unit.name) + " ago"
		}
	}
	return "just now"
}

// IndentJSON shows a value as JSON on several lines, with numbers as they were written.
func IndentJSON(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, jsonval.Encode(v), "", "  "); err != nil {
		return jsonval.EncodeToString(v)
	}
	return strings.Map(replaceHarmful, b.String())
}

// WriteJSON writes a value as one line of JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// OneLineJSON formats a value as JSON on one line, cut to MaxValueWidth.
func OneLineJSON(v any) string { return FitWidth(Printable(jsonval.EncodeToString(v)), MaxValueWidth) }

// RangesText lists ascending numbers, and joins consecutive numbers: "2, 4 to 7".
func RangesText(numbers []int) string {
	var parts []string
	for start := 0; start < len(numbers); {
		end := start
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		text := strconv.Itoa(numbers[start])
		switch {
		case end == start+1:
			text += ", " + strconv.Itoa(numbers[end])
		case end > start:
			text += " to " + strconv.Itoa(numbers[end])
		}
		parts, start = append(parts, text), end+1
	}
	return FitWidth(strings.Join(parts, ", "), MaxValueWidth)
}

// ProgramName is the program's name. It begins the program's messages and the commands that they suggest. It is set
// before a verb begins and does not change afterwards.
var ProgramName = "starter"

// ShellQuote makes an argument safe to paste into a shell.
func ShellQuote(arg string) string {
	isShellSafe := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./=:,@%+", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !isShellSafe(r) }) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
