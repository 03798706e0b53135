package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// schemaType returns the type of a schema's values, such as object or array; empty if several types are possible.
func (d *document) schemaType(schema any) string {
	m := d.unwrapSchema(schema)
	var types []string
	switch v := m["type"].(type) {
	case string:
		types = []string{v}
	case []any:
		for _, e := range v {
			if s, _ := e.(string); s != "null" {
				types = append(types, s)
			}
		}
	}
	switch {
	case len(types) == 1:
		return types[0]
	case len(types) > 1:
		return ""
	case m["properties"] != nil:
		return "object"
	case m["items"] != nil:
		return "array"
	}
	return ""
}

// nonNullValueType returns the type of a schema's values other than null. Generators for 3.1 write null as one of two
// schemas.
func (d *document) nonNullValueType(schema any) string {
	m := d.unwrapSchema(schema)
	for _, k := range []string{"anyOf", "oneOf"} {
		list, _ := m[k].([]any)
		list = jsonval.Filter(list, func(part any) bool { return d.schemaType(part) != "null" })
		if len(list) == 1 && m["type"] == nil {
			return d.schemaType(list[0])
		}
	}
	return d.schemaType(schema)
}

// maxRefChain bounds how far references to references are followed.
const maxRefChain = 20

// soleConstrainingSchema returns the only schema of an allOf that constrains values; people use such an allOf to
// describe a reference. annotations are those of the allOf's other schemas and of m itself. ok is false if there is
// another such schema.
func soleConstrainingSchema(m jsonval.Object) (part any, annotations []jsonval.Object, ok bool) {
	all, _ := m["allOf"].([]any)
	for _, p := range all {
		if a, isObject := p.(jsonval.Object); isObject && hasOnlyAnnotations(a) {
			annotations = append(annotations, a)
		} else if part != nil {
			return nil, nil, false
		} else {
			part = p
		}
	}
	siblings := maps.Clone(m)
	delete(siblings, "allOf")
	return part, append(annotations, siblings), part != nil && hasOnlyAnnotations(siblings)
}

// hasOnlyAnnotations reports whether a schema does not constrain values, except for null.
func hasOnlyAnnotations(m jsonval.Object) bool {
	for k := range m {
		if k == "$ref" || jsonschema.IsApplicator(k) ||
			(slices.Contains(copiedKeywords, k) && !slices.Contains([]string{"title", "description", "default"}, k)) ||
			k == "format" || k == "pattern" {
			return false
		}
	}
	return true
}

// unwrapSchema resolves the references at the top of a schema, and an allOf around a single schema.
func (d *document) unwrapSchema(schema any) jsonval.Object {
	for range maxRefChain {
		m, ok := schema.(jsonval.Object)
		if !ok {
			return nil
		}
		if ref, ok := m["$ref"].(string); ok {
			next, err := d.resolveRef(ref)
			if err != nil {
				return nil
			}
			schema = next
		} else if part, _, ok := soleConstrainingSchema(m); ok {
			schema = part
		} else {
			return m
		}
	}
	return nil
}

// subtypesSchema returns, for a reference to a base schema with a discriminator, the schema of all that inherit from it
// by allOf: those of the discriminator's mapping or, without one, those of any name. A request with the base alone
// would lack their members. nil: nothing inherits from it.
func (d *document) subtypesSchema(ref string) jsonval.Object {
	subtypeSchema, isKnown := d.subtypesByRef[ref]
	if !isKnown {
		subtypeSchema = d.buildSubtypesSchema(ref)
		d.subtypesByRef[ref] = subtypeSchema
	}
	return subtypeSchema
}

