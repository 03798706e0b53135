package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// The annotations for the display of a value. They do not constrain values.
const (
	TitleKey      = "title"
	DisplayKey    = "_display"
	CurrencyKey   = "currency"   // only beside _display
	MinorUnitsKey = "minorUnits" // only beside _display
	OrderKey      = "_order"     // the names of properties, in the order in which people see them
)

// IsDisplayKey reports whether a key of a schema only affects the display of values.
func IsDisplayKey(schema jsonval.Object, key string) bool {
	switch key {
	case TitleKey, DisplayKey, OrderKey:
		return true
	case CurrencyKey, MinorUnitsKey:
		return schema[DisplayKey] != nil
	}
	return false
}

// Keywords that hold schemas, grouped by how they hold them.
var (
	keywordsOfNamedSchemas = strings.Fields("properties patternProperties $defs definitions dependentSchemas")
	keywordsOfSchemaLists  = strings.Fields("allOf anyOf oneOf prefixItems items")
	keywordsOfOneSchema    = strings.Fields(`items additionalItems additionalProperties not if then else
		contains propertyNames unevaluatedItems unevaluatedProperties contentSchema`)
)

// IsApplicator reports whether a keyword applies the schemas that it holds to a value, or to what is inside it.
func IsApplicator(keyword string) bool {
	all := slices.Concat(keywordsOfNamedSchemas, keywordsOfSchemaLists, keywordsOfOneSchema)
	return slices.Contains(all, keyword) && !slices.Contains([]string{"$defs", "definitions", "contentSchema"}, keyword)
}

// WithoutDisplayKeys returns a schema without annotations for display, which the LLM does not need. Values in a schema
// (const, default, …) and parameters with such names stay.
func WithoutDisplayKeys(schema any) any { return withoutKeys(schema, IsDisplayKey) }

// WithoutPropertyOrder returns a schema without OrderKey.
func WithoutPropertyOrder(schema any) any {
	return withoutKeys(schema, func(_ jsonval.Object, key string) bool { return key == OrderKey })
}

func withoutKeys(schema any, isDropped func(schema jsonval.Object, key string) bool) any {
	m, _ := schema.(jsonval.Object)
	if m == nil {
		return schema
	}
	out := MapSubschemas(m, func(_ string, part any) any { return withoutKeys(part, isDropped) })
	for k := range jsonval.Sorted(m) {
		if isDropped(m, k) {
			delete(out, k)
		}
	}
	return out
}

// MapSubschemas returns a copy of a schema with each schema directly below it replaced by the result of change. change
// receives the steps of the pointer that lead there.
func MapSubschemas(schema jsonval.Object, change func(pointer string, part any) any) jsonval.Object {
	return jsonval.AsObject(jsonval.MapMembers(schema, func(k string, v any) any {
		return replaceSubschemas(k, v, change)
	}))
}

// replaceSubschemas returns the value of a keyword with its schemas replaced. each receives the steps of the pointer
// below the schema.
func replaceSubschemas(keyword string, value any, change func(pointer string, part any) any) any {
	_, isObject := value.(jsonval.Object)
	_, isList := value.([]any)
	switch {
	case isObject && slices.Contains(keywordsOfOneSchema, keyword):
		return change("/"+keyword, value)
	case isObject && slices.Contains(keywordsOfNamedSchemas, keyword),
		isList && slices.Contains(keywordsOfSchemaLists, keyword):
		return jsonval.MapMembers(value, func(step string, part any) any {
			return change("/"+keyword+"/"+EscapePointerStep(step), part)
		})
	}
	return value
}

// EachSubschema visits a schema and all below it in the order of their keys, each with its path in the file.
func EachSubschema(schema any, path string, visit func(path string, schema jsonval.Object)) {
	m, ok := schema.(jsonval.Object)
	if !ok {
		return
	}
	visit(path, m)
	MapSubschemas(m, func(pointer string, part any) any {
		subschemaPath := path
		for _, step := range strings.Split(pointer, "/")[1:] {
			subschemaPath = jsonval.JSONPathWithKey(subschemaPath, UnescapePointerStep(step))
		}
		EachSubschema(part, subschemaPath, visit)
		return part
	})
}

// Properties gives the properties that a schema names.
func Properties(schema any) jsonval.Object {
	return jsonval.AsObject(jsonval.Lookup(schema, "properties"))
}

// Types lists the types that a schema itself names; nil if it names none.
func Types(schema any) []string {
	v := jsonval.AsObject(schema)["type"]
	if single, ok := v.(string); ok {
		return []string{single}
	}
	list, _ := jsonval.AsStringList(v)
	return list
}

// Required lists the properties that a schema itself requires.
func Required(schema any) []string {
	names, _ := jsonval.AsStringList(jsonval.AsObject(schema)["required"])
	return names
}

// StoreSourceKeyOrder stores under OrderKey the order in which a schema's properties were written, if people would
// otherwise see them in another order. It changes the schema in place, which must just have been decoded.
func StoreSourceKeyOrder(schema any, sourceOrder jsonval.KeyOrder) {
	part, _ := schema.(jsonval.Object)
	if part == nil {
		return
	}
	if part[OrderKey] == nil {
		SetPropertyOrder(part, sourceOrder.KeysOf(Properties(part)))
	}
	MapSubschemas(part, func(_ string, child any) any {
		StoreSourceKeyOrder(child, sourceOrder)
		return child
	})
}

// SetPropertyOrder makes people see the properties of a schema in the order of names. Names that are nil leave the
// order of OrderedPropertyNames.
func SetPropertyOrder(schema jsonval.Object, names []string) {
	if names != nil && !slices.Equal(names, PropertyDisplayOrder(schema)) {
		schema[OrderKey] = jsonval.ToJSONValue(names)
	}
}

// PropertyDisplayOrder lists the names of a schema's properties in the order in which people see them: first those in
// OrderKey, then the others in the order of OrderedPropertyNames.
func PropertyDisplayOrder(schema jsonval.Object) []string {
	names, _ := jsonval.AsStringList(schema[OrderKey])
	return OrderedPropertyNames(Properties(schema), append(names, Required(schema)...))
}

// OrderedPropertyNames lists the names of an object's properties: the required ones as the designer wrote them, then
// the others by name.
func OrderedPropertyNames(properties jsonval.Object, required []string) []string {
	var names []string
	for _, name := range append(slices.Clone(required), jsonval.SortedKeys(properties)...) {
		if _, ok := properties[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
