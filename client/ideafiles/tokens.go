package ideafiles

import (
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
)

// TokenLess orders instances: numbered ones by number, the others after them by name.
func TokenLess(a, b string) bool {
	n, numbered := spelling.TokenNumber(a)
	m, other := spelling.TokenNumber(b)
	if numbered && other && n != m {
		return n < m
	}
	if numbered != other {
		return numbered
	}
	return a < b
}

// namer names instances in order and leaves out the names that are taken.
type namer struct {
	taken spelling.TokenIndex
	last  int
}

func newNamer(idea *ideafile.Idea) *namer {
	n := &namer{}
	for _, t := range idea.InstanceTokens() {
		n.take(t)
	}
	return n
}

// take notes a name, and returns another one that it could be taken for; "" if there is none.
func (n *namer) take(name string) (alike string) { return n.taken.AddToken(name) }

func (n *namer) next() string {
	for {
		n.last++
		name := spelling.TokenForNumber(n.last)
		if _, taken := n.taken.FindToken(spelling.TypeableToken(name)); !taken {
			return name
		}
	}
}
