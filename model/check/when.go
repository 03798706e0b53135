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

// keywords are the keywords of JSON Schema, old ones among them.
var keywords = strings.Fields(`$anchor $comment $defs $dynamicAnchor $dynamicRef $id $ref $schema
	additionalItems additionalProperties allOf anyOf const contains default definitions dependencies
	dependentRequired dependentSchemas deprecated description else enum examples exclusiveMaximum exclusiveMinimum
	format if items maxContains maxItems maxLength maxProperties maximum minContains minItems minLength
	minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems properties propertyNames
	readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly`)

// checkWhen warns of a condition of a Tool's policy that probably does not mean what was intended.
func (c *checker) checkWhen(t *ideafile.Tool, path string) {
	if t.Approval == nil || t.Approval.ParamsCondition == nil {
		return
	}
	params := jsonval.SortedKeys(jsonschema.Properties(t.Source))
	if m, ok := t.MCPToolRef(); t.AllowsExtraParams || ok && m.SpecDigest == "" {
		params = nil // others may come
	}
	c.checkCondition(t.Approval.ParamsCondition.Source, params, path+"._approval.when")
}

// checkCondition warns of parts of a schema without any keyword, and of names that are no parameter; none: any may be.
func (c *checker) checkCondition(schema any, params []string, path string) {
	s, ok := schema.(jsonval.Object)
	if !ok {
		return
	}
	keys := jsonval.SortedKeys(s)
	if len(keys) > 0 && !slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(keywords, k) }) {
		c.addWarning(path, "it matches every Call, since %s is no keyword of JSON Schema; want a schema such as "+
			`{"properties": {"amount": {"exclusiveMinimum": 1000}}}`, jsonval.Short(keys[0]))
		return
	}
	name := func(param, at string) {
		if len(params) > 0 && !slices.Contains(params, param) {
			c.addWarning(at, "the Tool has no parameter %q%s", jsonval.Short(param),
				diag.DidYouMeanOrListNames(param, params))
		}
	}
	properties := jsonschema.Properties(s)
	for k, property := range jsonval.Sorted(properties) {
		at := jsonval.JSONPathWithKey(path+".properties", k)
		name(k, at)
		c.checkCondition(property, nil, at)
	}
	for _, k := range jsonschema.Required(s) {
		if _, told := properties[k]; !told {
			name(k, path+".required")
		}
	}
	for _, k := range jsonschema.InPlaceKeywords {
		for _, part := range jsonschema.InPlaceParts(s, k) {
			c.checkCondition(part, params, path+"."+k)
		}
	}
}
