package ideafiles

import (
	"cmp"
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

func TestNamesThatTheFileHasTakenAreLeftOut(t *testing.T) {
	t.Parallel()
	names := newInstanceTokenNamer(ideaOf(t,
		`{"context":[{"type":"state","_instance":"②","a":1},{"type":"state","_instance":"x","a":1},{"type":"state","_instance":"4","a":1}]}`))
	for _, want := range []string{"①", "③", "⑤"} { // 4 is how ④ is typed
		if got := names.nextToken(); got != want {
			t.Errorf("the next name is %s, want %s", got, want)
		}
	}
}

func TestInstancesStandInTheOrderOfTheirNumbers(t *testing.T) {
	t.Parallel()
	in := []string{"①", "⑳", "㉑", "㊿", "51", "100", "a", "b"}
	for i := range in {
		for j := range in {
			if got := CompareInstanceTokens(in[i], in[j]); got != cmp.Compare(i, j) {
				t.Errorf("%s stands before %s: %v", in[i], in[j], got)
			}
		}
	}
}
