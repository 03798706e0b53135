package llm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"processidea/model/jsonval"
)

// maxPreamble bounds the prose before a Markdown fence, in bytes.
const maxPreamble = 4_000

// noJSONError means that a text contained no JSON object.
type noJSONError struct{ text string }

func (e noJSONError) Error() string {
	return fmt.Sprintf("it begins with %q", jsonval.Clip(e.text, 60))
}

// textFilter filters the text of a reply for the parser: it drops what LLMs write before the JSON object, and ends an
// endless text.
type textFilter struct {
	out      io.Writer
	begun    bool   // the object's first brace was found
	thinking bool   // inside thoughts whose beginning was seen
	thought  bool   // thoughts have come
	cut      []byte // the beginning of an incomplete character
	preamble string // the part of the text before the object that is needed to find it
	head     string // the beginning of a preamble too long to be kept; only an end of thoughts makes it valid
	bytes    int    // seen so far
	blank    int    // white space in a row, in characters
}

// Write takes the next piece of the text.
func (f *textFilter) Write(text string) error {
	text, err := f.wholeCharacters(text)
	if err != nil {
		return err
	}
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
	_, err = io.WriteString(f.out, text)
	return err
}

// wholeCharacters returns the text up to its last complete character, preceded by what was left before. Some servers
// cut characters.
func (f *textFilter) wholeCharacters(text string) (string, error) {
	text = string(f.cut) + text
	end := len(text)
	for back := 1; back <= min(utf8.UTFMax-1, len(text)); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRuneInString(text[at:]) {
				end = at
			}
			break
		}
	}
	f.cut = []byte(text[end:])
	if !utf8.ValidString(text[:end]) {
		return "", errNotUTF8
	}
	return text[:end], nil
}

var errNotUTF8 = errors.New("it holds bytes that are not UTF-8")

// onlyThoughts reports whether only thoughts have come.
func (f *textFilter) onlyThoughts() bool {
	return !f.begun && f.head == "" && (f.thinking || f.thought && strings.TrimSpace(f.preamble) == "")
}

// Close returns an error for a text that has ended before its object began.
func (f *textFilter) Close() error {
	if text := strings.TrimSpace(cmp.Or(f.head, f.preamble)); !f.begun && !f.thinking && text != "" {
		return noJSONError{text}
	}
	return nil
}

const (
	leadingSpace = "\uFEFF \t\r\n"
	// maxThoughts bounds thoughts that begin in the prompt, in bytes: until their end they look like prose.
	maxThoughts = 1 << 20
	// maxMarkLength is at least the length of any match of thoughtsEnd, in bytes.
	maxMarkLength = 200
	headBytes     = 200
)

var (
	// fencedObject finds an object that opens a Markdown code block.
	fencedObject = regexp.MustCompile("(?i)```[ \t]*(?:json[c5]?)?\\s*({)")
	// thoughtsBegin are the marks at the beginning of thoughts. The templates of some LLMs put these marks into the
	// prompt.
	thoughtsBegin = []string{"<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>", "[THINK]", "◁think▷",
		"<|channel|>", "<|channel>", "<|start|>", "<|START_THINKING|>", "<|inner_prefix|>"}
	// thoughtsEnd finds the end of thoughts, and with gpt-oss also the beginning of the reply: its channels, with or
	// without their marks.
	thoughtsEnd = regexp.MustCompile(`</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|◁/think▷|<channel\|>|` +
		`<\|END_THINKING\|>|<\|inner_suffix\|>|` +
		`<\|channel\|>\s*(?:final|commentary)\b[^{}]{0,100}?<\|message\|>|assistantfinal`)
	// answerMarks are the marks that GLM, Hunyuan, Granite and Command write between their thoughts and the reply.
	answerMarks = []string{"<|begin_of_box|>", "<answer>", "<response>", "<|START_RESPONSE|>"}
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

// skipThoughts drops ended thoughts. Of unended thoughts it keeps only what is needed to find their end.
func (f *textFilter) skipThoughts() {
	for {
		for _, mark := range answerMarks {
			if rest, found := strings.CutPrefix(f.preamble, mark); found && !f.thinking && f.head == "" {
				f.preamble = strings.TrimLeft(rest, leadingSpace)
			}
		}
		for _, mark := range thoughtsBegin {
			f.thinking = f.thinking || strings.HasPrefix(f.preamble, mark)
		}
		f.thought = f.thought || f.thinking
		if strings.HasPrefix(f.preamble, "{") && !f.thinking && f.head == "" {
			break
		}
		end := thoughtsEnd.FindStringIndex(f.preamble)
		if end == nil {
			break
		}
		f.thinking, f.thought, f.head = false, true, ""
		f.preamble = strings.TrimLeft(f.preamble[end[1]:], leadingSpace)
	}
	if f.thinking || f.head != "" {
		f.preamble = f.preamble[max(0, len(f.preamble)-maxMarkLength):]
	}
}
