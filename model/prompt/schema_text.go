package prompt

import (
	"regexp"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// A schema is written as JSON Schema if it is recursive, if it is deeper than maxSchemaTextDepth, or if it has more
// than maxSchemaTextParts parts once its references are followed.
const (
	maxSchemaTextDepth = 12
	maxSchemaTextParts = 1000
)

// schemaText writes a JSON Schema as a type in the notation of TypeScript, with comments for what a type cannot
// express: it is read more easily than JSON Schema, and is a third as long. A schema that the notation cannot express
// is written as JSON.
func schemaText(root, schema any) string { return schemaTextWithNames(root, schema, nil) }

// schemaTextWithComment is schemaText with the comment of the whole.
func schemaTextWithComment(schema any) string {
	return schemaText(schema, schema) + (&schemaWriter{}).typeComment(schema)
}

// schemaTextWithNames is schemaText that writes the name of a field's type, if the type has one, in place of the type.
func schemaTextWithNames(root, schema any, nameByTypeText map[string]string) string {
	root, schema = jsonschema.WithoutDisplayKeys(root), jsonschema.WithoutDisplayKeys(schema)
	w := &schemaWriter{root: root, nameByTypeText: nameByTypeText}
	text := w.typeText(schema, 0)
	if w.isInexpressible {
		return jsonval.EncodeToString(jsonschema.WithoutMetaKeys(schema))
	}
	return text
}

// schemaWriter turns one schema into a type. isInexpressible is set if the notation cannot express the schema.
type schemaWriter struct {
	root            any
	nameByTypeText  map[string]string // by the text of the type
	partCount       int
	isInexpressible bool
}

func (w *schemaWriter) typeText(schema any, depth int) string {
	m, isObject := schema.(jsonval.Object)
	w.partCount++
	w.isInexpressible = w.isInexpressible || depth > maxSchemaTextDepth || w.partCount > maxSchemaTextParts
	switch {
	case w.isInexpressible:
		return ""
	case !isObject:
		if schema == false {
			return "never"
		}
		return "any"
	}
	if ref, ok := m["$ref"].(string); ok {
		target, isFound := jsonschema.ResolvePointer(w.root, strings.TrimPrefix(ref, "#"))
		if !isFound || !strings.HasPrefix(ref, "#") || !hasOnlyKeys(m, "$ref") {
			w.isInexpressible = true
			return ""
		}
		return w.typeText(target, depth+1)
	}
	w.isInexpressible = w.isInexpressible || !hasOnlyKeys(m, expressibleKeywords...)
	if v, ok := m["const"]; ok {
		return jsonval.EncodeToString(v)
	}
	if list, ok := m["enum"].([]any); ok {
		return joinTypes(list, jsonval.EncodeToString)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := m[key].([]any); ok {
			w.isInexpressible = w.isInexpressible || m["type"] != nil || m["properties"] != nil
			return joinTypes(list, func(v any) string { return w.typeText(v, depth+1) + w.typeComment(v) })
		}
	}
	types, isList := m["type"].([]any)
	if !isList {
		types = []any{m["type"]}
	}
	return joinTypes(types, func(t any) string { return w.singleTypeText(m, t, depth) })
}

// singleTypeText writes the type of a schema for one name in its `type`.
func (w *schemaWriter) singleTypeText(m jsonval.Object, name any, depth int) string {
	switch {
	case name == "array":
		if m["items"] == nil {
			return "any[]"
		}
		itemTypeText := w.typeText(m["items"], depth+1)
		if strings.Contains(itemTypeText, " | ") || w.typeComment(m["items"]) != "" {
			itemTypeText = "(" + itemTypeText + w.typeComment(m["items"]) + ")"
		}
		return itemTypeText + "[]"
	case name == "object", name == nil && m["properties"] != nil:
		return w.objectType(m, depth)
	case name == nil:
		return "any"
	}
	return jsonval.AsText(name)
}

func (w *schemaWriter) objectType(m jsonval.Object, depth int) string {
	props := jsonschema.Properties(m)
	required := jsonschema.Required(m)
	var fields []string
	for _, name := range jsonschema.OrderedPropertyNames(props, required) {
		optionalMark := "?"
		if slices.Contains(required, name) {
			optionalMark = ""
		}
		text := w.typeText(props[name], depth+1)
		if typeName, ok := w.nameByTypeText[text]; ok {
			text = typeName
		}
		fields = append(fields, quotedFieldName(name)+optionalMark+": "+text+w.typeComment(props[name]))
	}
	if extraSchema, ok := m["additionalProperties"].(jsonval.Object); ok {
		fields = append(fields, "[key: string]: "+w.typeText(extraSchema, depth+1)+w.typeComment(extraSchema))
	} else if len(props) == 0 && m["additionalProperties"] != false {
		return "object"
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// expressibleKeywords are the keywords of JSON Schema that a type and its comment can express.
var expressibleKeywords = append(strings.Fields(`type properties required additionalProperties items enum
	const anyOf oneOf description $defs definitions $schema $id $comment examples deprecated readOnly writeOnly`),
	constraintKeywords...)

// constraintKeywords are written into the comment beside a type.
var constraintKeywords = strings.Fields(`default format pattern minimum maximum exclusiveMinimum
	exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties`)

// typeComment is the comment for what a type cannot express: its description, and limits on its values.
func (w *schemaWriter) typeComment(schema any) string {
	m := jsonval.AsObject(schema)
	var parts []string
	if text, ok := m["description"].(string); ok && text != "" {
		parts = append(parts, oneLine(text))
	}
	for _, key := range constraintKeywords {
		if v, ok := m[key]; ok {
			parts = append(parts, key+" "+jsonval.EncodeToString(v))
		}
	}
	if parts == nil {
		return ""
	}
	return " /* " + strings.ReplaceAll(strings.Join(parts, "; "), "*/", "* /") + " */"
}

func hasOnlyKeys(m jsonval.Object, keys ...string) bool {
	//workflowcheck:ignore -- asks of all: the order does not matter
	for k := range m {
		if !slices.Contains(keys, k) && !strings.HasPrefix(k, "_") && !strings.HasPrefix(k, "x-") {
			return false
		}
	}
	return true
}

var plainFieldNamePattern = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func quotedFieldName(name string) string {
	if plainFieldNamePattern.MatchString(name) {
		return name
	}
	return jsonval.EncodeToString(name)
}

func joinTypes(list []any, toText func(any) string) string {
	return strings.Join(jsonval.AppendNew(nil, jsonval.Map(list, toText)...), " | ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
