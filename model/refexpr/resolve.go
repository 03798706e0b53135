package refexpr

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// ParsedValue is a parameter value whose expressions are parsed. They are parsed once, however often Resolve is called.
type ParsedValue struct {
	// Expressions are all expressions of the value, plain ones and those in Templates, at any depth, in a fixed order.
	Expressions []Expression
	tree        any // the value, with an Expression or a Template in place of each text that is one
}

// Parse parses the expressions in a parameter value. An expression that cannot be parsed is an error.
func Parse(v any) (p ParsedValue, err error) {
	p.tree, err = mapScalars(v, p.parseScalar)
	return p, err
}

func (p *ParsedValue) parseScalar(v any) (any, error) {
	s, isText := v.(string)
	switch {
	case !isText:
		return v, nil
	case !IsExpressionOrTemplate(s):
		return strings.TrimPrefix(s, Dagger), nil // ††x is the literal †x
	case IsTemplate(s):
		t, err := ParseTemplate(s)
		p.Expressions = append(p.Expressions, t.expressions...)
		return t, err
	}
	e, err := ParseExpression(s)
	p.Expressions = append(p.Expressions, e)
	return e, err
}

// mapScalars returns a copy of a value with each scalar replaced by the result of f, in the order of keys.
func mapScalars(v any, mapScalar func(any) (any, error)) (out any, err error) {
	switch v.(type) {
	case jsonval.Object, []any:
		out = jsonval.MapChildValues(v, func(child any) (mapped any) {
			if err == nil {
				mapped, err = mapScalars(child, mapScalar)
			}
			return mapped
		})
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return mapScalar(v)
}

// Resolve returns a copy of the value with each expression replaced by its value. An inserted value is data: it is
// never read as a Reference again. An expression without a value is an error, and so is a result of more than
// jsonval.MaxResolvedBytes bytes: ten thousand References to one text are small until they are resolved.
func (p ParsedValue) Resolve(find func(Expression) (any, bool)) (any, error) {
	bytesLeft := jsonval.MaxResolvedBytes
	resolveExpression := func(e Expression) (any, error) {
		v, ok := find(e)
		if !ok {
			return nil, fmt.Errorf("reference %s: nothing there", e)
		}
		if bytesLeft -= jsonval.SizeUpToLimit(v, bytesLeft); bytesLeft < 0 {
			return nil, ErrResolvedTooLarge
		}
		return v, nil
	}
	return mapScalars(p.tree, func(scalar any) (any, error) {
		switch scalar := scalar.(type) {
		case Expression:
			return resolveExpression(scalar)
		case Template:
			return scalar.render(resolveExpression)
		}
		return scalar, nil
	})
}

// FindExpressions lists the expressions in a parameter value: see ParsedValue.
func FindExpressions(v any) ([]Expression, error) {
	p, err := Parse(v)
	if err != nil {
		return nil, err
	}
	return p.Expressions, nil
}

// FindReferences lists the terms of every expression in a parameter value.
func FindReferences(v any) (references []Reference, err error) {
	list, err := FindExpressions(v)
	for _, e := range list {
		references = append(references, e.References()...)
	}
	return references, err
}

// ResolveReferences parses and resolves a parameter value.
func ResolveReferences(v any, lookup func(Reference) (any, bool)) (any, error) {
	return ResolveExpressions(v, func(e Expression) (any, bool) { return e.Evaluate(lookup) })
}

// ResolveExpressions is ResolveReferences for a caller that finds the value of an expression as a whole.
func ResolveExpressions(v any, find func(Expression) (any, bool)) (any, error) {
	p, err := Parse(v)
	if err != nil {
		return nil, err
	}
	return p.Resolve(find)
}

// ErrResolvedTooLarge means that a value is too large once its References are resolved.
var ErrResolvedTooLarge = fmt.Errorf(
	"with the values that its References stand for it would have more than %d MB: refer to fewer or smaller values",
	jsonval.MaxResolvedBytes>>20)

// ValueOrBlobHandleAt is jsonval.ValueAt for a path that may lead into a value in the blob store. It then returns that
// value's BlobHandle with the rest of the path.
func ValueOrBlobHandleAt(v any, p jsonval.Path) (found any, ok bool) {
	for i, step := range p {
		if h, isHandle := jsonval.AsBlobHandle(v); isHandle {
			return blobHandleForPart(h, p[i:])
		}
		if v, ok = jsonval.ChildValue(v, step); !ok {
			return nil, false
		}
	}
	return v, true
}

// blobHandleForPart returns the BlobHandle of a place inside a stored value. Only objects and arrays have such
// places.
func blobHandleForPart(h jsonval.BlobHandle, rest jsonval.Path) (any, bool) {
	basePath, err := jsonval.ParsePath(h.PathInValue)
	if err != nil || (h.ValueType != "object" && h.ValueType != "array") {
		return nil, false
	}
	h.PathInValue = append(basePath, rest...).String()
	return h.AsJSONValue(), true
}
