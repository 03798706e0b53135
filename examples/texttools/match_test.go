package texttools

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"processidea/tools"
)

func TestWordsAreFoundWhereTheyStand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, params, want string }{
		{"each place, in the order of the text", `{"text":"Buy now, buy later","words":["buy","now"]}`,
			`{"count":3,"matches":[{"end":3,"start":0,"word":"buy"},{"end":7,"start":4,"word":"now"},{"end":12,"start":9,"word":"buy"}],"words":["buy","now"]}`},
		{"whole words alone unless said", `{"text":"assess class ass","words":["ass"]}`,
			`{"count":1,"matches":[{"end":16,"start":13,"word":"ass"}],"words":["ass"]}`},
		{"parts of words where said", `{"text":"assess","words":["ass"],"wholeWords":false}`,
			`{"count":1,"matches":[{"end":3,"start":0,"word":"ass"}],"words":["ass"]}`},
		{"a word within a phrase counts too", `{"text":"free money","words":["free money","money"]}`,
			`{"count":2,"matches":[{"end":10,"start":0,"word":"free money"},{"end":10,"start":5,"word":"money"}],"words":["free money","money"]}`},
		{"any case of any script", `{"text":"STRASSE Straße ΣΊΣΥΦΟΣ СПАМ","words":["straße","σίσυφος","спам"]}`,
			`{"count":4,"matches":[{"end":7,"start":0,"word":"straße"},{"end":14,"start":8,"word":"straße"},{"end":22,"start":15,"word":"σίσυφος"},{"end":27,"start":23,"word":"спам"}],"words":["straße","σίσυφος","спам"]}`},
		{"full width, ligatures and accents apart", `{"text":"ＳＰＡＭ ﬁne cafe\u0301","words":["spam","fine","café"]}`,
			`{"count":3,"matches":[{"end":4,"start":0,"word":"spam"},{"end":8,"start":5,"word":"fine"},{"end":14,"start":9,"word":"café"}],"words":["café","fine","spam"]}`},
		{"invisible characters hide nothing", `{"text":"s\u200bp\u00ada\u2060m","words":["spam"]}`,
			`{"count":1,"matches":[{"end":7,"start":0,"word":"spam"}],"words":["spam"]}`},
		{"white space is white space", `{"text":"free \n\u00a0 money","words":[" free  money "]}`,
			`{"count":1,"matches":[{"end":13,"start":0,"word":" free  money "}],"words":[" free  money "]}`},
		{"scripts without spaces", `{"text":"点击免费领取奖品","words":["免费","奖品"]}`,
			`{"count":2,"matches":[{"end":4,"start":2,"word":"免费"},{"end":8,"start":6,"word":"奖品"}],"words":["免费","奖品"]}`},
		{"a word before its particle", `{"text":"스팸을 보내다","words":["스팸"]}`,
			`{"count":1,"matches":[{"end":2,"start":0,"word":"스팸"}],"words":["스팸"]}`},
		{"Latin within Chinese", `{"text":"加VX号 VXX","words":["vx"]}`,
			`{"count":1,"matches":[{"end":3,"start":1,"word":"vx"}],"words":["vx"]}`},
		{"signs are no letters", `{"text":"C++, $$$! a_b","words":["c++","$$$","b"]}`,
			`{"count":2,"matches":[{"end":3,"start":0,"word":"c++"},{"end":8,"start":5,"word":"$$$"}],"words":["$$$","c++"]}`},
		{"characters beyond the first plane", `{"text":"😀 spam 😀","words":["spam","😀"]}`,
			`{"count":3,"matches":[{"end":1,"start":0,"word":"😀"},{"end":6,"start":2,"word":"spam"},{"end":8,"start":7,"word":"😀"}],"words":["spam","😀"]}`},
		{"a word given twice is one", `{"text":"spam","words":["Spam","spam","SPAM"]}`,
			`{"count":1,"matches":[{"end":4,"start":0,"word":"Spam"}],"words":["Spam"]}`},
		{"nothing to look for", `{"text":"spam","words":["","\u200b"," "]}`, `{"count":0,"matches":[],"words":[]}`},
		{"nothing to look in", `{"text":"","words":["a"]}`, `{"count":0,"matches":[],"words":[]}`},
	} {
		if got, err := call(t, "matchWords", row.params); err != nil || got != row.want {
			t.Errorf("%s: %s, %v, want %s", row.name, got, err, row.want)
		}
	}
}

