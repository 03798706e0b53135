package sample

import (
	"errors"
	"fmt"
	"slices"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// ErrNoSample means that no value was found for a schema.
var ErrNoSample = errors.New("no value was found that fits the schema; give it an example (`examples`)")

// SimulatedText is a made-up text if the schema asks for no other.
const SimulatedText = "simulated"

// sampleCache caches made-up values by schema.
var sampleCache jsonschema.Cache[string, any]

// MakeSample makes up a value that fits a JSON Schema: `const`, an example, the default or a choice of `enum` if the
// schema has one, or else a small value with every named property and one item. An empty schema gives SimulatedText. An
// error wraps ErrNoSample, or describes an error in the schema.
func MakeSample(schema any) (any, error) {
	root := jsonschema.WithoutMetaKeys(schema)
	key := jsonval.EncodeToString(root)
	if v, ok := sampleCache.Get(key); ok {
		return v, nil
	}
	compiled, err := jsonschema.CompileSchema(schema)
	if err != nil {
		return nil, err
	}
	s := &sampler{rootSchema: root, visitsLeft: maxVisits, depthByRef: map[string]int{}}
	v, ok := s.makeValue(root)
	if !ok || compiled.Validate(v) != nil {
		return nil, fmt.Errorf("sample: make a value: %w", ErrNoSample)
	}
	sampleCache.Put(key, v, len(key))
	return v, nil
}

const (
	maxVisits   = 2_000 // nodes of a schema that may be visited before no value is made
	maxRefDepth = 2     // how often a reference may be followed within itself
	maxLength   = 1_000 // items of an array, and characters of a string
)

// sampler makes values for the nodes of one schema.
type sampler struct {
	rootSchema any
	visitsLeft int
	depthByRef map[string]int // how often each reference is being followed
}

// makeValue gives a value for a node of the schema. ok is false if none is found.
func (s *sampler) makeValue(schema any) (v any, ok bool) {
	if s.visitsLeft--; s.visitsLeft < 0 || schema == false {
		return nil, false
	}
	node := jsonval.AsObject(schema)
	if target, ref := s.resolveRef(node); ref != "" {
		if s.depthByRef[ref] >= maxRefDepth || target == false {
			return nil, false
		}
		s.depthByRef[ref]++
		defer func() { s.depthByRef[ref]-- }()
		return s.makeValue(mergeSchemas(jsonval.AsObject(target), jsonval.WithoutKey(node, "$ref")))
	}
	if parts, ok := node["allOf"].([]any); ok {
		node = jsonval.WithoutKey(node, "allOf")
		for _, part := range parts {
			if part == false {
				return nil, false
			}
			node = mergeSchemas(node, jsonval.AsObject(part))
		}
		return s.makeValue(node)
	}
	return s.makeFlatValue(node)
}

// resolveRef returns the node that a `$ref` names by a JSON pointer; ref is empty if there is none.
func (s *sampler) resolveRef(node jsonval.Object) (target any, ref string) {
	ref, ok := node["$ref"].(string)
	if !ok || len(ref) == 0 {
		return nil, ""
	}
	if target, ok = jsonschema.ResolvePointer(s.rootSchema, ref[1:]); !ok {
		return false, ref
	}
	return target, ref
}

// makeFlatValue gives a value for a node without references and `allOf`.
func (s *sampler) makeFlatValue(node jsonval.Object) (any, bool) {
	if c, ok := node["const"]; ok {
		return c, true
	}
	for _, v := range suggestedValues(node) {
		if s.fits(node, v) {
			return v, true
		}
	}
	if choices := choiceSchemas(node); len(choices) > 0 {
		allowsNull := false // null shows nothing, and is used only for want of another value
		for _, choice := range choices {
			v, ok := s.makeValue(choice)
			if ok = ok && s.fits(node, v); ok && v != nil {
				return v, true
			}
			allowsNull = allowsNull || ok
		}
		return nil, allowsNull
	}
	if _, ok := node["enum"]; ok {
		return nil, false
	}
	for _, typ := range allowedTypes(node) {
		if v, ok := s.makeSmallest(typ, node); ok {
			return v, true
		}
	}
	return nil, false
}

// suggestedValues lists what a node names itself, the best first.
func suggestedValues(node jsonval.Object) []any {
	values := slices.Clone(jsonval.AsList(node["examples"]))
	if d, ok := node["default"]; ok {
		values = append(values, d)
	}
	return append(values, jsonval.AsList(node["enum"])...)
}

// fits reports whether a value fits a node whose references lead into the whole schema.
func (s *sampler) fits(node jsonval.Object, v any) bool {
	root := jsonval.AsObject(s.rootSchema)
	schema := jsonval.Object{"allOf": []any{node}}
	for _, key := range []string{"$schema", "$defs", "definitions"} {
		if defs, ok := root[key]; ok {
			schema[key] = defs
		}
	}
	c, err := jsonschema.CompileSchema(schema)
	return err != nil || c.Validate(v) == nil // the whole schema decides in the end
}

// choiceSchemas gives a schema for each choice of `oneOf` or `anyOf`, or for each outcome of `if`.
func choiceSchemas(node jsonval.Object) (choices []any) {
	for _, key := range []string{"oneOf", "anyOf"} {
		list := jsonval.AsList(node[key])
		for _, choice := range list {
			if choice != false {
				choices = append(choices, mergeSchemas(jsonval.WithoutKey(node, key), jsonval.AsObject(choice)))
			}
		}
		if len(list) > 0 {
			return choices
		}
	}
	if cond, ok := node["if"]; ok {
		rest := jsonval.WithoutKey(node, "if", "then", "else")
		thenSchema := mergeSchemas(mergeSchemas(rest, jsonval.AsObject(cond)), jsonval.AsObject(node["then"]))
		return []any{thenSchema, mergeSchemas(rest, jsonval.AsObject(node["else"]))}
	}
	return nil
}
