package ideafiles

import (
	"strconv"

	"processidea/model/ideafile"
)

// circled holds the ranges of circled numbers: ① … ⑳, ㉑ … ㉟, ㊱ … ㊿.
var circled = []struct {
	from, to int
	first    rune
}{{1, 20, '①'}, {21, 35, '㉑'}, {36, 50, '㊱'}}

// TokenName names the nth instance, from 1: ① … ㊿, then 51, 52, …
func TokenName(n int) string {
	for _, c := range circled {
		if n >= c.from && n <= c.to {
			return string(c.first + rune(n-c.from))
		}
	}
	return strconv.Itoa(n)
}

// TokenNumber is the number of an instance that TokenName named; ok is false for any other token.
func TokenNumber(token string) (n int, ok bool) {
	r := []rune(token)
	if len(r) == 1 {
		for _, c := range circled {
			if d := int(r[0] - c.first); d >= 0 && d <= c.to-c.from {
				return c.from + d, true
			}
		}
	}
	n, err := strconv.Atoi(token)
	return n, err == nil
}

// TokenLess orders instances: numbered ones by number, the others after them by name.
func TokenLess(a, b string) bool {
	n, numbered := TokenNumber(a)
	m, other := TokenNumber(b)
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
	taken map[string]bool
	last  int
}

func newNamer(idea *ideafile.Idea) *namer {
	n := &namer{taken: map[string]bool{}}
	for _, token := range idea.InstanceTokens() {
		n.taken[token] = true
	}
	return n
}

func (n *namer) next() string {
	for {
		n.last++
		if name := TokenName(n.last); !n.taken[name] {
			return name
		}
	}
}