func TestAllPlacesAreCountedAndTheFirstThousandListed(t *testing.T) {
	t.Parallel()
	result, err := matchWords(bg, matchWordsParams{Text: strings.Repeat("spam ", 5000), Words: []string{"spam"}})
	if err != nil || result.MatchCount != 5000 || len(result.Matches) != maxListedMatches ||
		result.Matches[999].Start != 999*5 {
		t.Errorf("%d, %d, %v", result.MatchCount, len(result.Matches), err)
	}
}

func TestASearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := matchWords(ctx,
		matchWordsParams{Text: strings.Repeat("a ", 9000), Words: []string{"a"}}); err == nil || tools.IsFinal(err) {
		t.Errorf("%v", err)
	}
}

func TestManyWordsFindWhatLookingForEachFinds(t *testing.T) {
	t.Parallel()
	letters := rapid.SliceOfN(rapid.SampledFrom([]rune("ab界 ")), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		text := string(letters.Draw(t, "text"))
		var words []string
		for _, w := range rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]rune("ab界")), 1, 4), 1,
			8).Draw(t, "words") {
			words = append(words, string(w))
		}
		no := false
		got, err := matchWords(bg, matchWordsParams{Text: text, Words: words, OnlyWholeWords: &no})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		runes := []rune(text)
		for _, word := range words {
			for i := range runes {
				if strings.HasPrefix(string(runes[i:]), word) {
					want[fmt.Sprint(word, i, i+len([]rune(word)))] = true
				}
			}
		}
		for _, m := range got.Matches {
			if !want[fmt.Sprint(m.Word, m.Start, m.End)] {
				t.Fatalf("%q in %q: %+v is not there", m.Word, text, m)
			}
		}
		if got.MatchCount != len(want) || len(got.Matches) != len(want) {
			t.Fatalf("%q in %q: %+v, want %v", words, text, got.Matches, want)
		}
	})
}

func TestFoldingKnowsWhereEachByteCameFrom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		f := foldText(s)
		n := int32(len([]rune(s)))
		if len(f.text) != len(f.sourceStarts) || len(f.text) != len(f.sourceEnds) {
			t.Fatal("a byte without a place")
		}
		for i := range f.text {
			if f.sourceStarts[i] >= f.sourceEnds[i] || f.sourceEnds[i] > n || (i > 0 && f.sourceStarts[i] < f.sourceStarts[i-1]) {
				t.Fatalf("%q: byte %d is of %d to %d", s, i, f.sourceStarts[i], f.sourceEnds[i])
			}
		}
		if again := foldText(string(f.text)); string(again.text) != string(f.text) {
			t.Fatalf("%q folds to %q and then to %q", s, f.text, again.text)
		}
		clean, _ := removeInvisible(s)
		if folded := foldText(cases.Fold().String(norm.NFKC.String(clean))); string(folded.text) != string(f.text) {
			t.Fatalf("%q folds to %q, in one case to %q", s, f.text, folded.text)
		}
	})
}

func BenchmarkMatchWords(b *testing.B) {
	var words []string
	for i := range 1000 {
		words = append(words, fmt.Sprint("word", i))
	}
	text := strings.Repeat("the quick brown fox jumps over word7 and the lazy dog ", 20)
	for b.Loop() {
		if _, err := matchWords(bg, matchWordsParams{Text: text, Words: words}); err != nil {
			b.Fatal(err)
		}
	}
}
