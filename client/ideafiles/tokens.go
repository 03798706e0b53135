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
	place := func(token string) int {
		if n, numbered := spelling.TokenNumber(token); numbered {
			return n
		}
		return math.MaxInt
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}

// SortedTokens returns the keys, which are instance tokens, in their order.
func SortedTokens[T any](byToken map[string]T) []string {
	return slices.SortedFunc(maps.Keys(byToken), CompareTokens)
}

// namer names instances in order, except for names that are used already.
type namer struct {
	used         spelling.TokenIndex
	visibleNames ideafile.VisibleTokens
	last         int
}

func newNamer(idea *ideafile.Idea) *namer {
	n := &namer{}
	for _, t := range idea.InstanceTokens() {
		n.reserve(t)
		n.visibleNames.AddToken(t)
	}
	return n
}

// reserve marks a name as used, and returns an earlier name that looks like it; "" if there is none.
func (n *namer) reserve(name string) (alike string) { return n.used.AddToken(name) }

func (n *namer) nextToken() string {
	for {
		n.last++
		name := spelling.TokenForNumber(n.last)
		if _, taken := n.used.FindToken(spelling.TypeableToken(name)); !taken {
			return name
		}
	}
}
