package refexpr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// StateReferenceKind is the kind of a Reference to State.
const StateReferenceKind = "state"

// OutputPath is where in State a Call's result goes: a list of branches, joined by ||, of which one is taken. Each
// branch is a list of paths, joined by &&, all of which are written. Mostly there is one branch with one path. If the
// OutputPath is empty, the Call runs only for its effect.
//
// Invariant: no two of its paths overlap.
type OutputPath [][]jsonval.Path

// NewOutputPath returns the OutputPath of one path.
func NewOutputPath(p jsonval.Path) OutputPath { return OutputPath{{p}} }

// Paths lists the paths of all branches.
func (o OutputPath) Paths() []jsonval.Path {
	if len(o) == 1 {
		return o[0]
	}
	return slices.Concat(o...)
}

// HasBranches reports whether there is more than one branch.
func (o OutputPath) HasBranches() bool { return len(o) > 1 }

// WritesWholeState reports whether the result goes to the whole State.
func (o OutputPath) WritesWholeState() bool {
	return len(o) == 1 && len(o[0]) == 1 && len(o[0][0]) == 0
}

// HasValueIn reports whether State has a value at every path of one of the branches.
func (o OutputPath) HasValueIn(state any) bool {
	return slices.ContainsFunc(o, func(branch []jsonval.Path) bool {
		return !slices.ContainsFunc(branch, func(p jsonval.Path) bool {
			_, ok := ValueOrBlobHandleAt(state, p)
			return !ok
		})
	})
}

// String writes a single path without †state, and anything else as ReferenceText does.
func (o OutputPath) String() string {
	if len(o) == 1 && len(o[0]) == 1 {
		return o[0][0].String()
	}
	return o.asExpression().String()
}

// ReferenceText writes the path as a Call does: †state.a, †state.ok || †state.failed.
func (o OutputPath) ReferenceText() string { return o.asExpression().String() }

func (o OutputPath) asExpression() Expression {
	return jsonval.Map(o, func(branch []jsonval.Path) []Reference { return jsonval.Map(branch, StateReference) })
}

// MarshalJSON writes the text of String, and null for an empty path.
func (o OutputPath) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(o.String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *OutputPath) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil || s == nil {
		*o = nil
		return err
	}
	if !isCompoundExpression(*s) {
		p, err := jsonval.ParsePath(*s)
		*o = NewOutputPath(p)
		return err
	}
	var err error
	*o, err = ParseOutputPath(*s)
	return err
}

// ParseOutputPath reads a string of paths in State, with or without †state in front, joined by || and &&. Overlapping
// paths are an error.
func ParseOutputPath(v any) (OutputPath, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("_outputPath is a string, not %s", jsonval.TypeOf(v))
	}
	o, err := parseTerms(s, func(term string) (jsonval.Path, error) {
		if isCompoundExpression(s) {
			term = strings.TrimSpace(term)
		}
		return parseStatePath(term)
	})
	if err != nil {
		return nil, err
	}
	return o, OutputPath(o).checkCountAndOverlap(s)
}

// checkCountAndOverlap refuses too many paths, and overlapping paths, since State would be ambiguous there.
func (o OutputPath) checkCountAndOverlap(s string) error {
	paths := o.Paths()
	if len(paths) > maxTerms {
		return fmt.Errorf("_outputPath %q: more than %d paths", jsonval.ClipForError(s), maxTerms)
	}
	for i, p := range paths {
		for _, q := range paths[:i] {
			if p.Overlaps(q) {
				return fmt.Errorf("_outputPath %q: one of %s and %s lies within the other", jsonval.ClipForError(s),
					StateReference(q),
					StateReference(p))
			}
		}
	}
	return nil
}

// parseStatePath reads one path, with or without †state in front.
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
	if r.Kind != StateReferenceKind {
		return nil, fmt.Errorf("_outputPath %q: only State can be written", jsonval.ClipForError(s))
	}
	return r.Path, nil
}

// AreSameOutputPaths reports whether two texts are the same output path, with or without †state in front.
func AreSameOutputPaths(a, b any) bool {
	p, errA := ParseOutputPath(a)
	q, errB := ParseOutputPath(b)
	return errA == nil && errB == nil && p.String() == q.String()
}
