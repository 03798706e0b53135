package prompt

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// The rules of strict structured outputs, as OpenAI documents them: which keywords a schema may use, and how large it
// may be.

// strictKeywords are the keywords that a strict schema may use; every other one is refused.
var strictKeywords = strings.Fields(`type description properties required additionalProperties items enum
	const anyOf $ref $defs pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems
	maxItems`)

// scalarKeywords are those strictKeywords that constrain a value which is neither object nor array.
var scalarKeywords = strings.Fields(`enum const pattern format minimum maximum exclusiveMinimum
	exclusiveMaximum multipleOf`)

// ignoredKeywords do not affect validation and are dropped.
var ignoredKeywords = strings.Fields(`default examples $comment $schema $id $defs definitions deprecated
	readOnly writeOnly`)

// unenforcedKeywords only narrow what is allowed and cannot be expressed in strict mode. They are left out of the
// schema: the palette in words has them, and every reply is validated against the whole schema.
var unenforcedKeywords = strings.Fields(`minLength maxLength uniqueItems contains minContains maxContains
	minProperties maxProperties propertyNames dependentRequired dependentSchemas not if then else
	unevaluatedProperties unevaluatedItems contentEncoding contentMediaType contentSchema`)

// convertibleKeywords are the keywords of a schema that strict mode can express.
var convertibleKeywords = slices.Concat(strictKeywords, ignoredKeywords, unenforcedKeywords, []string{"oneOf"})

var strictFormats = strings.Fields(`date-time time date duration email hostname ipv4 ipv6 uuid`)

// schemaTransform returns what replaces the strict version of a subschema. It is applied to every subschema that is not
// an anyOf.
type schemaTransform func(schema, strict any) any

// toStrictSchema rewrites a schema in the strict subset, or returns the reason why it cannot. An optional property
// becomes one that may be null. transform may be nil.
func toStrictSchema(schema any, transform schemaTransform) (strictSchema any, notStrictReason string) {
	m, ok := schema.(jsonval.Object)
	if !ok {
		return nil, "a schema that is not an object"
	}
	for k := range jsonval.Sorted(m) {
		if !slices.Contains(convertibleKeywords, k) && !strings.HasPrefix(k, "_") && !jsonschema.IsDisplayKey(m, k) {
			return nil, fmt.Sprintf("keyword %q", k)
		}
	}
	switch ref := m["$ref"]; {
	case ref == jsonschema.TooLargeRef:
		return nil, "a schema that its references make too large"
	case ref != nil:
		return nil, "a schema that holds itself"
	}
	switch {
	case m["anyOf"] != nil && m["oneOf"] != nil:
		return nil, "anyOf beside oneOf"
	case m["anyOf"] != nil:
		return strictAnyOf(m, "anyOf", transform)
	case m["oneOf"] != nil: // the check of the reply enforces that only one choice fits
		return strictAnyOf(m, "oneOf", transform)
	case m["type"] == "object":
		strictSchema, notStrictReason = strictObject(m, transform)
	case m["type"] == "array":
		strictSchema, notStrictReason = strictArray(m, transform)
	default:
		strictSchema, notStrictReason = strictScalar(m)
	}
	if notStrictReason == "" && transform != nil {
		strictSchema = transform(m, strictSchema)
	}
	return strictSchema, notStrictReason
}

// toInlinedStrictSchema is toStrictSchema for a part of a schema, with its references inlined.
func toInlinedStrictSchema(root, part any, transform schemaTransform) (strictSchema any, notStrictReason string) {
	if jsonschema.IsRecursive(root, part) {
		return nil, "a schema that holds itself"
	}
	return toStrictSchema(jsonschema.InlineRefs(root, part), transform)
}

