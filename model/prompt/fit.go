package prompt

import (
	"fmt"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// fitting is the form of the entries that give fitted values of a Tool, one choice for each set of parameters.
func (c *composer) fitting(t *ideafile.Tool, asking []turn.Question) []any {
	var sets []string
	ids, names := map[string][]any{}, map[string][]string{}
	for _, a := range asking {
		if a.Tool != t.Name || a.ParamsError == "" {
			continue
		}
		set := string(jsonval.Encode(jsonval.Normal(jsonval.SortedKeys(a.Params))))
		if ids[set] == nil {
			sets = append(sets, set)
		}
		ids[set], names[set] = append(ids[set], a.ID), jsonval.SortedKeys(a.Params)
	}
	var choices []any
	for n, set := range sets {
		props, _ := t.ParamsSchemaSource()["properties"].(map[string]any)
		var fields []jsonval.Field
		for _, k := range names[set] {
			fields = append(fields, jsonval.Field{Key: k, Value: c.fitted(t, k, props[k], n)})
		}
		choices = append(choices, closedObject(jsonval.Field{Key: "_call", Value: jsonval.Ordered{{Key: "type", Value: "string"}, {Key: "enum", Value: ids[set]}}},
			jsonval.Field{Key: "_params", Value: closedObject(fields...)}))
	}
	return choices
}

// fitted is the form of one fitted value.
func (c *composer) fitted(t *ideafile.Tool, name string, schema any, n int) any {
	if schema == nil {
		schema = map[string]any{}
	}
	var form any
	if c.strict {
		s, why := strictForm(jsonschema.Rooted(t.Source, schema), nil)
		if why != "" {
			c.refuse(fmt.Sprintf("tool %s, parameter %q", t.Name, name), why)
		}
		form = s
	} else {
		place := fmt.Sprintf("fit%d_%s", n, t.Name)
		if !c.defines(place) {
			c.move(place, t.ParamsSchemaSource())
		}
		form = jsonval.Ordered{{Key: "$ref", Value: definition(place) + "/properties/" + jsonschema.EscapePointer(name)}}
	}
	if !t.Requires(name) {
		form = nullable(form)
	}
	return form
}

func (c *composer) defines(name string) bool {
	return slices.ContainsFunc(c.defs, func(f jsonval.Field) bool { return f.Key == name })
}

// fits says whether any of what a Request asks for is to be fitted.
func fits(b *turn.RequestInput) bool {
	return slices.ContainsFunc(b.Questions, func(a turn.Question) bool { return a.ParamsError != "" })
}
