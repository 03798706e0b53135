package llm

import (
	"testing"

	"github.com/valyala/fastjson"
)

func TestTheTextOfAChunk(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`"a\"\u00e4\ud83d\ude00\n"`: "a\"ä😀\n",
		"\"a\xff\xfeb\"":            "a\xff\xfeb", // the reader of the whole text refuses it
		`7`:                         "",
		`null`:                      "",
	} {
		v, err := fastjson.Parse(`{"choices":[{"delta":{"content":` + said + `}}]}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := newChunk(v, 0).choices[0].content; got != want {
			t.Errorf("%s is %q, want %q", said, got, want)
		}
	}
}
