package condition

import (
	"maps"
	"slices"

	"processidea/model/jsonval"
)

// fieldConstraint is a set of values of one field that a JSON Schema can express.
type fieldConstraint struct {
	path         jsonval.Path
	valueSchema  jsonval.Object // nil allows any value
	allowsAbsent bool           // a missing field is allowed too
	mustBeAbsent bool           // the field must be missing
}

// viewSchema is the constraint as a schema of the whole view.
func (z fieldConstraint) viewSchema() jsonval.Object {
	if z.mustBeAbsent {
		return jsonval.Object{"not": nestedSchema(z.path, nil, true)}
	}
	return nestedSchema(z.path, z.valueSchema, !z.allowsAbsent)
}

func viewSchemas(constraints []fieldConstraint) []jsonval.Object {
	return jsonval.Map(constraints, fieldConstraint.viewSchema)
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
	var mergedSchema jsonval.Object
	for _, s := range list {
		if merged, ok := mergeSchemas(mergedSchema, s); ok {
			mergedSchema = merged
			continue
		}
		if !jsonval.ContainsValue(unmerged, any(s)) {
			unmerged = append(unmerged, s)
		}
	}
	if len(unmerged) == 0 {
		return mergedSchema
	}
	return jsonval.Object{"allOf": append([]any{mergedSchema}, unmerged...)}
}

func anyOf(list []jsonval.Object) jsonval.Object {
	var distinctSchemas []any
	for _, s := range list {
		if !jsonval.ContainsValue(distinctSchemas, any(s)) {
			distinctSchemas = append(distinctSchemas, s)
		}
	}
	if len(distinctSchemas) == 1 {
		return distinctSchemas[0].(jsonval.Object)
	}
	return jsonval.Object{"anyOf": distinctSchemas}
}

// mergeSchemas returns one JSON Schema that requires both; ok is false if they set a keyword to different values.
func mergeSchemas(a, b jsonval.Object) (jsonval.Object, bool) {
	joinedSchema := jsonval.Object{}
	maps.Copy(joinedSchema, a)
	for k, v := range jsonval.Sorted(b) {
		oldValue, exists := joinedSchema[k]
		switch {
		case !exists || jsonval.Equal(oldValue, v):
			joinedSchema[k] = v
		case k == "required":
			joinedSchema[k] = unionOfValues(oldValue.([]any), v.([]any))
		case k == "properties":
			merged, y := maps.Clone(oldValue.(jsonval.Object)), v.(jsonval.Object)
			for name, v := range jsonval.Sorted(y) {
				part, ok := mergeSchemas(jsonval.AsObject(merged[name]), jsonval.AsObject(v))
				if !ok {
					return nil, false
				}
				merged[name] = part
			}
			joinedSchema[k] = merged
		case pickStricterByKeyword[k] != nil:
			joinedSchema[k] = pickStricterByKeyword[k](oldValue, v)
		default:
			return nil, false
		}
	}
	return joinedSchema, true
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
	union := slices.Clone(a)
	for _, v := range b {
		if !jsonval.ContainsValue(union, v) {
			union = append(union, v)
		}
	}
	return union
}
