package condition

import (
	"maps"
	"slices"

	"processidea/model/jsonval"
)

// constraint is a set of values of one field that a JSON Schema can express.
type constraint struct {
	path         jsonval.Path
	valueSchema  jsonval.Object // nil allows any value
	allowsAbsent bool           // a missing field is allowed too
	mustBeAbsent bool           // the field must be missing
}

// viewSchema is the constraint as a schema of the whole view.
func (z constraint) viewSchema() jsonval.Object {
	if z.mustBeAbsent {
		return jsonval.Object{"not": nestedSchema(z.path, nil, true)}
	}
	return nestedSchema(z.path, z.valueSchema, !z.allowsAbsent)
}

func viewSchemas(constraints []constraint) []jsonval.Object {
	return jsonval.Map(constraints, constraint.viewSchema)
}

// nestedSchema is a JSON Schema of nested objects, down to the schema of the value at a path.
func nestedSchema(path jsonval.Path, valueSchema jsonval.Object, isRequired bool) jsonval.Object {
	if len(path) == 0 {
		return valueSchema
	}
	s := jsonval.Object{}
	if isRequired {
		s["required"] = []any{path[0]}
	}
	if childSchema := nestedSchema(path[1:], valueSchema, isRequired); len(childSchema) > 0 {
		s["properties"] = jsonval.Object{path[0]: childSchema}
	}
	return s
}

// allOf returns a schema that requires all of the JSON Schemas. It merges them where they constrain different things.
func allOf(list []jsonval.Object) jsonval.Object {
	unmerged := []any{}
	var joined jsonval.Object
	for _, s := range list {
		if merged, ok := mergeSchemas(joined, s); ok {
			joined = merged
			continue
		}
		if !jsonval.ContainsValue(unmerged, any(s)) {
			unmerged = append(unmerged, s)
		}
	}
	if len(unmerged) == 0 {
		return joined
	}
	return jsonval.Object{"allOf": append([]any{joined}, unmerged...)}
}

func anyOf(list []jsonval.Object) jsonval.Object {
	var out []any
	for _, s := range list {
		if !jsonval.ContainsValue(out, any(s)) {
			out = append(out, s)
		}
	}
	if len(out) == 1 {
		return out[0].(jsonval.Object)
	}
	return jsonval.Object{"anyOf": out}
}

// mergeSchemas returns one JSON Schema that requires both; ok is false if they set a keyword to different values.
func mergeSchemas(a, b jsonval.Object) (jsonval.Object, bool) {
	out := jsonval.Object{}
	maps.Copy(out, a)
	for k, v := range jsonval.Sorted(b) {
		old, exists := out[k]
		switch {
		case !exists || jsonval.Equal(old, v):
			out[k] = v
		case k == "required":
			out[k] = unionOfValues(old.([]any), v.([]any))
		case k == "properties":
			merged, y := maps.Clone(old.(jsonval.Object)), v.(jsonval.Object)
			for name, v := range jsonval.Sorted(y) {
				part, ok := mergeSchemas(jsonval.AsObject(merged[name]), jsonval.AsObject(v))
				if !ok {
					return nil, false
				}
				merged[name] = part
			}
			out[k] = merged
		case pickStricterByKeyword[k] != nil:
			out[k] = pickStricterByKeyword[k](old, v)
		default:
			return nil, false
		}
	}
	return out, true
}

// pickStricterByKeyword maps a keyword to a function that returns the stricter of two bounds.
var pickStricterByKeyword = map[string]func(a, b any) any{
	"minimum": greaterNumber, "minItems": greaterNumber, "exclusiveMinimum": greaterNumber, "maximum": smallerNumber,
	"maxItems": smallerNumber,
}

func greaterNumber(a, b any) any {
	x, _ := jsonval.ToFloat(a)
	if y, _ := jsonval.ToFloat(b); y > x {
		return b
	}
	return a
}

func smallerNumber(a, b any) any {
	if jsonval.Equal(greaterNumber(a, b), a) {
		return b
	}
	return a
}

func unionOfValues(a, b []any) []any {
	out := slices.Clone(a)
	for _, v := range b {
		if !jsonval.ContainsValue(out, v) {
			out = append(out, v)
		}
	}
	return out
}
