package spelling_test

import (
	"testing"

	"pgregory.net/rapid"

	"processidea/model/ideafile/spelling"
)

func TestOnlyTheIDOfAPartIsOne(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct {
		whole, without string
		number         int
	}{
		"p":                                    {"p", "p", 0},
		"p/13":                                 {"p/13", "p/13", 0},
		"p/~part/3":                            {"p", "p", 3},
		"p/~part/3/13":                         {"p/~part/3/13", "p/13", 0},
		"p/~part/3/~call/1.1@13":               {"p/~part/3/~call/1.1@13", "p/~call/1.1@13", 0},
		"p/~part/3/~call/1.1@13/~part/2":       {"p/~part/3/~call/1.1@13", "p/~call/1.1@13", 2},
		"p/~call/1.1@13/~part/2":               {"p/~call/1.1@13", "p/~call/1.1@13", 2},
		"p/~part/":                             {"p/~part/", "p/~part/", 0},
		"p/~part/x":                            {"p/~part/x", "p/~part/x", 0},
		"p/~part/03":                           {"p/~part/03", "p", 0},
		"p/~part/99999999999999999999999999~a": {"p/~part/99999999999999999999999999~a", "p~a", 0},
	} {
		whole, number, is := spelling.SplitPartID(id)
		if whole != want.whole || number != want.number || is != (number > 0) || is != spelling.IsPartID(id) ||
			spelling.WholeProcessID(id) != whole || spelling.ProcessIDWithoutParts(id) != want.without {
			t.Errorf("%s: %s, %d, %v, and without parts %s", id, whole, number, is, spelling.ProcessIDWithoutParts(id))
		}
	}
}

func TestThePartOfAnyProcessIsFoundByItsID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		process := rapid.StringMatching(`[a-c](/~part/[1-9]|/~call/[1-9]|[~/0-9])*`).Draw(t, "process")
		number := rapid.IntRange(1, 100000).Draw(t, "number")
		if whole, n, ok := spelling.SplitPartID(spelling.PartID(process, number)); whole != process || n != number ||
			!ok {
			t.Fatalf("%s, %d, %v", whole, n, ok)
		}
	})
}
