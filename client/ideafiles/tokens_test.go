package ideafiles

import (
	"testing"

	"processidea/model/ideafile"
)

func ideaOf(t *testing.T, text string) *ideafile.Idea {
	t.Helper()
	idea, problems := ideafile.ParseIdea([]byte(text))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	return idea
}

func TestInstancesAreNamedByCircledNumbersAndThenByPlainOnes(t *testing.T) {
	for n, want := range map[int]string{
		1: "①", 20: "⑳", 21: "㉑", 35: "㉟", 36: "㊱", 50: "㊿", 51: "51", 10000: "10000",
	} {
		if got := TokenName(n); got != want {
			t.Errorf("instance %d is named %s, want %s", n, got, want)
		}
	}
}

func TestEveryNameIsReadBackAsItsNumber(t *testing.T) {
	for n := 1; n <= 120; n++ {
		if got, ok := TokenNumber(TokenName(n)); !ok || got != n {
			t.Errorf("the name %s of instance %d is read as %d, %v", TokenName(n), n, got, ok)
		}
	}
	if n, ok := TokenNumber("order-7"); ok {
		t.Errorf("order-7 is read as the number %d", n)
	}
}

func TestNamesThatTheFileHasTakenAreLeftOut(t *testing.T) {
	names := newNamer(ideaOf(t, `{"context":[{"type":"state","_instance":"②","a":1},{"type":"state","_instance":"x","a":1}]}`))
	for _, want := range []string{"①", "③", "④"} {
		if got := names.next(); got != want {
			t.Errorf("the next name is %s, want %s", got, want)
		}
	}
}

func TestInstancesStandInTheOrderOfTheirNumbers(t *testing.T) {
	in := []string{"①", "⑳", "㉑", "㊿", "51", "100", "a", "b"}
	for i := range in {
		for j := range in {
			if got := TokenLess(in[i], in[j]); got != (i < j) {
				t.Errorf("%s stands before %s: %v", in[i], in[j], got)
			}
		}
	}
}
