package ideafiles

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
)

// CompareTokens orders instances: numbered ones by number, then the others by name.
func CompareTokens(a, b string) int {
	numberOf := func(token string) int {
		if n, numbered := spelling.TokenNumber(token); numbered {
			return n
		}
		return math.MaxInt
	}
	return cmp.Or(cmp.Compare(numberOf(a), numberOf(b)), strings.Compare(a, b))
}

// SortedTokens returns the keys, which are instance tokens, in their order.
func SortedTokens[T any](byToken map[string]T) []string {
	return slices.SortedFunc(maps.Keys(byToken), CompareTokens)
}

// tokenNamer names instances in order, except for names that are used already.
type tokenNamer struct {
	usedTokens   spelling.TokenIndex
	visibleForms ideafile.VisibleFormIndex
	lastNumber   int
}

func newTokenNamer(idea *ideafile.Idea) *tokenNamer {
	n := &tokenNamer{}
	for _, t := range idea.InstanceTokens() {
		n.reserve(t)
		n.visibleForms.AddToken(t)
	}
	return n
}

// reserve marks a name as used, and returns an earlier name that looks like it; "" if there is none.
func (n *tokenNamer) reserve(name string) (lookalike string) { return n.usedTokens.AddToken(name) }

func (n *tokenNamer) nextToken() string {
	for {
		n.lastNumber++
		name := spelling.TokenForNumber(n.lastNumber)
		if _, isTaken := n.usedTokens.FindToken(spelling.TypeableToken(name)); !isTaken {
			return name
		}
	}
}
