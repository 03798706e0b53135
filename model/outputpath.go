package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// stateKind is the kind of References that read and write State.
const stateKind = "state"

// OutputPath is where in State a Call's result goes: branches, joined by ||, of which one is taken, each a list of paths,
// joined by &&, that are all written. Mostly it is one path; empty, the Call is run for its effect.
type OutputPath [][]Path

// one is the OutputPath of a single path.
func one(p Path) OutputPath { return OutputPath{{p}} }

// The keys of a result by which an explicit activity says which branch it took.
const (
	branchKey = "_outputPath"
	resultKey = "_result"
)

// Paths lists the paths of all branches.
func (o OutputPath) Paths() []Path {
	if len(o) == 1 {
		return o[0]
	}
	var list []Path
	for _, branch := range o {
		list = append(list, branch...)
	}
	return list
}

// branches says whether there is more than one way for a result to go.
func (o OutputPath) branches() bool { return len(o) > 1 }

// whole says whether it is the whole State.
func (o OutputPath) whole() bool { return len(o) == 1 && len(o[0]) == 1 && len(o[0][0]) == 0 }

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
			e[i] = append(e[i], Reference{stateKind, p})
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
		*o = one(Path{})
		return nil
	}
	if !isExpression(*s) {
		p, err := ParsePath(*s)
		*o = one(p)
		return err
	}
	var err error
	*o, err = parseOutputPath(*s)
	return err
}

// parseOutputPath reads where a result goes: paths in State, with or without †state in front. Of several none lies within
// another.
func parseOutputPath(v any) (OutputPath, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("_outputPath is a string, not %s", TypeOf(v))
	}
	var o OutputPath
	for _, alternative := range splitOutside(s, orSign) {
		var branch []Path
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
		return fmt.Errorf("_outputPath %q: more than %d paths", Clip(s, 80), maxTerms)
	}
	for i, p := range paths {
		for _, q := range paths[:i] {
			if p.Overlaps(q) {
				return fmt.Errorf("_outputPath %q: one of %s and %s lies within the other", Clip(s, 80), Reference{stateKind, q},
					Reference{stateKind, p})
			}
		}
	}
	return nil
}

func parseStatePath(s string) (Path, error) {
	if !strings.HasPrefix(s, dagger) {
		if s == "" {
			return nil, fmt.Errorf("_outputPath is empty; †state is the whole State")
		}
		return ParsePath(s)
	}
	r, err := ParseReference(s)
	if err != nil {
		return nil, err
	}
	if r.Kind != stateKind {
		return nil, fmt.Errorf("_outputPath %q: only State can be written", Clip(s, 80))
	}
	return r.Path, nil
}

// samePath says whether two output paths are one, with or without †state in front.
func samePath(a, b any) bool {
	p, errA := parseOutputPath(a)
	q, errB := parseOutputPath(b)
	return errA == nil && errB == nil && p.String() == q.String()
}

// take reads a result of which an explicit activity may say which branch it took: {"_outputPath": …, "_result": …}. Any
// other result goes to the first.
func (o OutputPath) take(value any) (branch int, result any, said bool, err error) {
	m, ok := value.(map[string]any)
	name, isText := m[branchKey].(string)
	result, given := m[resultKey]
	if !o.branches() || !ok || !isText || !given || len(m) != 2 {
		return 0, value, false, nil
	}
	named, err := parseOutputPath(name)
	if err == nil && len(named) == 1 {
		for n, b := range o {
			if sameBranch(b, named[0]) {
				return n, result, true, nil
			}
		}
	}
	return 0, nil, true, fmt.Errorf("the result says that it goes to %q, which is no branch of %s", Clip(name, 80), o.Reference())
}

// sameBranch says whether the paths named are those of a branch, or one of them.
func sameBranch(branch, named []Path) bool {
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

// faultValue is what a failure leaves at the last branch.
func faultValue(f *Fault) any { return map[string]any{"code": f.Code, "message": f.Message} }
