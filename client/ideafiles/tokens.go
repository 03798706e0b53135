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

// CompareInstanceTokens orders instances: numbered ones by number, then the others by name.
func CompareInstanceTokens(a, b string) int {
	numberOf := func(token string) int {
		if n, numbered := spelling.NumberOfInstanceToken(token); numbered {
			return n
		}
		return math.MaxInt
	}
	return cmp.Or(cmp.Compare(numberOf(a), numberOf(b)), strings.Compare(a, b))
}

// SortedInstanceTokens returns the keys, which are instance tokens, in their order.
func SortedInstanceTokens[T any](byToken map[string]T) []string {
	return slices.SortedFunc(maps.Keys(byToken), CompareInstanceTokens)
}

// instanceTokenNamer names instances in order, except for names that are used already.
type instanceTokenNamer struct {
	usedTokens      spelling.InstanceTokenIndex
	visibleForms    ideafile.VisibleFormIndex
	lastTokenNumber int
}

func newInstanceTokenNamer(idea *ideafile.Idea) *instanceTokenNamer {
	n := &instanceTokenNamer{}
	for _, t := range idea.InstanceTokens() {
		n.reserve(t)
		n.visibleForms.AddToken(t)
	}
	return n
}

// reserve marks a name as used, and returns an earlier name that looks like it; "" if there is none.
func (n *instanceTokenNamer) reserve(name string) (lookalike string) {
	return n.usedTokens.AddToken(name)
}

func (n *instanceTokenNamer) nextToken() string {
	for {
		n.lastTokenNumber++
		name := spelling.InstanceTokenForNumber(n.lastTokenNumber)
		if _, isTaken := n.usedTokens.FindToken(spelling.TypeableInstanceToken(name)); !isTaken {
			return name
		}
	}
}
