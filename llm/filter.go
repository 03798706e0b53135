package llm

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"processidea/model/jsonval"
)

// maxPreamble bounds the prose before a Markdown fence, in bytes.
const maxPreamble = 4_000

// errPreamble means that a text had no JSON object.
type errPreamble struct{ text string }

func (e errPreamble) Error() string {
	return fmt.Sprintf("it begins with %q", jsonval.Clip(e.text, 60))
}

// textFilter filters the text of a reply for the parser: it drops what LLMs write before the JSON object, and ends a
// text that would not end by itself.
type textFilter struct {
	out      io.Writer
	begun    bool   // the object's first brace was found
	thinking bool   // inside thoughts whose beginning was seen
	preamble string // the text before the object, as far as it is needed to find it
	head     string // the beginning of a preamble too long to be kept; only an end of thoughts makes it valid
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

// Close returns an error for a text that has ended before its object began.
func (f *textFilter) Close() error {
	if text := strings.TrimSpace(cmp.Or(f.head, f.preamble)); !f.begun && !f.thinking && text != "" {
		return errPreamble{text}
	}
	return nil
}

const (
	leadingSpace = "\uFEFF \t\r\n"
	// maxThoughts bounds thoughts that begin in the prompt, in bytes: before their end they look like prose.
	maxThoughts = 1 << 20
	// maxMarkLength is at least as long as what thoughtsEnd finds, in bytes.
	maxMarkLength = 200
	headBytes     = 200
)

var (
	// fencedObject finds an object that opens a Markdown code block.
	fencedObject = regexp.MustCompile("(?i)```[ \t]*(?:json[c5]?)?\\s*({)")
	// thoughtsBegin are the marks at the beginning of thoughts. Templates of some LLMs put them into the prompt.
	thoughtsBegin = []string{"<think>", "<|channel|>", "<|start|>"}
	// thoughtsEnd finds what ends them, and with gpt-oss also what begins the reply: its channels, with or without
	// their marks.
	thoughtsEnd = regexp.MustCompile(`</think>|<\|channel\|>\s*final\b[^{}]{0,100}?<\|message\|>|assistantfinal`)
)

// skipPreamble drops text until the opening brace. The brace may follow white space, thoughts, and a Markdown fence
// with prose before the fence. A brace within prose does not count: it may be an example.
func (f *textFilter) skipPreamble(text string) error {
	f.preamble = strings.TrimLeft(f.preamble+text, leadingSpace)
	if f.skipThoughts(); f.thinking {
		return nil
	}
	brace := -1
	if f.head != "" {
		if f.bytes > maxThoughts {
			return f.Close()
		}
	} else if strings.HasPrefix(f.preamble, "{") {
		brace = 0
	} else if found := fencedObject.FindStringSubmatchIndex(f.preamble); found != nil {
		brace = found[2]
	}
	if brace < 0 {
		if len(f.preamble) > maxPreamble {
			f.head = f.preamble[:headBytes]
		}
		return nil
	}
	rest := f.preamble[brace:]
	f.begun, f.preamble = true, ""
	_, err := io.WriteString(f.out, rest)
	return err
}

// skipThoughts drops thoughts that have ended, and of others all that is not needed to find their end.
func (f *textFilter) skipThoughts() {
	for _, mark := range thoughtsBegin {
		f.thinking = f.thinking || strings.HasPrefix(f.preamble, mark)
	}
	if !strings.HasPrefix(f.preamble, "{") || f.thinking || f.head != "" {
		if end := thoughtsEnd.FindStringIndex(f.preamble); end != nil {
			f.thinking, f.head = false, ""
			f.preamble = strings.TrimLeft(f.preamble[end[1]:], leadingSpace)
		}
	}
	if f.thinking || f.head != "" {
		f.preamble = f.preamble[max(0, len(f.preamble)-maxMarkLength):]
	}
}
