package jsonschema

import (
	"slices"
	"strconv"

	"processidea/model/jsonval"
)

// WithoutNulls removes null properties from a value at a path of the schema, if the schema neither requires them nor
// allows null for them. Strict mode makes the LLM write every property at any depth, and null for omitted ones.
func WithoutNulls(schema any, p jsonval.Path, v any) any {
	if !containsNull(v) {
		return v
	}
	subschema := SubschemaAt(schema, p)
	if !subschema.IsDescribed || subschema.IsForbidden {
		return v
	}
	n := nullRemover{rootSchema: schema, stepsLeft: maxNullRemovalSteps}
	if out := n.remove(subschema.Node, subschema.Pointer, v); n.stepsLeft > 0 {
		return out
	}
	return v
}

// WithoutNulls is the function WithoutNulls for a value of the whole schema.
func (s *Schema) WithoutNulls(v any) any {
	if s == nil {
		return v
	}
	return WithoutNulls(s.Source, nil, v)
}

// containsNull reports whether a value is null or holds one.
func containsNull(v any) bool {
	return jsonval.ContainsAny(v, func(v any) bool { return v == nil })
}

// maxNullRemovalSteps bounds the work, which nested choices of a schema multiply.
const maxNullRemovalSteps = 500_000

// nullRemover removes nulls by one schema with its references resolved.
type nullRemover struct {
	rootSchema any
	stepsLeft  float64 // at zero the value stays as it is
}

func (n *nullRemover) remove(node any, pointer string, v any) any {
	node, pointer = ResolveLocalRefs(n.rootSchema, node, pointer)
	m, ok := node.(jsonval.Object)
	n.stepsLeft--
	if !ok || n.stepsLeft <= 0 || !containsNull(v) {
		return v
	}
	if choices, ok := m["anyOf"].([]any); ok {
		return n.removeByChoice(choices, pointer, v)
	}
	if object, ok := v.(jsonval.Object); ok {
		return n.removeFromObject(m, pointer, object)
	}
	return jsonval.MapChildValues(v, func(e any) any { return n.remove(m["items"], pointer+"/items", e) })
}

// removeByChoice removes nulls by the first choice that the value then fits.
func (n *nullRemover) removeByChoice(choices []any, pointer string, v any) any {
	for i, choice := range choices {
		choicePointer := pointer + "/anyOf/" + strconv.Itoa(i)
		if out := n.remove(choice, choicePointer, v); n.schemaAtAccepts(choicePointer, out) {
			return out
		}
	}
	return v
}

func (n *nullRemover) removeFromObject(m jsonval.Object, pointer string, v jsonval.Object) any {
	out := make(jsonval.Object, len(v))
	for k, value := range jsonval.Sorted(v) {
		part, isDeclared := Properties(m)[k]
		propertyPointer := pointer + "/properties/" + EscapePointerStep(k)
		switch {
		case !isDeclared:
			out[k] = value
		case value != nil:
			out[k] = n.remove(part, propertyPointer, value)
		case slices.Contains(Required(m), k) || n.schemaAtAccepts(propertyPointer, nil):
			out[k] = nil
		}
	}
	return out
}

// schemaAtAccepts reports whether a value fits the part of the schema at a JSON pointer.
func (n *nullRemover) schemaAtAccepts(pointer string, v any) bool {
	s := NewLazySchema(n.rootSchema, pointer)
	compiled, err := s.compileOnce()
	if err != nil {
		return false
	}
	n.stepsLeft -= compiled.stepCounter.countSteps(compiled.Schema, v)
	return n.stepsLeft > 0 && s.Validate(v) == nil
}
