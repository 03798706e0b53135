package openapi

import (
	"cmp"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// maxParamSchemaBytes bounds the schemas of all parameters together, in bytes of JSON.
const maxParamSchemaBytes = 32 << 10

// minNodeBytes is the minimum size of a schema within another, in bytes of JSON.
const minNodeBytes = 6

// maxCutSchemaDepth bounds the depth of a schema that is too large as a whole.
const maxCutSchemaDepth = 8

// fitSchema converts schemas completely if they are not too large, or else to the greatest depth that fits. Every
// Request sends every schema to the LLM, and documents whose parts all refer to each other are common.
func (t *toolBuilder) fitSchema(label string, maxBytes int, build func(*converter) any, omitKey string) any {
	// Every node takes at least minNodeBytes, so that a schema is known to be too large before it is complete.
	convert := func(maxDepth int) (c *converter, out any, fits bool) {
		c = newConverter(t.doc, omitKey, maxDepth, min(maxNodes, maxBytes/minNodeBytes))
		out = build(c)
		return c, out, c.nodeCount <= c.maxNodes &&
			len(jsonval.Encode(jsonschema.WithoutPropertyOrder(out))) <= maxBytes
	}
	c, out, fits := convert(-1)
	if !fits {
		c, out, _ = convert(0)
		for maxDepth := 1; maxDepth <= maxCutSchemaDepth; maxDepth++ {
			deeperConverter, deeperSchema, fits := convert(maxDepth)
			if !fits {
				break
			}
			c, out = deeperConverter, deeperSchema
		}
		t.note("%s is too large and was cut", label)
	}
	for _, droppedPart := range jsonval.SortedKeys(c.droppedParts) {
		t.note("%s: %s is left out", label, droppedPart)
	}
	return out
}

// readSchemas makes the schemas of the parameters.
func (t *toolBuilder) readSchemas() error {
	var outsideRefErr outsideRefError
	out := t.fitSchema("the form of its parameters", maxParamSchemaBytes, func(c *converter) any {
		properties := jsonval.Object{}
		for _, f := range t.params {
			properties[f.name] = f.toSchema(c)
		}
		outsideRefErr = cmp.Or(outsideRefErr, c.outsideRefErr)
		return c.withDefinitions(jsonval.Object{"properties": properties})
	}, "readOnly").(jsonval.Object)
	t.paramSchemas, _ = out["properties"].(jsonval.Object)
	t.paramDefinitions, _ = out["$defs"].(jsonval.Object)
	if outsideRefErr != (outsideRefError{}) {
		return outsideRefErr
	}
	return nil
}

var nameBySeparator = map[string]string{",": "commas", " ": "spaces", "|": "bars"}

// toSchema returns the schema of a parameter, with its description.
func (f toolParam) toSchema(c *converter) any {
	description := f.description
	if f.separator != "" {
		description = strings.TrimSpace(description + "\nSeveral are separated by " + nameBySeparator[f.separator] +
			".")
		return jsonval.Object{"type": "string", "description": jsonval.Clip(description, maxDescriptionChars)}
	}
	var schema any = jsonval.Object{}
	if f.schema != nil {
		schema = c.convert(f.schema)
	}
	m, ok := schema.(jsonval.Object)
	if !ok {
		m = jsonval.Object{"allOf": []any{schema}}
	}
	if description != "" {
		m["description"] = jsonval.Clip(description, maxDescriptionChars)
	}
	return m
}
