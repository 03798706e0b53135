package rehearsal

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	cut := 3
	cases := map[string]Reply{
		`{"raw": "a"}`:                         {Content: "a"},
		`{"raw": ""}`:                          {},
		`{"solution": {"calls": []}}`:          {Content: `{"calls":[]}`},
		`{"raw": "a", "when": "b"}`:            {Content: "a", PromptSubstring: "b"},
		`{"raw": "a", "ttft_ms": 1.5}`:         {Content: "a", TTFT: 1500 * time.Microsecond},
		`{"raw": "a", "ttft_ms": 1.001}`:       {Content: "a", TTFT: 1001 * time.Microsecond},
		`{"raw": "a", "tps": 12.5}`:            {Content: "a", TPS: 12.5},
		`{"raw": "a", "tps": 0}`:               {Content: "a"},
		`{"raw": "a", "cut": 3}`:               {Content: "a", CutAfterChars: &cut},
		`{"refusal": "no"}`:                    {Refusal: "no"},
		`{"status": 500}`:                      {ErrorStatus: 500},
		`{"status": 429, "retry_after": 0.25}`: {ErrorStatus: 429, RetryAfter: 250 * time.Millisecond},
		`{"status": 500, "raw": "a"}`:          {ErrorStatus: 500, Content: "a"},
		`{"raw": "a", "solution": null, "tps": null, "cut": null, "finish_reason": null}`: {Content: "a"},
	}
	for line, want := range cases {
		want.FinishReason = "stop"
		if got := parse(t, line); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s is read as %+v, want %+v", line, got, want)
		}
	}
	if got := parse(t, `{"raw": "a", "finish_reason": "length"}`)[0].FinishReason; got != "length" {
		t.Errorf("finish reason %q", got)
	}
}

func TestBlankLinesAndLineEndsOfAnySystemAreIgnored(t *testing.T) {
	t.Parallel()
	got := parse(t, "\ufeff\n\r\n{\"raw\": \"a\"}\r\n \t \n{\"raw\": \"b\"}")
	if len(got) != 2 || got[0].Content != "a" || got[1].Content != "b" {
		t.Errorf("read %+v", got)
	}
	if got := parse(t, ""); len(got) != 0 {
		t.Errorf("an empty file is read as %+v", got)
	}
}

func TestEveryErrorOfAFileIsToldAtOnceWithItsLineAndKey(t *testing.T) {
	t.Parallel()
	got := parseError(t, string(read(t, "wrong.jsonl"))) + "\n"
	if *update {
		if err := os.WriteFile("testdata/wrong.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(read(t, "wrong.txt")); got != want {
		t.Errorf("the errors are\n%s\nwant\n%s", got, want)
	}
}

func TestDeepNestingIsAnErrorAndNoPanic(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1_000_000)
	for _, line := range []string{deep, `{"solution": {"calls": ` + deep + strings.Repeat("]", 1_000_000) + `}}`} {
		if got := parseError(t, line); !strings.HasPrefix(got, "rehearsal: parse line 1: not JSON: ") {
			t.Errorf("error %.200s", got)
		}
	}
}

func TestHugeNumbersInASolutionAreLeftToTheReader(t *testing.T) {
	t.Parallel()
	if got := parse(t, `{"solution": {"output": 1e10000000}}`)[0].Content; got != `{"output":1e10000000}` {
		t.Errorf("read as %s", got)
	}
}
