package client

import (
	"strings"
	"testing"
)

func TestAnIDNamesOneProcess(t *testing.T) {
	for _, id := range []string{"refund-17", "a b", "v1.2", "%41"} {
		if err := ValidateID(id); err != nil {
			t.Errorf("%q is refused: %v", id, err)
		}
	}
	for _, id := range []string{"", "a/b", ".", "..", "~part", "a\nb", " a", "\xff", "①", "größe",
		strings.Repeat("x", 201)} {
		if ValidateID(id) == nil {
			t.Errorf("%q is taken", id)
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{"a", "a", "a/b", strings.Repeat("①", 300), "\xff", "~a", " ", "größe", "東京"} {
		id := NewID(name)
		if err := ValidateID(id); err != nil || seen[id] {
			t.Errorf("the id %q was made up: %v", id, err)
		}
		seen[id] = true
	}
}

func TestAnIDThatIsNotASCIIIsAnsweredWithOneThatIs(t *testing.T) {
	if err := ValidateID("Größe ①"); err == nil || !strings.Contains(err.Error(), `"Gro-e 1" would do`) {
		t.Error(err)
	}
}
