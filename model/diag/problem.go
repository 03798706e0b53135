package diag

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing that is wrong with a file, and where: a JSON path such as $.schema.tools.refund._approval.
type Problem struct {
	JSONPath string `json:"path"`
	Message  string `json:"message"`
	// IsWarning is true for what will run, but probably not as it was meant to.
	IsWarning bool `json:"warning,omitempty"`
}

// String gives the place and what is wrong there.
func (p Problem) String() string { return p.JSONPath + ": " + p.Message }

// Problems is everything that is wrong with a file, in the order of the file's parts.
type Problems []Problem

// Error lists the problems, one in a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Errors gives the problems that are not warnings.
func (ps Problems) Errors() Problems {
	var out Problems
	for _, p := range ps {
		if !p.IsWarning {
			out = append(out, p)
		}
	}
	return out
}

// Add appends an error at a JSON path. nil Problems keep nothing.
func (ps *Problems) Add(path, format string, args ...any) {
	if ps == nil {
		return
	}
	*ps = append(*ps, Problem{JSONPath: path, Message: fmt.Sprintf(format, args...)})
}

// Warn appends a warning at a JSON path. nil Problems keep nothing.
func (ps *Problems) Warn(path, format string, args ...any) {
	if ps == nil {
		return
	}
	*ps = append(*ps, Problem{JSONPath: path, Message: fmt.Sprintf(format, args...), IsWarning: true})
}

// SortedByPath sorts the problems in place by where they stand in the file, errors before warnings, and gives them.
func (ps Problems) SortedByPath() Problems {
	sort.SliceStable(ps, func(a, b int) bool {
		x, y := ps[a], ps[b]
		if x.JSONPath != y.JSONPath {
			return PathPrecedesInFile(x.JSONPath, y.JSONPath)
		}
		return !x.IsWarning && y.IsWarning
	})
	return ps
}

// PathPrecedesInFile reports whether the place at JSON path a stands before that at b: the schema before the context, indexes by
// value.
func PathPrecedesInFile(a, b string) bool {
	if x, y := isPathInContext(a), isPathInContext(b); x != y {
		return y
	}
	for a != "" && b != "" {
		x, y := leadingDigits(a), leadingDigits(b)
		switch {
		case x != y && x != "" && y != "":
			if len(x) != len(y) {
				return len(x) < len(y)
			}
			return x < y
		case a[0] != b[0]:
			return a[0] < b[0]
		}
		n := max(1, len(x))
		a, b = a[n:], b[n:]
	}
	return a == "" && b != ""
}

func isPathInContext(path string) bool { return strings.HasPrefix(path, "$.context") }

func leadingDigits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}
