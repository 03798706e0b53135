package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file checks what a process starts with against the schemas that describe it.

// checkStates checks every instance's State, and what else has a schema. What is missing may yet come.
func (c *checker) checkStates() {
	for _, token := range c.tokens {
		view := c.views[token]
		for _, kind := range jsonval.SortedKeys(view.Schema) {
			for _, m := range misfits(view.Schema[kind], view.Payload[kind]) {
				c.find(diag.Problem{
					Path:    c.placeOf(kind, token, m.path),
					Message: fmt.Sprintf("%s %s", refexpr.Reference{Kind: kind, Path: m.path}, m.why),
					Warning: kind != ideafile.TypeState,
				}, []string{token}, c.sharers(kind, token, m.path))
			}
		}
	}
}

// misfit is a part of a value that does not fit its schema.
type misfit struct {
	path jsonval.Path
	why  string
}

// misfits compares a value with its schema part by part. Objects may lack what is required: it can be written later. An
// array is checked whole, and what lies in the store not at all.
func misfits(schema, value any) []misfit {
	var out []misfit
	var walk func(jsonval.Path, any)
	walk = func(p jsonval.Path, v any) {
		at := jsonschema.PlaceOf(schema, p)
		if at.Closed {
			out = append(out, misfit{p, "stands outside the closed schema"})
		}
		if _, handle := jsonval.AsHandle(v); handle || !at.Known || at.Closed {
			return
		}
		object, ok := v.(map[string]any)
		if !ok {
			if why := misfitAt(schema, at, v); why != "" {
				out = append(out, misfit{p, why})
			}
			return
		}
		if types := jsonschema.TypesAt(schema, p); types != nil && !slices.Contains(types, "object") {
			out = append(out, misfit{p, "is of type object; its schema wants " + jsonschema.OrList(types)})
			return
		}
		for _, k := range jsonval.SortedKeys(object) {
			walk(append(p[:len(p):len(p)], k), object[k])
		}
	}
	walk(nil, value)
	return out
}

func misfitAt(schema any, at jsonschema.Place, v any) string {
	s, err := jsonschema.CompileAt(schema, at.Pointer)
	if err != nil || jsonval.HasHandle(v) {
		return ""
	}
	if err := s.Validate(v); err != nil {
		return "does not fit its schema: " + err.Error()
	}
	return ""
}

// placeOf finds the Message that gives an instance the value at a path, and the value's place in the file.
func (c *checker) placeOf(kind, token string, p jsonval.Path) string {
	if m, ok := c.giver(kind, token, p); ok {
		return jsonval.JSONPath(m.payloadPath(), p...)
	}
	return "$.context"
}

// giver is the Message from which an instance has the value at a path: its own last one, else the last shared one.
func (c *checker) giver(kind, token string, p jsonval.Path) (placed, bool) {
	for _, owner := range []string{token, ""} {
		for n := len(c.messages) - 1; n >= 0; n-- {
			m := c.messages[n]
			if _, ok := jsonval.Lookup(m.Payload, p); ok && m.Kind == kind && m.Instance == owner {
				return m, true
			}
		}
	}
	return placed{}, false
}

// sharers counts the instances that could have the same misfit: all of them where its value is shared, else the one.
func (c *checker) sharers(kind, token string, p jsonval.Path) int {
	if m, ok := c.giver(kind, token, p); ok && m.Instance != "" {
		return 1
	}
	return len(c.tokens)
}

func (m placed) payloadPath() string {
	if _, under := m.Source[m.Type]; under {
		return jsonval.JSONPathKey(m.path, m.Type)
	}
	return m.path
}
