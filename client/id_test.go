package client

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

func TestAnIDNamesOneProcess(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"refund-17", "a b", "v1.2", "%41"} {
		if err := ValidateProcessID(id); err != nil {
			t.Errorf("%q is refused: %v", id, err)
		}
	}
	for _, id := range []string{"", "a/b", ".", "..", "~part", "a\nb", " a", "\xff", "①", "größe",
		strings.Repeat("x", 201)} {
		if ValidateProcessID(id) == nil {
			t.Errorf("%q is taken", id)
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{"a", "a", "a/b", strings.Repeat("①", 300), "\xff", "~a", " ", "größe", "東京"} {
		id := NewProcessID(name)
		if err := ValidateProcessID(id); err != nil || seen[id] {
			t.Errorf("the id %q was made up: %v", id, err)
		}
		seen[id] = true
	}
}

func TestAnIDThatIsNotASCIIIsAnsweredWithOneThatIs(t *testing.T) {
	t.Parallel()
	if err := ValidateProcessID("Größe ①"); err == nil || !strings.Contains(err.Error(), `"Gro-e 1" would do`) {
		t.Error(err)
	}
}

func TestAProcessThatTakesBackHasAnIDOfTheOther(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 90)
	for id, want := range map[string]string{"p": "p-undo-1", "p/~call/0.1@1": "p~call~0.1@1-undo-1",
		"p/~part/2": "p~part~2-undo-1", long: ""} {
		got := nthUndoProcessID(id, 1)
		if err := ValidateProcessID(got); err != nil || want != "" && got != want {
			t.Errorf("%s, %v", got, err)
		}
	}
	if nthUndoProcessID(long, 1) == nthUndoProcessID(long[:89]+"b", 1) {
		t.Error("two processes are taken back as one")
	}
}

func TestWhatLooksLikeAReferenceIsTakenBackAsItIs(t *testing.T) {
	t.Parallel()
	given := map[string]any{"a": "†state.x", "b": []any{"††y", "z"}, "c": map[string]any{"d": "†`t`"}, "n": 1.5}
	back, err := refexpr.ResolveReferences(refexpr.EscapeDaggers(given),
		func(refexpr.Reference) (any, bool) { return "read", true })
	if err != nil || !jsonval.Equal(back, given) {
		t.Errorf("%v, %v", back, err)
	}
}
