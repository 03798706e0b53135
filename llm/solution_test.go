package llm

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestACallIsHandedOnAtTheByteThatClosesIt(t *testing.T) {
	t.Parallel()
	text := `{"calls": [{"a": "}]\"{"}, {"b": {"c": [1, {}]}}], "output": null}`
	pr, pw := io.Pipe()
	heard := make(chan string)
	go func() {
		_, _ = readSolution(pr, func(_ int, raw json.RawMessage) { heard <- string(raw) })
		close(heard)
	}()
	for _, step := range []struct{ send, want string }{
		{`{"calls": [{"a": "}]\"{"}`, `{"a": "}]\"{"}`},
		{`, {"b": {"c": [1, {}]}}`, `{"b": {"c": [1, {}]}}`},
	} {
		if _, err := io.WriteString(pw, step.send); err != nil {
			t.Fatal(err)
		}
		if got := <-heard; got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
		text = strings.TrimPrefix(text, step.send)
	}
	_, _ = io.WriteString(pw, text)
	if extra, more := <-heard; more {
		t.Errorf("one more: %s", extra)
	}
}

func TestWhatIsNoSolutionIsToldApartFromWhatIsCutOff(t *testing.T) {
	t.Parallel()
	whole := `{"output": {"n": 1}, "calls": [{"x": 1}, {"y": [2]}], "finished": false, "notes": "x is done"}`
	for n := range whole {
		_, err := readSolution(iotest.OneByteReader(strings.NewReader(whole[:n])), func(int, json.RawMessage) {})
		if !errors.Is(err, errTruncated) {
			t.Errorf("%q: %v", whole[:n], err)
		}
	}
	for _, text := range []string{`[]`, `{"calls": {}}`, `{"calls": [}`, `{"calls": [], "calls": []}`, `{"plan": []}`,
		`{"output": null}`, `{"calls": 1x`, `{"calls": [], "notes": 1}`} {
		if _, err := readSolution(strings.NewReader(text), func(int, json.RawMessage) {}); err == nil ||
			errors.Is(err, errTruncated) {
			t.Errorf("%s: %v", text, err)
		}
	}
	s, err := readSolution(strings.NewReader(whole), func(int, json.RawMessage) {})
	if err != nil || s.callCount != 2 || string(s.output) != `{"n": 1}` || s.notes != "x is done" || *s.isFinished {
		t.Errorf("%+v, %v", s, err)
	}
}
