package llm

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"processidea/model/jsonval"
)

// maxPreamble bounds the prose that may stand before a Markdown fence, in bytes.
const maxPreamble = 4_000

// errPreamble means that a text never came to a JSON object.
type errPreamble struct{ text string }

func (e errPreamble) Error() string {
	return fmt.Sprintf("it begins with %q", jsonval.Clip(e.text, 60))
}

// textFilter stands between the text of a reply and the parser: it drops what LLMs write before the JSON object, and ends a
// text that would not end by itself.
type textFilter struct {
	out      io.Writer
	begun    bool   // the object's first brace was found
	thinking bool   // inside <think>…</think>
	preamble string // what stands before the object, as far as it is needed to find it
	bytes    int    // seen so far
	blank    int    // white space in a row, in characters
}

// Write takes the next piece of the text.
func (f *textFilter) Write(text string) error {
	f.bytes += len(text)
	if f.bytes > maxReplyBytes {
		return errUnbounded{fmt.Sprintf("more than %d MB", maxReplyBytes>>20)}
	}
	for _, r := range text {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			f.blank++
		} else {
			f.blank = 0
		}
	}
	if f.blank > maxBlank {
		return errUnbounded{"nothing but white space comes"}
	}
	if !f.begun {
		return f.skipPreamble(text)
	}
	_, err := io.WriteString(f.out, text)
	return err
}

// Close returns what is wrong with a text that has ended before its object began.
func (f *textFilter) Close() error {
	if text := strings.TrimSpace(f.preamble); !f.begun && !f.thinking && text != "" {
		return errPreamble{text}
	}
	return nil
}

const (
	thinkOpen, thinkClose = "<think>", "</think>"
	leadingSpace          = "\uFEFF \t\r\n"
)

// fenced finds an object that opens a Markdown code block.
var fenced = regexp.MustCompile("(?i)```[ \t]*(?:json[c5]?)?\\s*({)")

// skipPreamble drops text until the opening brace. White space may stand before it, thoughts between their tags, and a
// Markdown fence with prose before the fence. A brace within prose does not count: it may be an example.
func (f *textFilter) skipPreamble(text string) error {
	f.preamble = strings.TrimLeft(f.preamble+text, leadingSpace)
	if f.thinking || strings.HasPrefix(f.preamble, thinkOpen) {
		end := strings.Index(f.preamble, thinkClose)
		f.thinking = end < 0
		if f.thinking {
			f.preamble = f.preamble[max(0, len(f.preamble)-len(thinkClose)):]
			return nil
		}
		f.preamble = strings.TrimLeft(f.preamble[end+len(thinkClose):], leadingSpace)
	}
	brace := -1
	if strings.HasPrefix(f.preamble, "{") {
		brace = 0
	} else if found := fenced.FindStringSubmatchIndex(f.preamble); found != nil {
		brace = found[2]
	}
	if brace < 0 {
		if len(f.preamble) > maxPreamble {
			return f.Close()
		}
		return nil
	}
	rest := f.preamble[brace:]
	f.begun, f.preamble = true, ""
	_, err := io.WriteString(f.out, rest)
	return err
}
