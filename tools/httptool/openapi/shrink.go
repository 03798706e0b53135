package openapi

import (
	"cmp"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// maxParams bounds the schemas of all parameters together, in bytes of JSON.
const maxParams = 32 << 10

// minNodeBytes is the minimum size of a schema within another, in bytes of JSON.
const minNodeBytes = 6

// maxCutDepth bounds the depth of a schema that is too large as a whole.
const maxCutDepth = 8

// fitSchema converts schemas completely if they are not too large, or else to the greatest depth that fits. Every
// Request sends every schema to the LLM, and documents whose parts all refer to each other are common.
func (t *tool) fitSchema(what string, limit int, build func(*converter) any, hidden string) any {
	// Every node takes at least minNodeBytes, so that a schema is known to be too large before it is complete.
	convert := func(maxDepth int) (c *converter, out any, fits bool) {
		c = newConverter(t.doc, hidden, maxDepth, min(maxNodes, limit/minNodeBytes))
		out = build(c)
		return c, out, c.nodes <= c.maxNodes && len(jsonval.Encode(jsonschema.WithoutOrder(out))) <= limit
	}
	c, out, fits := convert(-1)
	if !fits {
		c, out, _ = convert(0)
		for maxDepth := 1; maxDepth <= maxCutDepth; maxDepth++ {
			deeper, form, fits := convert(maxDepth)
			if !fits {
				break
			}
			c, out = deeper, form
		}
		t.note("%s is too large and was cut", what)
	}
	for _, lost := range jsonval.SortedKeys(c.lost) {
		t.note("%s: %s is left out", what, lost)
	}
	return out
}

// readSchemas makes the schemas of the parameters.
func (t *tool) readSchemas() error {
	var outside errOutside
	out := t.fitSchema("the form of its parameters", maxParams, func(c *converter) any {
		properties := jsonval.Object{}
		for _, f := range t.fields {
			properties[f.name] = f.form(c)
		}
		outside = cmp.Or(outside, c.outside)
		return c.root(jsonval.Object{"properties": properties})
	}, "readOnly").(jsonval.Object)
	t.properties, _ = out["properties"].(jsonval.Object)
	t.definitions, _ = out["$defs"].(jsonval.Object)
	if outside != (errOutside{}) {
		return outside
	}
	return nil
}

var separatorNames = map[string]string{",": "commas", " ": "spaces", "|": "bars"}

// form returns the schema of a parameter, with its description.
func (f field) form(c *converter) any {
	description := f.description
	if f.list != "" {
		description = strings.TrimSpace(description + "\nSeveral are separated by " + separatorNames[f.list] + ".")
		return jsonval.Object{"type": "string", "description": jsonval.Clip(description, maxDescription)}
	}
	var form any = jsonval.Object{}
	if f.schema != nil {
		form = c.convert(f.schema)
	}
	m, ok := form.(jsonval.Object)
	if !ok {
		m = jsonval.Object{"allOf": []any{form}}
	}
	if description != "" {
		m["description"] = jsonval.Clip(description, maxDescription)
	}
	return m
}
