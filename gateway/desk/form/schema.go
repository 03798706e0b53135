package form

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"processidea/client/readable"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// schemaNode is the schema of one place, as far as a form can show it.
type schemaNode struct {
	rootSchema      any
	schema          jsonval.Object // nil: nothing
	schemaPointer   string
	types           []string // without null; none: any
	isNullable      bool
	choices         []any // the only values
	hasSeveralForms bool  // it has several forms: no control shows it
	itemSchema      any
	title           string
	help            string
}

// describeNode reads a schema's node. A choice between null and one other schema is read as that schema, nullable.
func describeNode(rootSchema, schema any, pointer string) (n schemaNode) {
	n.rootSchema = rootSchema
	var help, title string
	for range maxDepth {
		resolvedSchema, resolvedPointer := jsonschema.ResolveLocalRefs(rootSchema, schema, pointer)
		if m, ok := schema.(jsonval.Object); ok { // the keys beside a reference
			help, title = firstText(help, m["description"]), firstText(title, m["title"])
		}
		m, ok := resolvedSchema.(jsonval.Object)
		if !ok {
			break
		}
		n.schema, n.schemaPointer = m, resolvedPointer
		help, title = firstText(help, m["description"]), firstText(title, m["title"])
		nextSchema, subPointer, hasNull, choices, hasSeveralForms := readAlternatives(m)
		n.isNullable = n.isNullable || hasNull
		if choices != nil {
			n.choices = choices
		}
		if hasSeveralForms {
			n.hasSeveralForms = true
		}
		if nextSchema == nil {
			break
		}
		schema, pointer = nextSchema, resolvedPointer+subPointer
	}
	n.help, n.title = help, title
	n.readTypesAndChoices()
	return n
}

func firstText(current string, v any) string {
	if s, ok := v.(string); ok && current == "" {
		return s
	}
	return current
}

// readAlternatives evaluates anyOf and oneOf. nextSchema is the only alternative beside null; choices are the values,
// if all are values.
func readAlternatives(m jsonval.Object) (nextSchema any, subPointer string, hasNull bool, choices []any,
	hasSeveralForms bool) {
	for _, key := range []string{"anyOf", "oneOf"} {
		list, ok := m[key].([]any)
		if !ok {
			continue
		}
		var restIndices []int
		for n, one := range list {
			if alt := jsonval.AsObject(one); alt["type"] == "null" {
				hasNull = true
			} else if values, isEnum := enumValues(alt); isEnum {
				choices = append(choices, values...)
			} else {
				restIndices = append(restIndices, n)
			}
		}
		switch {
		case len(restIndices) == 0 && choices != nil:
			if hasNull {
				choices = append(choices, nil)
			}
			return nil, "", hasNull, choices, false
		case len(restIndices) == 1 && choices == nil && m["properties"] == nil:
			return list[restIndices[0]], "/" + key + "/" + strconv.Itoa(restIndices[0]), hasNull, nil, false
		case m["properties"] == nil:
			return nil, "", hasNull, nil, true
		}
	}
	if m["allOf"] != nil && m["properties"] == nil && m["type"] == nil {
		return nil, "", hasNull, nil, true
	}
	return nil, "", hasNull, nil, false
}

func enumValues(m jsonval.Object) ([]any, bool) {
	if list, ok := m["enum"].([]any); ok {
		return list, true
	}
	if v, ok := m["const"]; ok {
		return []any{v}, true
	}
	return nil, false
}

func (n *schemaNode) readTypesAndChoices() {
	types, ok := jsonval.AsStringList(n.schema["type"])
	if typeName, isText := n.schema["type"].(string); isText {
		types, ok = []string{typeName}, true
	}
	if ok && slices.Contains(types, "null") {
		n.isNullable = true
		types = jsonval.Filter(types, func(t string) bool { return t != "null" })
	}
	if slices.Contains(types, "number") {
		types = jsonval.Filter(types, func(t string) bool { return t != "integer" })
	}
	switch {
	case len(types) > 0:
	case n.schema["properties"] != nil:
		types = []string{"object"}
	case n.schema["items"] != nil:
		types = []string{"array"}
	}
	n.types = types
	if values, isEnum := enumValues(n.schema); isEnum {
		n.choices = values
	}
	if n.choices == nil && len(types) == 1 && types[0] == "boolean" {
		n.choices = []any{true, false}
	}
	n.itemSchema = n.schema["items"]
	if n.schema["prefixItems"] != nil {
		n.hasSeveralForms = true
	}
	if _, isList := n.itemSchema.([]any); isList {
		n.hasSeveralForms = true
	}
}

func (n schemaNode) hasNullChoice() bool { return slices.Contains(n.choices, nil) }

