package refexpr

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// Dagger begins a Reference. Two daggers are a literal dagger.
const Dagger = "†"

// Reference is one place in what an instance sees. In a Call's parameters it is written †kind.path and is replaced by
// the value there.
type Reference struct {
	Kind string // state, input, or the kind of a data message
	Path jsonval.Path
}

// StateReference returns the Reference to a place in State.
func StateReference(p jsonval.Path) Reference { return Reference{StateReferenceKind, p} }

// String writes the reference in the form that ParseReference reads.
func (r Reference) String() string {
	path := r.Path.String()
	if path != "" && path[0] != '[' {
		path = "." + path
	}
	return Dagger + r.Kind + path
}

// IsExpressionOrTemplate reports whether a parameter's string value is a Reference, an Expression or a Template: it
// begins with exactly one dagger.
func IsExpressionOrTemplate(s string) bool {
	return strings.HasPrefix(s, Dagger) && !strings.HasPrefix(s, Dagger+Dagger)
}

// ParseReference reads one Reference, such as †state.user.name, †input.rules[0] or †state.
func ParseReference(s string) (Reference, error) {
	body, ok := strings.CutPrefix(s, Dagger)
	if !ok {
		return Reference{}, fmt.Errorf("reference %q: must begin with †", jsonval.ClipForError(s))
	}
	if isCompoundExpression(body) {
		return Reference{}, fmt.Errorf("reference %q: one place is wanted, no expression", jsonval.ClipForError(s))
	}
	kind, rest := body, ""
	if i := strings.IndexAny(body, ".["); i >= 0 {
		kind, rest = body[:i], body[i:]
	}
	if kind == "" || strings.TrimSpace(kind) != kind || strings.Contains(kind, Dagger) {
		return Reference{}, fmt.Errorf("reference %q: bad kind %q", jsonval.ClipForError(s), jsonval.Clip(kind, 20))
	}
	if rest == "." {
		return Reference{}, fmt.Errorf("reference %q: nothing behind the dot", jsonval.ClipForError(s))
	}
	path, err := jsonval.ParsePath(strings.TrimPrefix(rest, "."))
	if err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", jsonval.ClipForError(s), err)
	}
	return Reference{Kind: kind, Path: path}, nil
}

// ParseScope reads a place in `_scopes`: a Reference with or without the dagger.
func ParseScope(scope string) (Reference, error) {
	return ParseReference(Dagger + strings.TrimPrefix(scope, Dagger))
}

// EscapeDaggers escapes a value for a Call's parameter, so that no text in it is read as a Reference.
func EscapeDaggers(v any) any {
	if text := jsonval.AsText(v); strings.HasPrefix(text, Dagger) {
		return Dagger + text
	}
	return jsonval.MapChildValues(v, EscapeDaggers)
}
