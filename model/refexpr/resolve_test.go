package refexpr_test

import (
	"errors"
	"strings"
	"testing"

	"processidea/model/refexpr"
)

func TestReferencesThatMultiplyAValueAreRefused(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 60<<10)
	looked := 0
	lookup := func(refexpr.Reference) (any, bool) { looked++; return map[string]any{"deep": []any{text}}, true }
	many := make([]any, 10_000)
	for n := range many {
		many[n] = "†state.text"
	}
	_, err := refexpr.ResolveReferences(map[string]any{"list": many}, lookup)
	if !errors.Is(err, refexpr.ErrResolvedTooLarge) || looked > 1000 {
		t.Errorf("got %v after %d values", err, looked)
	}
	texts := make([]any, 10)
	for n := range texts {
		texts[n] = "†`" + strings.Repeat("${state.text}", 100) + "`"
	}
	if _, err := refexpr.ResolveReferences(texts, lookup); !errors.Is(err, refexpr.ErrResolvedTooLarge) {
		t.Errorf("a thousand values in ten texts: %v", err)
	}
	if _, err := refexpr.ResolveReferences(many[:100], lookup); err != nil {
		t.Errorf("6 MB: %v", err)
	}
}
