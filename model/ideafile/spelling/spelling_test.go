package spelling_test

import (
	"testing"

	"pgregory.net/rapid"

	"processidea/model/ideafile/spelling"
)

func TestInstancesAreNumberedByCircledNumbersAndThenByPlainOnes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1: "①", 20: "⑳", 21: "㉑", 35: "㉟", 36: "㊱", 50: "㊿", 51: "51", 10000: "10000",
	} {
		if got := spelling.InstanceTokenForNumber(n); got != want {
			t.Errorf("instance %d is named %s, want %s", n, got, want)
		}
	}
}

func TestEveryNumberedTokenIsReadBackAsItsNumber(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 120; n++ {
		if got, ok := spelling.NumberOfInstanceToken(spelling.InstanceTokenForNumber(n)); !ok || got != n {
			t.Errorf("the name %s of instance %d is read as %d, %v", spelling.InstanceTokenForNumber(n), n, got, ok)
		}
	}
	if n, ok := spelling.NumberOfInstanceToken("order-7"); ok {
		t.Errorf("order-7 is read as the number %d", n)
	}
}

func TestATokenIsTypedInASCII(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"①": "1", "⑬": "13", "㊿": "50", "51": "51", "order-7_a.b": "order-7_a.b", "a b/c%": "a%20b%2Fc%25",
		"Müller": "M%C3%BCller", "①①": "%E2%91%A0%E2%91%A0",
		"a@b:c~": "a%40b%3Ac%7E",
	} {
		if got := spelling.TypeableInstanceToken(token); got != want {
			t.Errorf("%s is typed %s, want %s", token, got, want)
		}
	}
}

func TestBothSpellingsNameTheToken(t *testing.T) {
	t.Parallel()
	tokens := []string{"①", "a b", "⑬"}
	for word, want := range map[string]string{"①": "①", "1": "①", "13": "⑬", "a b": "a b", "a%20b": "a b", "2": "",
		"": "", "a": ""} {
		if got, ok := spelling.FindInstanceToken(tokens, word); got != want || ok != (want != "") {
			t.Errorf("%q names %q, %v", word, got, ok)
		}
		if got, ok := spelling.NewInstanceTokenIndex(tokens).FindToken(word); got != want || ok != (want != "") {
			t.Errorf("by the index %q names %q, %v", word, got, ok)
		}
	}
}

func TestTokensThatCouldBeTakenForEachOtherAreFound(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"①", "1"}, {"1", "①"}, {"a b", "a%20b"}, {"a%20b", "a b"}} {
		var x spelling.InstanceTokenIndex
		if first, second := x.AddToken(pair[0]), x.AddToken(pair[1]); first != "" || second != pair[0] {
			t.Errorf("%q: %q, %q", pair, first, second)
		}
	}
	var x spelling.InstanceTokenIndex
	for _, token := range []string{"①", "①", "11", "⑪a", "a b", "a-b"} {
		if alike := x.AddToken(token); alike != "" {
			t.Errorf("%s is taken for %s", token, alike)
		}
	}
}

func TestOfTokensThatAreToldApartNoSpellingNamesTwo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var x spelling.InstanceTokenIndex
		var taken []string
		for _, token := range rapid.SliceOf(rapid.StringMatching(`[①②1-3a%25 é/]{1,4}`)).Draw(t, "tokens") {
			if x.AddToken(token) == "" {
				taken = append(taken, token)
			}
		}
		for _, a := range taken {
			for _, b := range taken {
				if a != b && (spelling.MatchesInstanceToken(a, b) ||
					spelling.TypeableInstanceToken(a) == spelling.TypeableInstanceToken(b)) {
					t.Fatalf("%q and %q", a, b)
				}
			}
		}
	})
}
