package refexpr

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// dagger begins a Reference; two of them stand for a literal one.
const Dagger = "†"

// Reference is a string †kind.path in a Call's parameters: it stands for a value in what the instance sees.
type Reference struct {
	Kind string // state, input, or the kind of a data message
	Path jsonval.Path
}

// String gives the form that ParseReference reads.
func (r Reference) String() string {
	path := r.Path.String()
	if path != "" && path[0] != '[' {
		path = "." + path
	}
	return Dagger + r.Kind + path
}

// IsReference says whether a parameter's string value is one: it begins with exactly one dagger.
func IsReference(s string) bool {
	return strings.HasPrefix(s, Dagger) && !strings.HasPrefix(s, Dagger+Dagger)
}

// ParseReference reads †state.user.name, †input.rules[0], †state.
func ParseReference(s string) (Reference, error) {
	body, ok := strings.CutPrefix(s, Dagger)
	if !ok {
		return Reference{}, fmt.Errorf("reference %q: must begin with †", jsonval.Clip(s, 80))
	}
	if isExpression(body) {
		return Reference{}, fmt.Errorf("reference %q: one place is wanted, no expression", jsonval.Clip(s, 80))
	}
	kind, rest := body, ""
	if i := strings.IndexAny(body, ".["); i >= 0 {
		kind, rest = body[:i], body[i:]
	}
	if kind == "" || strings.TrimSpace(kind) != kind || strings.Contains(kind, Dagger) {
		return Reference{}, fmt.Errorf("reference %q: bad kind %q", jsonval.Clip(s, 80), jsonval.Clip(kind, 20))
	}
	if rest == "." {
		return Reference{}, fmt.Errorf("reference %q: nothing behind the dot", jsonval.Clip(s, 80))
	}
	path, err := jsonval.ParsePath(strings.TrimPrefix(rest, "."))
	if err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", jsonval.Clip(s, 80), err)
	}
	return Reference{Kind: kind, Path: path}, nil
}

// References finds the References in a parameter value, at any depth, in a fixed order: every term of every expression. Bad
// ones are errors.
func References(v any) ([]Reference, error) {
	list, err := Expressions(v)
	if err != nil {
		return nil, err
	}
	var all []Reference
	for _, e := range list {
		all = append(all, e.References()...)
	}
	return all, nil
}

// Resolve puts values in place of References. A value that was put in is data: it is never read as a Reference again.
func Resolve(v any, lookup func(Reference) (any, bool)) (any, error) {
	return ResolveBy(v, func(e Expression) (any, bool) { return e.Value(lookup) })
}

// resolveBy is Resolve for whoever finds the value of an expression as a whole.
func ResolveBy(v any, find func(Expression) (any, bool)) (any, error) {
	switch v := v.(type) {
	case string:
		return resolveString(v, find)
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range jsonval.SortedKeys(v) {
			r, err := ResolveBy(v[k], find)
			if err != nil {
				return nil, err
			}
			out[k] = r
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			r, err := ResolveBy(e, find)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	}
	return v, nil
}

func resolveString(s string, find func(Expression) (any, bool)) (any, error) {
	if !IsReference(s) {
		return strings.TrimPrefix(s, Dagger), nil // ††x stands for †x
	}
	e, err := ParseExpression(s)
	if err != nil {
		return nil, err
	}
	v, ok := find(e)
	if !ok {
		return nil, fmt.Errorf("reference %s: nothing there", e)
	}
	return v, nil
}

// lookupIn is Lookup that may end inside a stored value: it then gives a handle with the rest of the path.
func LookupIn(v any, p jsonval.Path) (any, bool) {
	for i := range p {
		if h, ok := jsonval.AsHandle(v); ok {
			if h.Type != "object" && h.Type != "array" {
				return nil, false
			}
			inside, err := jsonval.ParsePath(h.Path)
			if err != nil {
				return nil, false
			}
			h.Path = append(inside, p[i:]...).String()
			return h.Value(), true
		}
		next, ok := jsonval.StepInto(v, p[i])
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}
