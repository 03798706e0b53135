package refexpr

import (
	"encoding/json"
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// stateKind is the kind of References that read and write State.
const StateKind = "state"

// OutputPath is where in State a Call's result goes: branches, joined by ||, of which one is taken, each a list of paths,
// joined by &&, that are all written. Mostly it is one path; empty, the Call is run for its effect.
type OutputPath [][]jsonval.Path

// one is the OutputPath of a single path.
func SinglePath(p jsonval.Path) OutputPath { return OutputPath{{p}} }

// The keys of a result by which an explicit activity says which branch it took.
const (
	BranchKey = "_outputPath"
	ResultKey = "_result"
)

// Paths lists the paths of all branches.
func (o OutputPath) Paths() []jsonval.Path {
	if len(o) == 1 {
		return o[0]
	}
	var list []jsonval.Path
	for _, branch := range o {
		list = append(list, branch...)
	}
	return list
}

// branches says whether there is more than one way for a result to go.
func (o OutputPath) HasBranches() bool { return len(o) > 1 }

// whole says whether it is the whole State.
func (o OutputPath) WritesWholeState() bool {
	return len(o) == 1 && len(o[0]) == 1 && len(o[0][0]) == 0
}

// String is the path where there is one, and the text of the expression otherwise.
func (o OutputPath) String() string {
	if len(o) == 1 && len(o[0]) == 1 {
		return o[0][0].String()
	}
	return o.expression().String()
}

// Reference is the form in which a Call says it: †state.a, †state.ok || †state.failed.
func (o OutputPath) Reference() string { return o.expression().String() }

func (o OutputPath) expression() Expression {
	e := make(Expression, len(o))
	for i, branch := range o {
		for _, p := range branch {
			e[i] = append(e[i], Reference{StateKind, p})
		}
	}
	return e
}

// MarshalJSON writes a plain path where there is one, and the text of the expression otherwise.
func (o OutputPath) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(o.String())
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (o *OutputPath) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil || s == nil {
		*o = nil
		return err
	}
	if *s == "" {
		*o = SinglePath(jsonval.Path{})
		return nil
	}
	if !isExpression(*s) {
		p, err := jsonval.ParsePath(*s)
		*o = SinglePath(p)
		return err
	}
	var err error
	*o, err = ParseOutputPath(*s)
	return err
}

// parseOutputPath reads where a result goes: paths in State, with or without †state in front. Of several none lies within
// another.
func ParseOutputPath(v any) (OutputPath, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("_outputPath is a string, not %s", jsonval.TypeOf(v))
	}
	var o OutputPath
	for _, alternative := range splitOutside(s, orSign) {
		var branch []jsonval.Path
		for _, term := range splitOutside(alternative, andSign) {
			if isExpression(s) {
				term = strings.TrimSpace(term)
			}
			p, err := parseStatePath(term)
			if err != nil {
				return nil, err
			}
			branch = append(branch, p)
		}
		o = append(o, branch)
	}
	return o, o.check(s)
}

// check refuses paths of which one lies within another: it would not be known what is written there.
func (o OutputPath) check(s string) error {
	paths := o.Paths()
	if len(paths) > maxTerms {
		return fmt.Errorf("_outputPath %q: more than %d paths", jsonval.Clip(s, 80), maxTerms)
	}
	for i, p := range paths {
		for _, q := range paths[:i] {
			if p.Overlaps(q) {
				return fmt.Errorf("_outputPath %q: one of %s and %s lies within the other", jsonval.Clip(s, 80), Reference{StateKind, q},
					Reference{StateKind, p})
			}
		}
	}
	return nil
}

func parseStatePath(s string) (jsonval.Path, error) {
	if !strings.HasPrefix(s, Dagger) {
		if s == "" {
			return nil, fmt.Errorf("_outputPath is empty; †state is the whole State")
		}
		return jsonval.ParsePath(s)
	}
	r, err := ParseReference(s)
	if err != nil {
		return nil, err
	}
	if r.Kind != StateKind {
		return nil, fmt.Errorf("_outputPath %q: only State can be written", jsonval.Clip(s, 80))
	}
	return r.Path, nil
}

// samePath says whether two output paths are one, with or without †state in front.
func SamePath(a, b any) bool {
	p, errA := ParseOutputPath(a)
	q, errB := ParseOutputPath(b)
	return errA == nil && errB == nil && p.String() == q.String()
}

// take reads a result of which an explicit activity may say which branch it took: {"_outputPath": …, "_result": …}. Any
// other result goes to the first.
func (o OutputPath) TakeBranch(value any) (branch int, result any, said bool, err error) {
	m, ok := value.(map[string]any)
	name, isText := m[BranchKey].(string)
	result, given := m[ResultKey]
	if !o.HasBranches() || !ok || !isText || !given || len(m) != 2 {
		return 0, value, false, nil
	}
	named, err := ParseOutputPath(name)
	if err == nil && len(named) == 1 {
		for n, b := range o {
			if sameBranch(b, named[0]) {
				return n, result, true, nil
			}
		}
	}
	return 0, nil, true, fmt.Errorf("the result says that it goes to %q, which is no branch of %s", jsonval.Clip(name, 80), o.Reference())
}

// sameBranch says whether the paths named are those of a branch, or one of them.
func sameBranch(branch, named []jsonval.Path) bool {
	if len(named) == 1 && len(branch) > 1 {
		for _, p := range branch {
			if p.String() == named[0].String() {
				return true
			}
		}
		return false
	}
	return OutputPath{branch}.String() == OutputPath{named}.String()
}