// chooseKind chooses the control for a value.
func (b *builder) chooseKind(n schemaNode, p position, value any, isPresent bool) ControlKind {
	if isPresent && jsonval.SizeUpToLimit(value, maxValueBytes) >= maxValueBytes && p.depth > 0 {
		return Fixed
	}
	if b.fieldCount > maxFields || p.depth > maxDepth || !isPresent && p.depth > maxDepth/2 {
		return JSON
	}
	if isPresent && value == nil && !n.isNullable && !n.hasNullChoice() {
		return JSON
	}
	hasValue := isPresent && value != nil
	kind := n.preferredKind(value, hasValue)
	if hasValue && !canHold(kind, value, n) {
		return JSON
	}
	format, isAmount := b.unitFormat(p.controlName)
	if isAmount && hasValue && kind == Number && format.TypedNumberText(value, b.language) == "" {
		return JSON // such as 1e3
	}
	if text, ok := value.(string); kind == Text && ok &&
		(strings.Contains(text, "\n") || utf8.RuneCountInString(text) > 60) {
		return LongText
	}
	return kind
}

func (n schemaNode) preferredKind(value any, hasValue bool) ControlKind {
	switch {
	case n.choices != nil && len(n.choices) <= maxFields:
		return Choice
	case n.hasSeveralForms, len(n.types) > 1:
		return JSON
	case len(n.types) == 1:
		return n.kindOfType(n.types[0])
	case !hasValue:
		return JSON
	}
	// Without a schema, the value decides.
	switch v := value.(type) {
	case string:
		return n.kindOfType("string")
	case json.Number:
		return Number
	case jsonval.Object:
		if len(v) > 0 {
			return Object
		}
	case []any:
		if len(v) > 0 {
			return List
		}
	}
	return JSON
}

// maxLineChars is the largest maxLength of a text whose control has one line.
const maxLineChars = 120

func (n schemaNode) kindOfType(t string) ControlKind {
	switch t {
	case "string":
		if limit, hasLimit := n.intKeyword("maxLength"); hasLimit && limit > maxLineChars {
			return LongText
		}
		return Text
	case "integer", "number":
		return Number
	case "object":
		return Object
	case "array":
		return List
	}
	return JSON
}

// canHold reports whether a control can hold a value, and gives it back unchanged.
func canHold(kind ControlKind, value any, n schemaNode) bool {
	switch v := value.(type) {
	case string:
		return kind == Choice && containsEqual(n.choices, v) || (kind == Text || kind == LongText) &&
			!strings.ContainsFunc(v, readable.IsHidden) // a browser sends it back unchanged, and shows all of it
	case json.Number:
		return kind == Number || kind == Choice && containsEqual(n.choices, v)
	case jsonval.Object:
		_, isBlobHandle := jsonval.AsBlobHandle(v)
		return kind == Object && !isBlobHandle && len(v) <= maxFields
	case []any:
		return kind == List && len(v) <= maxListItems
	}
	return kind == Choice && containsEqual(n.choices, value)
}

func containsEqual(list []any, v any) bool {
	return slices.ContainsFunc(list, func(one any) bool { return jsonval.Equal(one, v) })
}

// memberKeys returns the keys with fields: the declared ones in the order for people, and then the others of the value.
func memberKeys(n schemaNode, members jsonval.Object) []string {
	declaredProperties, keys := jsonschema.Properties(n.schema), jsonschema.PropertyDisplayOrder(n.schema)
	for _, k := range jsonval.SortedKeys(members) {
		if _, isDeclared := declaredProperties[k]; !isDeclared {
			keys = append(keys, k)
		}
	}
	return keys
}

func (n schemaNode) requires(key string) bool {
	requiredKeys, _ := jsonval.AsStringList(n.schema["required"])
	return slices.Contains(requiredKeys, key)
}

// memberSchema gives the schema of a member, and its place.
func (n schemaNode) memberSchema(key string) (schema any, pointer string) {
	if props, ok := n.schema["properties"].(jsonval.Object); ok {
		if p, ok := props[key]; ok {
			return p, n.schemaPointer + "/properties/" + jsonschema.EscapePointerStep(key)
		}
	}
	if additionalSchema, ok := n.schema["additionalProperties"].(jsonval.Object); ok {
		return additionalSchema, n.schemaPointer + "/additionalProperties"
	}
	return nil, ""
}

// allowsMoreMembers reports whether an object may have members that have no fields yet.
func (n schemaNode) allowsMoreMembers() bool {
	additionalSchema, isGiven := n.schema["additionalProperties"]
	return n.schema != nil && additionalSchema != false &&
		(isGiven || n.schema["properties"] == nil || n.schema["patternProperties"] != nil)
}

func (n schemaNode) intKeyword(key string) (int, bool) {
	number, _ := n.schema[key].(json.Number)
	v, err := strconv.Atoi(number.String())
	return v, err == nil
}

func joinSentences(a, b string) string {
	if b == "" || a == b {
		return a
	}
	return strings.TrimSuffix(a, ".") + ". " + b
}
