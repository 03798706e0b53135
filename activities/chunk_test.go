package activities

import "testing"

func TestTheTextOfAChunk(t *testing.T) {
	for said, want := range map[string]string{
		`"a\"\u00e4\ud83d\ude00\n"`: "a\"ä😀\n",
		"\"a\xff\xfeb\"":            "a\uFFFDb",
		`7`:                         "",
		`null`:                      "",
	} {
		var c chunk
		if err := c.UnmarshalJSON([]byte(`{"choices":[{"delta":{"content":` + said + `}}]}`)); err != nil {
			t.Fatal(err)
		}
		if got := c.choices[0].content; got != want {
			t.Errorf("%s is %q, want %q", said, got, want)
		}
	}
}
