package activities

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// guarded sends a text through a guard in pieces of a size.
func guarded(text string, size int) (string, error) {
	var out strings.Builder
	g := &guard{to: &out}
	for text != "" {
		n := min(size, len(text))
		if err := g.Write(text[:n]); err != nil {
			return out.String(), err
		}
		text = text[n:]
	}
	return out.String(), g.Close()
}

func TestWhatLLMsPutBeforeAReplyIsTakenOff(t *testing.T) {
	prose := strings.Repeat("So {to say}. ", 200)
	for text, want := range map[string]string{
		`{"calls":[]}`:                          `{"calls":[]}`,
		" \n{}":                                 `{}`,
		"\uFEFF{}":                              `{}`,
		"```json\n{}\n```":                      "{}\n```",
		"```{}":                                 `{}`,
		"~~~ ```JSON \r\n\t{}":                  `{}`,
		"Sure!\n\n```json\n{}\n```\nOk":         "{}\n```\nOk",
		"A `{}`, then\n```\n{1}":                `{1}`,
		"```python\nd = {}\n```\n```json5\n{2}": `{2}`,
		prose + "```json\n{}":                   `{}`,
		"<think>\n{}```json{}</think>{3}":       `{3}`,
		"<think>a</think>\nSo:\n```\n{4}":       `{4}`,
		"<think>" + prose + prose + prose + "</think>{5}": `{5}`,
		"": "", " \n ": "", "<think>and think {": "",
	} {
		for _, size := range []int{1, 3, 7, 10_000} {
			if got, err := guarded(text, size); err != nil || got != want {
				t.Errorf("%.60q by %d: %q, %v", text, size, got, err)
			}
		}
	}
}

func TestATextWithoutABeginningIsNoReply(t *testing.T) {
	for _, text := range []string{"Sure! {}", "[{}]", "null", "I cannot: {\"calls\":[]}", "```python\n{}", "</think>{}", "`{}`",
		strings.Repeat("So. ", 2000) + "```json\n{}"} {
		for _, size := range []int{1, 3, 100} {
			var form errForm
			if got, err := guarded(text, size); !errors.As(err, &form) || got != "" {
				t.Errorf("%.60q by %d: %q, %v", text, size, got, err)
			}
		}
	}
}

func TestAReplyWithoutEndIsEnded(t *testing.T) {
	for name, piece := range map[string]string{"text": "{" + strings.Repeat("x", 999), "thoughts": "<think>" + strings.Repeat("x", 993)} {
		g := &guard{to: io.Discard}
		var endless errEndless
		var err error
		for i := 0; i < 2*maxReplyBytes/1000 && err == nil; i++ {
			err = g.Write(piece)
		}
		if !errors.As(err, &endless) || len(g.lead) > 2000 {
			t.Errorf("%s: got %v, %d bytes kept", name, err, len(g.lead))
		}
	}
}
