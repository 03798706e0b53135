package openapi

import (
	"maps"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// maxParams is how large the parameters' forms may be together, in bytes of JSON.
const maxParams = 32 << 10

// deepest is how deep a form still goes that was too large whole.
const deepest = 8

// fit converts schemas as a whole where they are not too large, and else only as deep as they may go: the LLM is told
// every form in every Request, and documents whose every part refers to every other are common.
func (t *tool) fit(what string, limit int, build func(*converter) any, hidden string) any {
	c := newConverter(t.doc, hidden, -1)
	out := build(c)
	if c.nodes > maxNodes || len(jsonval.Encode(out)) > limit {
		for most := deepest; most >= 0; most-- {
			c = newConverter(t.doc, hidden, most)
			out = build(c)
			if c.nodes <= maxNodes && len(jsonval.Encode(out)) <= limit {
				break
			}
		}
		t.note("%s is cut, being too large", what)
	}
	for _, lost := range slices.Sorted(maps.Keys(c.lost)) {
		t.note("%s: %s is left out", what, lost)
	}
	return out
}

// readSchemas makes the forms of the parameters.
func (t *tool) readSchemas() error {
	out := t.fit("the form of its parameters", maxParams, func(c *converter) any {
		properties := map[string]any{}
		for _, f := range t.fields {
			properties[f.name] = f.form(c)
		}
		return c.root(map[string]any{"properties": properties})
	}, "readOnly").(map[string]any)
	t.properties, _ = out["properties"].(map[string]any)
	t.definitions, _ = out["$defs"].(map[string]any)
	return nil
}

var separatorNames = map[string]string{",": "commas", " ": "spaces", "|": "bars"}

// form is the schema of a parameter, with its description.
func (f field) form(c *converter) any {
	description := f.description
	if f.list != "" {
		description = strings.TrimSpace(description + "\nSeveral are separated by " + separatorNames[f.list] + ".")
		return map[string]any{"type": "string", "description": jsonval.Clip(description, maxDescription)}
	}
	var form any = map[string]any{}
	if f.schema != nil {
		form = c.convert(f.schema)
	}
	m, ok := form.(map[string]any)
	if !ok {
		m = map[string]any{"allOf": []any{form}}
	}
	if description != "" {
		m["description"] = jsonval.Clip(description, maxDescription)
	}
	return m
}