func (d *document) buildSubtypesSchema(ref string) jsonval.Object {
	base, _ := d.resolveRef(ref)
	m := jsonval.AsObject(base)
	discriminator := jsonval.AsObject(m["discriminator"])
	if jsonval.AsText(discriminator["propertyName"]) == "" || m["oneOf"] != nil || m["anyOf"] != nil {
		return nil
	}
	const schemaPrefix = "#/components/schemas/"
	mapping := jsonval.AsObject(discriminator["mapping"])
	if len(mapping) == 0 {
		mapping = jsonval.Object{}
		for name := range jsonval.AsObject(d.valueAt(d.root, "components", "schemas")) {
			mapping[name] = name
		}
	}
	var variants []any
	isAdded := map[string]bool{}
	for _, target := range jsonval.Sorted(mapping) {
		childRef := jsonval.AsText(target)
		if _, err := d.resolveRef(childRef); err != nil {
			childRef = schemaPrefix + childRef
		}
		if !isAdded[childRef] && d.inherits(childRef, ref) {
			isAdded[childRef], variants = true, append(variants, jsonval.Object{"$ref": childRef})
		}
	}
	if len(variants) == 0 {
		return nil
	}
	out := jsonval.Object{"oneOf": variants, "discriminator": jsonval.WithKey(discriminator, "mapping", mapping)}
	if text := jsonval.AsText(m["description"]); text != "" {
		out["description"] = text
	}
	return out
}

// inherits reports whether a schema has another in its allOf, directly or through others.
func (d *document) inherits(childRef, baseRef string) bool {
	for refs := []string{childRef}; len(refs) <= maxRefChain; {
		var parents []string
		for _, ref := range refs {
			schema, _ := d.resolveRef(ref)
			parents = jsonval.AppendNew(parents, refsOfAllOf(schema)...)
		}
		if slices.Contains(parents, baseRef) {
			return true
		}
		count := len(refs)
		if refs = jsonval.AppendNew(refs, parents...); len(refs) == count {
			return false
		}
	}
	return false
}

// refsOfAllOf lists the references in a schema's allOf.
func refsOfAllOf(schema any) (refs []string) {
	for _, part := range jsonval.AsList(jsonval.AsObject(schema)["allOf"]) {
		if ref := jsonval.AsText(jsonval.AsObject(part)["$ref"]); ref != "" {
			refs = append(refs, ref)
		}
	}
	return refs
}

// hasSubtypes reports whether values of a schema may be of those that inherit from it.
func (d *document) hasSubtypes(schema any) bool {
	for range maxRefChain {
		m := jsonval.AsObject(schema)
		ref := jsonval.AsText(m["$ref"])
		if part, _, ok := soleConstrainingSchema(m); ref == "" && ok {
			schema = part
			continue
		}
		if ref == "" || d.subtypesSchema(ref) != nil {
			return ref != ""
		}
		schema, _ = d.resolveRef(ref)
	}
	return false
}

// nonMemberKeywords are keywords of schemas that are more than a list of members.
var nonMemberKeywords = strings.Fields(`allOf anyOf oneOf not if then else patternProperties propertyNames minProperties
	maxProperties dependentRequired dependentSchemas unevaluatedProperties $dynamicRef`)

// objectFields returns the properties of an object schema that has nothing else, without the read-only ones; false for
// any other schema.
func (d *document) objectFields(schema any) ([]toolParam, bool) {
	m := d.unwrapSchema(schema)
	properties, _ := m["properties"].(jsonval.Object)
	if t, isGiven := m["type"]; len(properties) == 0 || (isGiven && t != "object") || m["nullable"] == true {
		return nil, false
	}
	if additionalProperties, isGiven := m["additionalProperties"]; isGiven && additionalProperties != false {
		return nil, false
	}
	for _, k := range nonMemberKeywords {
		if m[k] != nil {
			return nil, false
		}
	}
	required, _ := m["required"].([]any)
	fieldOrder := jsonschema.PropertyDisplayOrder(m)
	var list []toolParam
	for name, schema := range jsonval.Sorted(properties) {
		if d.unwrapSchema(schema)["readOnly"] == true {
			continue
		}
		list = append(list, toolParam{name: name, schema: schema, isRequired: slices.Contains(required, any(name)),
			displayPosition: d.placedFieldCount + slices.Index(fieldOrder, name) + 1})
	}
	d.placedFieldCount += len(properties)
	return list, true
}

// copiedKeywords are the keywords that constrain or describe values and hold no schemas.
var copiedKeywords = strings.Fields(`type title description enum const default required minimum maximum exclusiveMinimum
	exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties
	minContains maxContains dependentRequired`)

// checkedFormats are the formats that are validated, and allowed in strict mode.
var checkedFormats = strings.Fields("date-time time date duration email hostname ipv4 ipv6 uuid")

// displayByFormat says how values of a format are displayed to people.
var displayByFormat = map[string]string{"date": "date", "date-time": "datetime"}

