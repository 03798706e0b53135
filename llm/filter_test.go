package llm

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"processidea/internal/longrun"
)

// filtered sends a text through a textFilter in pieces of a size.
func filtered(text string, size int) (string, error) {
	var out strings.Builder
	f := &textFilter{objectWriter: &out}
	for text != "" {
		n := min(size, len(text))
		if err := f.Write(text[:n]); err != nil {
			return out.String(), err
		}
		text = text[n:]
	}
	return out.String(), f.Close()
}

// sizesFor are those of the sizes by which a text comes in at most 1,200 pieces, and in the long run all: with each piece
// the filter looks through the beginning again, which takes minutes under the race detector.
func sizesFor(text string, sizes ...int) []int {
	return slices.DeleteFunc(sizes, func(size int) bool { return !longrun.Enabled() && len(text)/size > 1200 })
}

func TestWhatLLMsPutBeforeAReplyIsTakenOff(t *testing.T) {
	t.Parallel()
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
		// The prompt's template has begun the thoughts.
		"Hm. {1} or\n{2}?\n</think>\n\n{6}": `{6}`, prose + prose + prose + "</think>{7}": `{7}`, "</think>{8}": `{8}`,
		// gpt-oss, with its marks and without.
		"<|channel|>analysis<|message|>{no}<|end|><|start|>assistant<|channel|>final " +
			"<|constrain|>json<|message|>{9}<|return|>": `{9}<|return|>`,
		"<|channel|>final<|message|>{10}":                        `{10}`,
		"analysisWe need {this}." + prose + "assistantfinal{11}": `{11}`,
		// Others' marks, and thoughts in several blocks.
		"[THINK]{no}[/THINK]{12}": `{12}`, "◁think▷{no}◁/think▷{13}": `{13}`, "<seed:think>{no}</seed:think>{14}": `{14}`,
		"<thought>{no}</thought>{15}": `{15}`, "<thinking>{no}</thinking>\n{16}": `{16}`,
		"<reasoning>{no}</reasoning>{17}":       `{17}`,
		"<|channel>thought\n{no}<channel|>{18}": `{18}`, "<think>{a}</think>\n<think>{b}</think>{19}": `{19}`,
		"<|start|>assistant<|channel|>commentary to=functions.solution <|constrain|>json<|message|>{20}<|call|>": `{20}<|call|>`,
		"<|channel|>commentary<|message|>I call {it}.<|end|><|start|>assistant<|channel|>final<|message|>{21}":   `{21}`,
		// Command and Apertus.
		"<|START_THINKING|>{no}<|END_THINKING|><|START_RESPONSE|>{26}<|END_RESPONSE|>": `{26}<|END_RESPONSE|>`,
		"I see {it}.<|END_THINKING|>\n<|START_RESPONSE|>```json\n{27}":                 `{27}`,
		"<|START_RESPONSE|>{28}":                                    `{28}`,
		"<|inner_prefix|>{no}<|inner_suffix|>{29}<|assistant_end|>": `{29}<|assistant_end|>`,
		// What stands around an answer, and not in thoughts about it.
		"<|begin_of_box|>{22}": `{22}`, "<think>{no}</think>\n<answer>\n{23}</answer>": `{23}</answer>`,
		"<response>{24}": `{24}`, "<think><answer>{no}</think>{25}": `{25}`,
		"": "", " \n ": "", "<think>and think {": "",
	} {
		for _, size := range sizesFor(text, 1, 3, 7, 10_000) {
			if got, err := filtered(text, size); err != nil || got != want {
				t.Errorf("%.60q by %d: %q, %v", text, size, got, err)
			}
		}
	}
}

// Filtered by single bytes, characters are cut, as some servers cut them.
func TestBytesThatAreNoTextAreNoReply(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{`{"ä": "😀€"}`: true, "{\"M\xfcller\"}": false, "{\"\xc3": true, "{\"\xc3\"}": false,
		"{\"\xed\xa0\x80\"}": false, "{\"\xf0\x9f\x98\"}": false} {
		for _, size := range []int{1, 2, 3, 100} {
			got, err := filtered(text, size)
			if errors.Is(err, errNotUTF8) == ok || ok && got != strings.TrimSuffix(text, "\xc3") {
				t.Errorf("%q by %d: %q, %v", text, size, got, err)
			}
		}
	}
}

func TestATextWithoutABeginningIsNoReply(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Sure! {}", "[{}]", "null", "I cannot: {\"calls\":[]}", "```python\n{}", "`{}`",
		strings.Repeat("So. ", 2000) + "```json\n{}"} {
		for _, size := range sizesFor(text, 1, 3, 100) {
			var noObject noJSONError
			if got, err := filtered(text, size); !errors.As(err, &noObject) || got != "" {
				t.Errorf("%.60q by %d: %q, %v", text, size, got, err)
			}
		}
	}
}

func TestAReplyWithoutEndIsEnded(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{"text": "{" + strings.Repeat("x", 999),
		"thoughts": "<think>" + strings.Repeat("x", 993)} {
		f := &textFilter{objectWriter: io.Discard}
		var endless unboundedReplyError
		var err error
		for i := 0; i < 2*maxReplyBytes/1000 && err == nil; i++ {
			err = f.Write(piece)
		}
		if !errors.As(err, &endless) || len(f.preamble) > 2000 {
			t.Errorf("%s: got %v, %d bytes kept", name, err, len(f.preamble))
		}
	}
}
