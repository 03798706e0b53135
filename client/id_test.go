package client

import (
	"strings"
	"testing"
)

func TestAnIDNamesOneProcess(t *testing.T) {
	for _, id := range []string{"refund-17", "a b", "①", "v1.2", "%41"} {
		if err := ValidateID(id); err != nil {
			t.Errorf("%q is refused: %v", id, err)
		}
	}
	for _, id := range []string{"", "a/b", ".", "..", "~part", "a\nb", " a", "\xff", strings.Repeat("x", 201)} {
		if ValidateID(id) == nil {
			t.Errorf("%q is taken", id)
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{"a", "a", "a/b", strings.Repeat("①", 300), "\xff"} {
		id := NewID(name)
		if err := ValidateID(id); err != nil || seen[id] {
			t.Errorf("the id %q was made up: %v", id, err)
		}
		seen[id] = true
	}
}
