package check

import (
	"fmt"
	"sort"

	"processidea/model/diag"
)

// finding is a Problem that may hold for some instances only.
type finding struct {
	diag.Problem
	instances  map[string]bool
	applicable int // how many instances it could hold for; 0: it does not depend on instances
}

func (c *checker) addError(path, format string, args ...any) {
	c.addFinding(diag.Problem{Path: path, Message: fmt.Sprintf(format, args...)}, nil, 0)
}

func (c *checker) addWarning(path, format string, args ...any) {
	c.addFinding(diag.Problem{Path: path, Message: fmt.Sprintf(format, args...), Warning: true}, nil, 0)
}

// addFinding adds a Problem, or adds instances to the same one found before.
func (c *checker) addFinding(p diag.Problem, tokens []string, applicable int) {
	key := fmt.Sprintf("%s\x00%s\x00%v", p.Path, p.Message, p.Warning)
	index, ok := c.findingIndex[key]
	if !ok {
		index = len(c.findings)
		c.findingIndex[key] = index
		c.findings = append(c.findings, finding{Problem: p, instances: map[string]bool{}, applicable: applicable})
	}
	for _, t := range tokens {
		c.findings[index].instances[t] = true
	}
}

// problems returns the findings in file order, and names the instances where not all that could be are affected.
func (c *checker) problems() diag.Problems {
	sort.SliceStable(c.findings, func(a, b int) bool {
		x, y := c.findings[a], c.findings[b]
		if x.Path != y.Path {
			return diag.PlaceBefore(x.Path, y.Path)
		}
		if x.Warning != y.Warning {
			return y.Warning
		}
		return x.Message < y.Message
	})
	var out diag.Problems
	for _, f := range c.findings {
		if len(f.instances) < f.applicable {
			f.Message += " (in " + diag.SomeOf(c.tokensInFileOrder(f.instances)) + ")"
		}
		out = append(out, f.Problem)
	}
	return out
}

func (c *checker) tokensInFileOrder(tokens map[string]bool) []string {
	var out []string
	for _, t := range c.tokens {
		if tokens[t] {
			out = append(out, t)
		}
	}
	return out
}