// strictAnyOf rewrites the choices under a keyword, anyOf or oneOf.
func strictAnyOf(m jsonval.Object, keyword string, transform schemaTransform) (any, string) {
	list, ok := m[keyword].([]any)
	for _, k := range jsonval.SortedKeys(m) { // any other constraint would have to be merged into every choice
		ok = ok && (k == keyword || k == "description" || !slices.Contains(strictKeywords, k) ||
			slices.Contains(ignoredKeywords, k))
	}
	if !ok {
		return nil, keyword + " beside other keywords"
	}
	choices := make([]any, len(list))
	for i, e := range list {
		strictSchema, reason := toStrictSchema(e, transform)
		if reason != "" {
			return nil, reason
		}
		choices[i] = strictSchema
	}
	return schemaAnnotations(m).Append("anyOf", choices), ""
}

func strictObject(m jsonval.Object, transform schemaTransform) (any, string) {
	if additional, isDeclared := m["additionalProperties"]; isDeclared && additional != false {
		return nil, "an open object"
	}
	props, ok := m["properties"].(jsonval.Object)
	if !ok {
		return nil, "an object without named properties"
	}
	required := jsonschema.Required(m)
	for _, name := range required {
		if _, ok := props[name]; !ok {
			return nil, fmt.Sprintf("an object that requires %q and does not describe it", name)
		}
	}
	var fields jsonval.OrderedObject
	for name, v := range jsonval.Sorted(props) {
		strictSchema, reason := toStrictSchema(v, transform)
		if reason != "" {
			return nil, reason
		}
		if !slices.Contains(required, name) {
			strictSchema = nullableSchema(strictSchema)
		}
		fields = fields.Append(name, strictSchema)
	}
	return append(schemaAnnotations(m), closedObjectSchema(fields)...), ""
}

func strictArray(m jsonval.Object, transform schemaTransform) (any, string) {
	if m["items"] == nil {
		return nil, "a list that does not say of what"
	}
	items, reason := toStrictSchema(m["items"], transform)
	if reason != "" {
		return nil, reason
	}
	strictSchema := schemaAnnotations(m).Append("type", "array").Append("items", items)
	for _, k := range []string{"minItems", "maxItems"} {
		if v, ok := m[k]; ok {
			strictSchema = strictSchema.Append(k, v)
		}
	}
	return strictSchema, ""
}

func strictScalar(m jsonval.Object) (any, string) {
	declaredTypes := jsonschema.Types(m)
	if slices.Contains(declaredTypes, "object") || slices.Contains(declaredTypes, "array") {
		return nil, "one of several types, an object or a list among them"
	}
	types, ok := scalarTypes(m)
	if !ok {
		return nil, "a value of any type"
	}
	strictSchema := schemaAnnotations(m).Append("type", types)
	for k, v := range jsonval.Sorted(m) {
		if slices.Contains(scalarKeywords, k) && (k != "format" || slices.Contains(strictFormats, fmt.Sprint(v))) {
			strictSchema = strictSchema.Append(k, v)
		}
	}
	return strictSchema, ""
}

// scalarTypes returns the type of a scalar, which strict mode requires everywhere: the declared one, or those of the
// enum or const values.
func scalarTypes(m jsonval.Object) (types any, ok bool) {
	if t := m["type"]; t != nil {
		return t, true
	}
	values := jsonval.AsList(m["enum"])
	if v, isDeclared := m["const"]; isDeclared {
		values = []any{v}
	}
	var names []any
	for _, v := range values {
		t := jsonval.TypeOf(v)
		if t == "object" || t == "array" {
			return nil, false
		}
		if !jsonval.ContainsValue(names, t) {
			names = append(names, t)
		}
	}
	if len(names) == 1 {
		return names[0], true
	}
	return names, len(names) > 0
}

// schemaAnnotations are the keywords that only inform the LLM, without those for display to people.
func schemaAnnotations(m jsonval.Object) jsonval.OrderedObject {
	if v, ok := m["description"]; ok {
		return jsonval.OrderedObject{}.Append("description", v)
	}
	return jsonval.OrderedObject{}
}
