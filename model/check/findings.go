package check

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// finding is a Problem that may hold for some instances only.
type finding struct {
	diag.Problem
	affectedInstances       map[string]bool
	applicableInstanceCount int // how many instances it could hold for; 0: it does not depend on instances
}

func (c *checker) addError(path, format string, args ...any) {
	c.addFinding(diag.Problem{JSONPath: path, Message: fmt.Sprintf(format, args...)}, nil, 0)
}

func (c *checker) addWarning(path, format string, args ...any) {
	c.addFinding(diag.Problem{JSONPath: path, Message: fmt.Sprintf(format, args...), IsWarning: true}, nil, 0)
}

func (c *checker) addProblems(ps diag.Problems) {
	for _, p := range ps {
		c.addFinding(p, nil, 0)
	}
}

// addFinding adds a Problem, or adds instances to the same one found before.
func (c *checker) addFinding(p diag.Problem, affectedTokens []string, applicableInstanceCount int) {
	key := fmt.Sprintf("%s\x00%s\x00%v", p.JSONPath, p.Message, p.IsWarning)
	index, ok := c.findingIndexByKey[key]
	if !ok {
		index = len(c.findings)
		c.findingIndexByKey[key] = index
		c.findings = append(c.findings,
			finding{Problem: p, affectedInstances: map[string]bool{}, applicableInstanceCount: applicableInstanceCount})
	}
	for _, t := range affectedTokens {
		c.findings[index].affectedInstances[t] = true
	}
}

// problems returns the findings in file order. It names the affected instances if some that could be affected are not.
func (c *checker) problems() diag.Problems {
	var all, listed diag.Problems
	for _, f := range c.findings {
		if len(f.affectedInstances) < f.applicableInstanceCount {
			tokens := jsonval.Filter(c.instanceTokens, func(t string) bool { return f.affectedInstances[t] })
			f.Message += " (in " + diag.SummarizeNames(tokens) + ")"
		}
		all = append(all, f.Problem)
	}
	slices.SortFunc(all, func(a, b diag.Problem) int { return strings.Compare(a.Message, b.Message) })
	listed.Append(all.SortByPath()...)
	return listed
}
