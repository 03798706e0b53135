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

// maxPreambleBytes bounds the prose before a Markdown fence, in bytes.
const maxPreambleBytes = 4_000

// noJSONError means that a text contained no JSON object.
type noJSONError struct{ text string }

func (e noJSONError) Error() string {
	return fmt.Sprintf("it begins with %q", jsonval.Clip(e.text, 60))
}

// textFilter filters the text of a reply for the parser: it drops what LLMs write before the JSON object, and ends an
// endless text.
type textFilter struct {
	objectWriter      io.Writer
	isInObject        bool   // the object's first brace was found
	isInThoughts      bool   // inside thoughts whose beginning was seen
	hadThoughts       bool   // thoughts have come
	partialRune       []byte // the beginning of an incomplete character
	preamble          string // the part of the text before the object that is needed to find it
	longPreambleStart string // the beginning of a preamble too long to be kept; only an end of thoughts makes it valid
	byteCount         int    // seen so far
	blankRunLength    int    // white space in a row, in characters
}

// Write takes the next piece of the text.
func (f *textFilter) Write(text string) error {
	text, err := f.takeWholeCharacters(text)
	if err != nil {
		return err
	}
	f.byteCount += len(text)
	if f.byteCount > maxReplyBytes {
		return unboundedReplyError{fmt.Sprintf("more than %d MB", maxReplyBytes>>20)}
	}
	for _, r := range text {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			f.blankRunLength++
		} else {
			f.blankRunLength = 0
		}
	}
	if f.blankRunLength > maxBlankRunChars {
		return unboundedReplyError{"nothing but white space comes"}
	}
	if !f.isInObject {
		return f.skipPreamble(text)
	}
	_, err = io.WriteString(f.objectWriter, text)
	return err
}

// takeWholeCharacters returns the text up to its last complete character, preceded by what was left before. Some
// servers cut characters.
func (f *textFilter) takeWholeCharacters(text string) (string, error) {
	text = string(f.partialRune) + text
	end := len(text)
	for byteOffset := 1; byteOffset <= min(utf8.UTFMax-1, len(text)); byteOffset++ {
		if start := len(text) - byteOffset; utf8.RuneStart(text[start]) {
			if !utf8.FullRuneInString(text[start:]) {
				end = start
			}
			break
		}
	}
	f.partialRune = []byte(text[end:])
	if !utf8.ValidString(text[:end]) {
		return "", errNotUTF8
	}
	return text[:end], nil
}

var errNotUTF8 = errors.New("it holds bytes that are not UTF-8")

// hasOnlyThoughts reports whether only thoughts have come.
func (f *textFilter) hasOnlyThoughts() bool {
	return !f.isInObject && f.longPreambleStart == "" && (f.isInThoughts || f.hadThoughts &&
		strings.TrimSpace(f.preamble) == "")
}

// Close returns an error for a text that has ended before its object began.
func (f *textFilter) Close() error {
	if text := strings.TrimSpace(cmp.Or(f.longPreambleStart, f.preamble)); !f.isInObject && !f.isInThoughts &&
		text != "" {
		return noJSONError{text}
	}
	return nil
}

const (
	leadingSpaceChars = "\uFEFF \t\r\n"
	// maxThoughtBytes bounds thoughts that begin in the prompt, in bytes: until their end they look like prose.
	maxThoughtBytes = 1 << 20
	// maxThoughtsEndBytes is at least the length of any match of thoughtsEndPattern, in bytes.
	maxThoughtsEndBytes   = 200
	maxPreambleStartBytes = 200
)

var (
	// fencedObjectPattern finds an object that opens a Markdown code block.
	fencedObjectPattern = regexp.MustCompile("(?i)```[ \t]*(?:json[c5]?)?\\s*({)")
	// thoughtMarks are the marks at the beginning of thoughts. The templates of some LLMs put these marks into the
	// prompt.
	thoughtMarks = []string{"<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>", "[THINK]", "◁think▷",
		"<|channel|>", "<|channel>", "<|start|>", "<|START_THINKING|>", "<|inner_prefix|>"}
	// thoughtsEndPattern finds the end of thoughts, and with gpt-oss also the beginning of the reply: its channels,
	// with or without their marks.
	thoughtsEndPattern = regexp.MustCompile(`</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|◁/think▷|<channel\|>|` +
		`<\|END_THINKING\|>|<\|inner_suffix\|>|` +
		`<\|channel\|>\s*(?:final|commentary)\b[^{}]{0,100}?<\|message\|>|assistantfinal`)
	// answerMarks are the marks that GLM, Hunyuan, Granite and Command write between their thoughts and the reply.
	answerMarks = []string{"<|begin_of_box|>", "<answer>", "<response>", "<|START_RESPONSE|>"}
)

// skipPreamble drops text until the opening brace. The brace may follow white space, thoughts, and a Markdown fence
// with prose before the fence. A brace within prose does not count: it may be an example.
func (f *textFilter) skipPreamble(text string) error {
	f.preamble = strings.TrimLeft(f.preamble+text, leadingSpaceChars)
	if f.skipThoughts(); f.isInThoughts {
		return nil
	}
	braceIndex := -1
	if f.longPreambleStart != "" {
		if f.byteCount > maxThoughtBytes {
			return f.Close()
		}
	} else if strings.HasPrefix(f.preamble, "{") {
		braceIndex = 0
	} else if match := fencedObjectPattern.FindStringSubmatchIndex(f.preamble); match != nil {
		braceIndex = match[2]
	}
	if braceIndex < 0 {
		if len(f.preamble) > maxPreambleBytes {
			f.longPreambleStart = f.preamble[:maxPreambleStartBytes]
		}
		return nil
	}
	rest := f.preamble[braceIndex:]
	f.isInObject, f.preamble = true, ""
	_, err := io.WriteString(f.objectWriter, rest)
	return err
}

// skipThoughts drops ended thoughts. Of unended thoughts it keeps only what is needed to find their end.
func (f *textFilter) skipThoughts() {
	for {
		for _, mark := range answerMarks {
			if rest, isFound := strings.CutPrefix(f.preamble, mark); isFound && !f.isInThoughts &&
				f.longPreambleStart == "" {
				f.preamble = strings.TrimLeft(rest, leadingSpaceChars)
			}
		}
		for _, mark := range thoughtMarks {
			f.isInThoughts = f.isInThoughts || strings.HasPrefix(f.preamble, mark)
		}
		f.hadThoughts = f.hadThoughts || f.isInThoughts
		if strings.HasPrefix(f.preamble, "{") && !f.isInThoughts && f.longPreambleStart == "" {
			break
		}
		endMatch := thoughtsEndPattern.FindStringIndex(f.preamble)
		if endMatch == nil {
			break
		}
		f.isInThoughts, f.hadThoughts, f.longPreambleStart = false, true, ""
		f.preamble = strings.TrimLeft(f.preamble[endMatch[1]:], leadingSpaceChars)
	}
	if f.isInThoughts || f.longPreambleStart != "" {
		f.preamble = f.preamble[max(0, len(f.preamble)-maxThoughtsEndBytes):]
	}
}