// convertKeywords converts the keywords of one schema to those of JSON Schema 2020-12. It leaves out what no schema can
// contain, such as minLength -1: the check of a Tool would refuse every operation with such a schema.
func (c *converter) convertKeywords(m jsonval.Object) jsonval.Object {
	out := jsonval.Object{}
	m = maps.Clone(m)
	for _, k := range []string{"exclusiveMinimum", "exclusiveMaximum", "items"} {
		jsonschema.RewriteForNewestDraft(m, k)
	}
	if m["type"] == fileSchemaType {
		m["type"] = "string"
	}
	if list, isList := m["required"].([]any); isList { // no validator accepts repeated names
		m["required"] = jsonval.AppendNew([]any(nil), list...)
	}
	for k, v := range m {
		if k == "format" && displayByFormat[jsonval.AsText(v)] != "" {
			out[jsonschema.DisplayKey] = displayByFormat[jsonval.AsText(v)]
		}
		switch {
		case v == nil && k != "const" && k != "default": // as if absent
		case k == jsonschema.OrderKey:
			out[k] = v
		case slices.Contains(copiedKeywords, k), jsonschema.IsApplicator(k):
			if out[k] = v; !c.doc.isUsableKeyword(k, v) {
				delete(out, k)
				c.dropPart(k, v)
			}
		case k == "format" && c.omitKey == "readOnly" && slices.Contains(checkedFormats, jsonval.AsText(v)):
			out[k] = v // servers are less exact in their answers
		case k == "pattern":
			steps, err := jsonschema.CountCompiledSteps(jsonval.AsText(v))
			if err == nil && steps <= jsonschema.MaxServerToolCompiledStepsPerPattern {
				out[k] = jsonval.AsText(v)
			} else {
				c.droppedParts["pattern "+jsonval.AsText(v)] = true
			}
		case k == "$dynamicRef", k == "$recursiveRef":
			c.droppedParts[k] = true
		}
	}
	if m["patternProperties"] != nil && out["patternProperties"] == nil { // what it allowed stays allowed
		delete(out, "additionalProperties")
		delete(out, "unevaluatedProperties")
	}
	if values, isList := out["enum"].([]any); isList {
		types := jsonschema.Types(out)
		out["enum"] = jsonval.Map(values, func(v any) any { return convertToAllowedType(v, types) })
	}
	escapeDaggerConst(out)
	return out
}

// isUsableKeyword reports whether a validator can read a keyword. Most need no compilation to tell.
func (d *document) isUsableKeyword(k string, v any) bool {
	_, isText := v.(string)
	holdsSchemas := false
	jsonschema.MapSubschemas(jsonval.Object{k: v}, func(string, any) any { holdsSchemas = true; return nil })
	if k == "default" || k == "const" || isText && (k == "title" || k == "description") ||
		holdsSchemas && k != "patternProperties" {
		return true
	}
	key := k + " " + jsonval.EncodeToString(v)
	isUsable, isKnown := d.isUsableByKeywordValue[key]
	if !isKnown {
		isUsable = jsonschema.IsValidKeyword(nil, k, v)
		d.isUsableByKeywordValue[key] = isUsable
	}
	return isUsable
}

// convertToAllowedType returns the value of one of the types that is written like a value; the value itself if there is
// none. Hardly anybody writes quotes around the texts of an enum in YAML, and some put them around numbers.
func convertToAllowedType(v any, types []string) any {
	isAllowed := func(v any) bool {
		schemaType := jsonschema.SchemaTypeOf(v)
		return slices.Contains(types, schemaType) || schemaType == "integer" && slices.Contains(types, "number")
	}
	if len(types) == 0 || isAllowed(v) {
		return v
	}
	switch v := v.(type) {
	case string:
		if decoded, err := jsonval.Decode([]byte(v)); err == nil && decoded != nil && isAllowed(decoded) {
			return decoded
		}
	case json.Number, bool:
		if slices.Contains(types, "string") {
			return jsonval.EncodeToString(v)
		}
	}
	return v
}

// escapeDaggerConst rewrites a constant that would be read as a Reference, which would pass on values of the State.
func escapeDaggerConst(m jsonval.Object) {
	if s := jsonval.AsText(m["const"]); strings.HasPrefix(s, "†") {
		delete(m, "const")
		m["enum"] = []any{s}
	}
}
