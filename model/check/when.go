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
	c.checkApprovalConditionPart(t.Approval.ParamsCondition.Source, params, nil, path+"._approval.when")
}

// memberNames lists the members that a value may have, by the parts of a schema that check it. allowsOtherNames reports
// whether it may have others.
func memberNames(parts []jsonval.Object) (names []string, allowsOtherNames bool) {
	for _, part := range parts {
		ownNames := jsonval.SortedKeys(jsonschema.Properties(part))
		names = append(names, ownNames...)
		additionalProperties, hasAdditionalProperties := part["additionalProperties"]
		hasParts := slices.ContainsFunc(jsonschema.InPlaceKeywords, func(k string) bool { return part[k] != nil })
		allowsOtherNames = allowsOtherNames || len(part) == 0 || hasAdditionalProperties &&
			additionalProperties != false ||
			part["patternProperties"] != nil ||
			len(ownNames) == 0 && !hasParts && slices.Contains(jsonschema.Types(part), "object")
	}
	slices.Sort(names)
	return slices.Compact(names), allowsOtherNames
}

// checkApprovalConditionPart warns of parts of a condition that have no effect. valuePath is the path to the value that
// the part is about, and params the schema of all parameters; nil: any.
func (c *checker) checkApprovalConditionPart(schema, paramsSchema any, valuePath jsonval.Path, path string) {
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
	c.checkApprovalKeywordEffects(s, paramsSchema, valuePath, path)
	knownNames, allowsOtherNames := memberNames(jsonschema.SubschemasAt(paramsSchema, valuePath))
	warnIfUnknown := func(k, propertyPath string) {
		owner := "the Tool has no parameter"
		if len(valuePath) > 0 {
			owner = "the parameter has no member"
		}
		if len(knownNames) > 0 && !allowsOtherNames && !slices.Contains(knownNames, k) {
			c.addWarning(propertyPath, "%s %q%s", owner, jsonval.ClipForError(k),
				diag.DidYouMeanOrListNames(k, knownNames))
		}
	}
	properties := jsonschema.Properties(s)
	for k, property := range jsonval.Sorted(properties) {
		propertyPath := jsonval.JSONPathWithKey(path+".properties", k)
		warnIfUnknown(k, propertyPath)
		c.checkApprovalConditionPart(property, paramsSchema, valuePath.WithStep(k), propertyPath)
	}
	for _, k := range jsonschema.Required(s) {
		if _, isKnown := properties[k]; !isKnown {
			warnIfUnknown(k, path+".required")
		}
	}
	for _, k := range jsonschema.InPlaceKeywords {
		for _, part := range jsonschema.PartsOfKeyword(s, k) {
			c.checkApprovalConditionPart(part, paramsSchema, valuePath, path+"."+k)
		}
	}
	for _, k := range []string{"items", "contains", "prefixItems"} {
		for _, part := range jsonschema.PartsOfKeyword(s, k) {
			c.checkApprovalConditionPart(part, paramsSchema, valuePath.WithStep("0"), path+"."+k)
		}
	}
}

// checkApprovalKeywordEffects warns of keywords that have no effect on the values that they apply to.
func (c *checker) checkApprovalKeywordEffects(s jsonval.Object, paramsSchema any, valuePath jsonval.Path, path string) {
	_, hasThen := s["then"]
	_, hasElse := s["else"]
	if _, hasIf := s["if"]; hasIf != (hasThen || hasElse) {
		c.addWarning(path, "if without then or else has no effect, nor have these without if")
	}
	paramTypes, subschema := jsonschema.TypesAt(paramsSchema, valuePath),
		jsonschema.SubschemaAt(paramsSchema, valuePath)
	isOfType := func(t string) bool {
		return slices.Contains(paramTypes, t) || t == "integer" && slices.Contains(paramTypes, "number") ||
			t == "number" && slices.Contains(paramTypes, "integer")
	}
	for k := range jsonval.Sorted(s) {
		wantedType := typeByKeyword[k]
		if wantedType != "" && len(paramTypes) > 0 && !isOfType(wantedType) {
			c.addWarning(jsonval.JSONPathWithKey(path, k), "%s has no effect on a value of type %s", k,
				strings.Join(paramTypes, " or "))
		}
	}
	if wantedTypes := jsonschema.Types(s); len(paramTypes) > 0 && len(wantedTypes) > 0 &&
		!slices.ContainsFunc(wantedTypes, isOfType) {
		c.addWarning(path, "no Call can have a value of type %s here: the Tool's schema does not allow it",
			strings.Join(wantedTypes, " or "))
	}
	values := slices.Clone(jsonval.AsList(s["enum"]))
	if v, ok := s["const"]; ok {
		values = append(values, v)
	}
	for _, v := range values {
		if paramsSchema != nil && subschema.IsDescribed && schemaMismatchReason(paramsSchema, subschema, v) != "" {
			c.addWarning(path, "no Call can have the value %s here: the Tool's schema does not allow it",
				jsonval.ClipForError(jsonval.EncodeToString(v)))
		}
	}
}
