package diag

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing that is wrong, with its place as a JSON path such as $.schema.tools.refund._approval.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	// Warning marks what will run, but probably not as meant.
	Warning bool `json:"warning,omitempty"`
}

// String gives the place and what is wrong there.
func (p Problem) String() string { return p.Path + ": " + p.Message }

// Problems is all that is wrong with a file, in the order of the file's parts.
type Problems []Problem

// Error lists every problem, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Errors is the problems that are more than warnings.
func (ps Problems) Errors() Problems {
	var out Problems
	for _, p := range ps {
		if !p.Warning {
			out = append(out, p)
		}
	}
	return out
}

func (ps *Problems) Add(path, format string, args ...any) {
	*ps = append(*ps, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (ps *Problems) Warn(path, format string, args ...any) {
	*ps = append(*ps, Problem{Path: path, Message: fmt.Sprintf(format, args...), Warning: true})
}

// InOrder gives the problems by their places in the file: the schema before the context, numbers by value, errors first.
func (ps Problems) InOrder() Problems {
	sort.SliceStable(ps, func(a, b int) bool {
		x, y := ps[a], ps[b]
		if x.Path != y.Path {
			return PlaceBefore(x.Path, y.Path)
		}
		return !x.Warning && y.Warning
	})
	return ps
}
