package refexpr

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// References lists the terms of every expression in a parameter value, at any depth, in a fixed order. One that cannot be
// parsed is an error.
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

// Resolve gives a copy of a parameter value in which the value of each expression takes its place. A value that was put in is
// data: it is never read as a Reference again. An expression without a value is an error.
func Resolve(v any, lookup func(Reference) (any, bool)) (any, error) {
	return ResolveBy(v, func(e Expression) (any, bool) { return e.Value(lookup) })
}

// ResolveBy is Resolve for a caller that finds the value of an expression as a whole.
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

// LookupIn is jsonval.Lookup, and may lead into a value that lies in the blob store: it then gives the Handle of that value
// with the rest of the path.
func LookupIn(v any, p jsonval.Path) (found any, ok bool) {
	for i, step := range p {
		if h, stored := jsonval.AsHandle(v); stored {
			return handleOfPart(h, p[i:])
		}
		if v, ok = jsonval.StepInto(v, step); !ok {
			return nil, false
		}
	}
	return v, true
}

// handleOfPart gives the Handle of a place inside a stored value. There is none inside a value that is no object or array.
func handleOfPart(h jsonval.Handle, rest jsonval.Path) (any, bool) {
	inside, err := jsonval.ParsePath(h.Path)
	if err != nil || (h.Type != "object" && h.Type != "array") {
		return nil, false
	}
	h.Path = append(inside, rest...).String()
	return h.Value(), true
}
