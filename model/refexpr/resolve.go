package refexpr

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// FindReferences lists the terms of every expression in a parameter value, at any depth, in a fixed order. One that cannot be
// parsed is an error.
func FindReferences(v any) ([]Reference, error) {
	list, err := FindExpressions(v)
	if err != nil {
		return nil, err
	}
	var all []Reference
	for _, e := range list {
		all = append(all, e.References()...)
	}
	return all, nil
}

// ResolveReferences gives a copy of a parameter value in which the value of each expression takes its place. A value that was put in is
// data: it is never read as a Reference again. An expression without a value is an error, and so is a whole of more than
// jsonval.MaxWhole bytes: ten thousand References to one text are a small value, until each is that text.
func ResolveReferences(v any, lookup func(Reference) (any, bool)) (any, error) {
	return ResolveExpressions(v, func(e Expression) (any, bool) { return e.Evaluate(lookup) })
}

// ResolveExpressions is Resolve for a caller that finds the value of an expression as a whole.
func ResolveExpressions(v any, find func(Expression) (any, bool)) (any, error) {
	r := resolver{find: find, bytesLeft: jsonval.MaxWhole}
	return r.resolve(v)
}

type resolver struct {
	find      func(Expression) (any, bool)
	bytesLeft int // bytes that values may still take
}

func (r *resolver) resolve(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return r.resolveString(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range jsonval.SortedKeys(v) {
			e, err := r.resolve(v[k])
			if err != nil {
				return nil, err
			}
			out[k] = e
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			e, err := r.resolve(e)
			if err != nil {
				return nil, err
			}
			out[i] = e
		}
		return out, nil
	}
	return v, nil
}

func (r *resolver) resolveString(s string) (any, error) {
	if !IsReference(s) {
		return strings.TrimPrefix(s, Dagger), nil // ††x stands for †x
	}
	if IsTemplate(s) {
		t, err := ParseTemplate(s)
		if err != nil {
			return nil, err
		}
		return t.render(r.valueOfReference)
	}
	e, err := ParseExpression(s)
	if err != nil {
		return nil, err
	}
	return r.valueOfReference(e)
}

// valueOfReference finds the value of an expression, for which there must be room.
func (r *resolver) valueOfReference(e Expression) (any, error) {
	v, ok := r.find(e)
	if !ok {
		return nil, fmt.Errorf("reference %s: nothing there", e)
	}
	r.bytesLeft -= jsonval.SizeUpToLimit(v, r.bytesLeft)
	if r.bytesLeft < 0 {
		return nil, ErrTooLarge
	}
	return v, nil
}

// ErrTooLarge says that values take too much room once References are replaced by them.
var ErrTooLarge = fmt.Errorf("with the values that its References stand for it would have more than %d MB: refer to fewer or smaller values",
	jsonval.MaxWhole>>20)

// ValueOrBlobHandleAt is jsonval.Lookup, and may lead into a value that lies in the blob store: it then gives the Handle of that value
// with the rest of the path.
func ValueOrBlobHandleAt(v any, p jsonval.Path) (found any, ok bool) {
	for i, step := range p {
		if h, stored := jsonval.AsBlobHandle(v); stored {
			return handleForPartOfStoredValue(h, p[i:])
		}
		if v, ok = jsonval.ChildValue(v, step); !ok {
			return nil, false
		}
	}
	return v, true
}

// handleForPartOfStoredValue gives the Handle of a place inside a stored value. There is none inside a value that is no object or array.
func handleForPartOfStoredValue(h jsonval.BlobHandle, rest jsonval.Path) (any, bool) {
	inside, err := jsonval.ParsePath(h.PathInValue)
	if err != nil || (h.ValueType != "object" && h.ValueType != "array") {
		return nil, false
	}
	h.PathInValue = append(inside, rest...).String()
	return h.AsJSONValue(), true
}
