package check

import (
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// A policy's `when` is evaluated as a JSON Schema, in which an unknown keyword or the name of an unknown parameter has
// no effect: every Call would be asked about, or the wrong ones.

// jsonSchemaKeywords are the keywords of JSON Schema, old ones among them.
var jsonSchemaKeywords = strings.Fields(`$anchor $comment $defs $dynamicAnchor $dynamicRef $id $ref $schema
	additionalItems additionalProperties allOf anyOf const contains default definitions dependencies
	dependentRequired dependentSchemas deprecated description else enum examples exclusiveMaximum exclusiveMinimum
	format if items maxContains maxItems maxLength maxProperties maximum minContains minItems minLength
	minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems properties propertyNames
	readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly`)

// typeByKeyword maps each keyword to the type of the values that it constrains. Values of other types always match.
var typeByKeyword = map[string]string{"minimum": "number", "maximum": "number", "exclusiveMinimum": "number",
	"exclusiveMaximum": "number", "multipleOf": "number", "minLength": "string", "maxLength": "string",
	"pattern": "string", "items": "array", "prefixItems": "array", "contains": "array", "minItems": "array",
	"maxItems": "array", "uniqueItems": "array", "properties": "object", "required": "object",
	"minProperties": "object", "maxProperties": "object"}

// checkApprovalCondition warns of a condition of a Tool's policy that probably does not mean what was intended.
func (c *checker) checkApprovalCondition(t *ideafile.Tool, path string) {
	if t.Approval == nil || t.Approval.ParamsCondition == nil {
		return
	}
	var params any = t.ParamsSchemaSource()
	if m, ok := t.MCPToolRef(); t.AllowsExtraParams || ok && m.SpecDigest == "" {
		params = nil // others may come
	}
	c.checkCondition(t.Approval.ParamsCondition.Source, conditionSubject{params, params, "the Tool has no parameter"},
		path+"._approval.when")
}

// conditionSubject is what a part of a condition is about: the schema of all parameters, or of a value in them. nil:
// any.
type conditionSubject struct {
	root, schema any
	noMemberText string // begins the warning about a name that it does not have
}

// members returns the schemas of the members that a value may have, by their names. isOpen reports whether it may have
// others.
func (s conditionSubject) members() (members jsonval.Object, isOpen bool) {
	members = jsonval.Object{}
	return members, s.collectMembers(s.schema, members, maxFollowed)
}

// maxFollowed bounds how deep the parts of a schema are followed: references may form a circle.
const maxFollowed = 10

func (s conditionSubject) collectMembers(schema any, members jsonval.Object, depth int) (isOpen bool) {
	schema, _ = jsonschema.ResolveLocalRefs(s.root, schema, "")
	m := jsonval.AsObject(schema)
	own := jsonschema.Properties(m)
	more, isGiven := m["additionalProperties"]
	if depth == 0 || len(m) == 0 || isGiven && more != false || m["patternProperties"] != nil {
		isOpen = true
	}
	for name, member := range own {
		if other, known := members[name]; known {
			member = jsonval.Object{"anyOf": []any{other, member}}
		}
		members[name] = member
	}
	isPlain := true
	for _, k := range jsonschema.InPlaceKeywords {
		for _, part := range jsonschema.InPlaceParts(m, k) {
			if part != nil && k != "not" && depth > 0 {
				isPlain = false
				isOpen = s.collectMembers(part, members, depth-1) || isOpen
			}
		}
	}
	return isOpen || isPlain && len(own) == 0 && slices.Contains(jsonschema.Types(m), "object")
}

func (s conditionSubject) member(name string) conditionSubject {
	members, _ := s.members()
	return s.part(members[name])
}

// item returns the subject for the items of a list.
func (s conditionSubject) item() conditionSubject {
	var items []any
	m := jsonval.AsObject(s.schema)
	for _, list := range slices.Concat([]any{m}, jsonval.AsList(m["anyOf"]), jsonval.AsList(m["oneOf"])) {
		list, _ = jsonschema.ResolveLocalRefs(s.root, list, "")
		if of := jsonval.AsObject(list); of["items"] != nil && of["prefixItems"] == nil {
			items = append(items, of["items"])
		}
	}
	if len(items) != 1 {
		return s.part(nil)
	}
	return s.part(items[0])
}

func (s conditionSubject) part(schema any) conditionSubject {
	schema, _ = jsonschema.ResolveLocalRefs(s.root, schema, "")
	return conditionSubject{s.root, schema, "the parameter has no member"}
}

// checkCondition warns of parts of a condition that have no effect.
func (c *checker) checkCondition(schema any, subject conditionSubject, path string) {
	s, ok := schema.(jsonval.Object)
	if !ok {
		return
	}
	keys := jsonval.SortedKeys(s)
	if len(keys) > 0 && !slices.ContainsFunc(keys, func(k string) bool {
		return slices.Contains(jsonSchemaKeywords, k)
	}) {
		c.addWarning(path, "it matches every Call, since %s is no keyword of JSON Schema; want a schema such as "+
			`{"properties": {"amount": {"exclusiveMinimum": 1000}}}`, jsonval.ClipForError(keys[0]))
		return
	}
	c.checkConditionEffects(s, subject, path)
	members, isOpen := subject.members()
	warnIfUnknown := func(k, propertyPath string) {
		if _, isKnown := members[k]; len(members) > 0 && !isOpen && !isKnown {
			names := jsonval.SortedKeys(members)
			c.addWarning(propertyPath, "%s %q%s", subject.noMemberText, jsonval.ClipForError(k),
				diag.DidYouMeanOrListNames(k, names))
		}
	}
	properties := jsonschema.Properties(s)
	for k, property := range jsonval.Sorted(properties) {
		propertyPath := jsonval.JSONPathWithKey(path+".properties", k)
		warnIfUnknown(k, propertyPath)
		c.checkCondition(property, subject.member(k), propertyPath)
	}
	for _, k := range jsonschema.Required(s) {
		if _, isKnown := properties[k]; !isKnown {
			warnIfUnknown(k, path+".required")
		}
	}
	for _, k := range jsonschema.InPlaceKeywords {
		for _, part := range jsonschema.InPlaceParts(s, k) {
			c.checkCondition(part, subject, path+"."+k)
		}
	}
	for _, k := range []string{"items", "contains", "prefixItems"} {
		for _, part := range jsonschema.InPlaceParts(s, k) {
			c.checkCondition(part, subject.item(), path+"."+k)
		}
	}
}

// checkConditionEffects warns of keywords that have no effect on the values that they apply to.
func (c *checker) checkConditionEffects(s jsonval.Object, subject conditionSubject, path string) {
	_, hasThen := s["then"]
	_, hasElse := s["else"]
	if _, hasIf := s["if"]; hasIf != (hasThen || hasElse) {
		c.addWarning(path, "if without then or else has no effect, nor have these without if")
	}
	types := jsonschema.Types(subject.schema)
	isOfType := func(t string) bool {
		return slices.Contains(types, t) || t == "integer" && slices.Contains(types, "number") ||
			t == "number" && slices.Contains(types, "integer")
	}
	for k := range jsonval.Sorted(s) {
		wantedType := typeByKeyword[k]
		if wantedType != "" && len(types) > 0 && !isOfType(wantedType) {
			c.addWarning(jsonval.JSONPathWithKey(path, k), "%s has no effect on a value of type %s", k,
				strings.Join(types, " or "))
		}
	}
	if wantedTypes := jsonschema.Types(s); len(types) > 0 && len(wantedTypes) > 0 &&
		!slices.ContainsFunc(wantedTypes, isOfType) {
		c.addWarning(path, "no Call can have a value of type %s here: the Tool's schema does not allow it",
			strings.Join(wantedTypes, " or "))
	}
	values := slices.Clone(jsonval.AsList(s["enum"]))
	if v, ok := s["const"]; ok {
		values = append(values, v)
	}
	subjectSchema, err := jsonschema.CompileSchema(subject.schema)
	for _, v := range values {
		if subject.schema != nil && err == nil && subjectSchema.Validate(v) != nil {
			c.addWarning(path, "no Call can have the value %s here: the Tool's schema does not allow it",
				jsonval.ClipForError(jsonval.EncodeToString(v)))
		}
	}
}
