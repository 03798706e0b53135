package refexpr

import (
	"fmt"
	"slices"

	"processidea/model/jsonval"
)

// The keys of a result with which an explicit activity names the branch that it took.
const (
	BranchKey = "_outputPath"
	ResultKey = "_result"
)

// SelectBranch reads what an explicit activity returned: {"_outputPath": branch, "_result": result} names the branch
// that it took, and anything else is a result for the first branch.
func (o OutputPath) SelectBranch(value any) (branchIndex int, result any, isNamed bool, err error) {
	m, ok := value.(jsonval.Object)
	branchName, isText := m[BranchKey].(string)
	result, hasResult := m[ResultKey]
	if !o.HasBranches() || !ok || !isText || !hasResult || len(m) != 2 {
		return 0, value, false, nil
	}
	path, err := ParseOutputPath(branchName)
	if err == nil && len(path) == 1 {
		branchIndex = slices.IndexFunc(o, func(b []jsonval.Path) bool { return isNamedBranch(b, path[0]) })
		if branchIndex >= 0 {
			return branchIndex, result, true, nil
		}
	}
	return 0, nil, true, fmt.Errorf("the result says that it goes to %q, which is no branch of %s",
		jsonval.ClipForError(branchName), o.ReferenceText())
}

// isNamedBranch reports whether namedPaths lists the paths of a branch, or one of them.
func isNamedBranch(branch, namedPaths []jsonval.Path) bool {
	if len(namedPaths) == 1 && len(branch) > 1 {
		return slices.ContainsFunc(branch, func(p jsonval.Path) bool { return slices.Equal(p, namedPaths[0]) })
	}
	return slices.EqualFunc(branch, namedPaths, slices.Equal[jsonval.Path])
}

// WrapResultForPath returns the result that causes a value to be written to a path. If there are branches, it names the
// path's branch.
func (o OutputPath) WrapResultForPath(p jsonval.Path, value any) any {
	if !o.HasBranches() {
		return value
	}
	for _, branch := range o {
		if slices.ContainsFunc(branch, func(q jsonval.Path) bool { return slices.Equal(q, p) }) {
			return jsonval.Object{BranchKey: OutputPath{branch}.ReferenceText(), ResultKey: value}
		}
	}
	return value
}
