package diag

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// Problem is one thing that is wrong with a file, and where: a JSON path such as $.schema.tools.refund._approval.
type Problem struct {
	JSONPath string `json:"path"`
	Message  string `json:"message"`
	// IsWarning is true if the file will run, but probably not as it was meant to.
	IsWarning bool `json:"warning,omitempty"`
	// UnlistedCount is set in the last Problem of a list that was cut: how many errors, or warnings, are not listed.
	UnlistedCount int `json:"more,omitempty"`
}

// String returns the place and the message.
func (p Problem) String() string {
	if p.UnlistedCount > 0 {
		return p.Message
	}
	return p.JSONPath + ": " + p.Message
}

// MaxListedProblems is how many errors, and how many warnings, a list of Problems names. The others are counted.
const MaxListedProblems = 100

// Limits of a path and of a message, in characters: they contain keys and values of any length.
const (
	maxPathRunes    = 500
	maxMessageRunes = 4000
)

// Problems are the errors and warnings for a file, in the order of the file's parts. A file of millions of mistakes
// must not become millions of sentences: Add, Warn and Append keep MaxListedProblems of each kind and count the rest.
type Problems []Problem

// Error lists the problems, one in a line.
func (ps Problems) Error() string {
	return strings.Join(jsonval.Map(ps, Problem.String), "\n")
}

// Count returns the number of problems, including those that are not listed.
func (ps Problems) Count() int {
	n := 0
	for _, p := range ps {
		n += max(1, p.UnlistedCount)
	}
	return n
}

// Errors gives the problems that are not warnings.
func (ps Problems) Errors() Problems {
	return jsonval.Filter(ps, func(p Problem) bool { return !p.IsWarning })
}

// ErrorOrNil returns the errors without the warnings; nil if there are none.
func (ps Problems) ErrorOrNil() error {
	if errs := ps.Errors(); len(errs) > 0 {
		return errs
	}
	return nil
}

// Add appends an error at a JSON path. nil Problems keep nothing.
func (ps *Problems) Add(path, format string, args ...any) { ps.addf(false, path, format, args) }

// AddWrongType appends the error that a value is not of the wanted type.
func (ps *Problems) AddWrongType(path, wanted string, v any) {
	ps.Add(path, "%s, not %s", wanted, jsonval.TypeOf(v))
}

// AddAtKey is Add for the value at a key of the object at the path.
func (ps *Problems) AddAtKey(path, key, format string, args ...any) {
	ps.addf(false, jsonval.JSONPathWithKey(path, key), format, args)
}

// Warn appends a warning at a JSON path. nil Problems keep nothing.
func (ps *Problems) Warn(path, format string, args ...any) { ps.addf(true, path, format, args) }

func (ps *Problems) addf(isWarning bool, path, format string, args []any) {
	if ps == nil || !ps.countIfListIsFull(isWarning, 1) {
		return
	}
	message := jsonval.Clip(fmt.Sprintf(format, args...), maxMessageRunes)
	*ps = append(*ps, Problem{JSONPath: jsonval.Clip(path, maxPathRunes), Message: message, IsWarning: isWarning})
}

// Append appends Problems of another list.
func (ps *Problems) Append(problems ...Problem) {
	for _, p := range problems {
		if ps.countIfListIsFull(p.IsWarning, max(1, p.UnlistedCount)) {
			p.JSONPath, p.Message = jsonval.Clip(p.JSONPath, maxPathRunes), jsonval.Clip(p.Message, maxMessageRunes)
			*ps = append(*ps, p)
		}
	}
}

// AppendNew appends the Problems of another list that are not listed yet.
func (ps *Problems) AppendNew(problems ...Problem) {
	for _, p := range problems {
		if !slices.Contains(*ps, p) {
			ps.Append(p)
		}
	}
}

// countIfListIsFull counts n Problems that find no room in the list. If there is room for one more, it counts none and
// returns true.
func (ps *Problems) countIfListIsFull(isWarning bool, n int) (hasRoom bool) {
	listedCount := 0
	for i := len(*ps) - 1; i >= 0; i-- { // the last Problem of a full list counts the rest
		p := &(*ps)[i]
		if p.IsWarning != isWarning {
			continue
		}
		if p.UnlistedCount > 0 {
			p.UnlistedCount += n
			p.Message = AndMoreText(p.UnlistedCount)
			return false
		}
		listedCount++
	}
	if listedCount < MaxListedProblems {
		return true
	}
	*ps = append(*ps, Problem{JSONPath: "$", Message: AndMoreText(n), IsWarning: isWarning, UnlistedCount: n})
	return false
}

// AndMoreText describes the number of unlisted problems.
func AndMoreText(n int) string { return "and " + WithThousandsCommas(n) + " more" }

// WithThousandsCommas formats a number with commas between the thousands.
func WithThousandsCommas(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// SortByPath sorts the problems in place by their position in the file, errors before warnings, and returns them.
func (ps Problems) SortByPath() Problems {
	sort.SliceStable(ps, func(a, b int) bool {
		x, y := ps[a], ps[b]
		switch {
		case (x.UnlistedCount > 0) != (y.UnlistedCount > 0):
			return y.UnlistedCount > 0
		case x.JSONPath != y.JSONPath:
			return PathPrecedesInFile(x.JSONPath, y.JSONPath)
		}
		return !x.IsWarning && y.IsWarning
	})
	return ps
}

// PathPrecedesInFile reports whether the place at JSON path a precedes that at b: the schema before the context,
// indexes by value.
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
