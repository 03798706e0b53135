package rehearsal

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzWhatParseTakesIsWrittenAsLinesThatItTakesAlike(f *testing.F) {
	for _, file := range []string{"every_key.jsonl", "wrong.jsonl"} {
		f.Add(read(f, file))
		for line := range bytes.Lines(read(f, file)) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		replies, err := Parse(file)
		if err != nil {
			if replies != nil || !strings.HasPrefix(err.Error(), "rehearsal: parse line ") {
				t.Errorf("replies %+v, error %v", replies, err)
			}
			return
		}
		var lines [][]byte
		for _, reply := range replies {
			lines = append(lines, reply.Line())
			checkPieces(t, reply)
		}
		again, err := Parse(bytes.Join(lines, []byte("\n")))
		if err != nil || !reflect.DeepEqual(again, replies) {
			t.Errorf("error %v, read again as\n%+v, want\n%+v", err, again, replies)
		}
	})
}

// checkPieces holds the pieces of a reply together: they are whole characters, in order,
// and all that is said up to the cut.
func checkPieces(t *testing.T, reply Reply) {
	var solution strings.Builder
	chars := 0
	for _, p := range reply.splitIntoChunks(3) {
		if p.startOffset != chars || !utf8.ValidString(p.text) || p.text == "" {
			t.Errorf("piece %q after %d, said %d", p.text, p.startOffset, chars)
		}
		solution.WriteString(p.text)
		chars += utf8.RuneCountInString(p.text)
	}
	want := []rune(reply.Refusal + reply.Content)
	if reply.CutAfterChars != nil {
		want = want[:min(len(want), *reply.CutAfterChars)]
	}
	if solution.String() != string(want) {
		t.Errorf("pieces say %q, want %q", solution.String(), string(want))
	}
}
