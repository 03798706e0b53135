package prompt

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// This file holds the rules of strict structured outputs, as OpenAI documents them: what a schema may say, and how much.

const (
	strictLevels     = 10
	strictProperties = 5000
	strictEnums      = 1000
	strictEnumMany   = 250     // values of one enum, over which its text is bounded
	strictEnumText   = 15_000  // characters
	strictNames      = 120_000 // characters of all names and values
)

// strictKeywords may stand in a strict schema; every other keyword is refused.
var strictKeywords = map[string]bool{
	"type": true, "description": true, "title": true, "properties": true, "required": true, "additionalProperties": true,
	"items": true, "enum": true, "const": true, "anyOf": true, "$ref": true, "$defs": true, "pattern": true, "format": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minItems": true, "maxItems": true,
}

// leafKeywords are those of them that bound a value which is neither object nor array.
var leafKeywords = map[string]bool{
	"enum": true, "const": true, "pattern": true, "format": true, "minimum": true, "maximum": true,
	"exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
}

// droppedKeywords say nothing about what is valid.
var droppedKeywords = map[string]bool{
	"default": true, "examples": true, "$comment": true, "$schema": true, "$id": true, "$defs": true, "definitions": true,
	"deprecated": true, "readOnly": true, "writeOnly": true,
}

var strictFormats = map[string]bool{
	"date-time": true, "time": true, "date": true, "duration": true, "email": true, "hostname": true, "ipv4": true,
	"ipv6": true, "uuid": true,
}

// partForm turns the strict form of a part, which is no choice of others, into what is sent.
type partForm func(schema, form any) any

// strictForm says a schema in the strict subset, or why it cannot: a property that may be left out becomes one that may
// be null.
func strictForm(schema any, part partForm) (form any, why string) {
	m, ok := schema.(map[string]any)
	if !ok {
		return nil, "a schema that is not an object"
	}
	for _, k := range jsonval.SortedKeys(m) {
		switch {
		case droppedKeywords[k] || strings.HasPrefix(k, "_"):
		case !strictKeywords[k]:
			return nil, fmt.Sprintf("keyword %q", k)
		case k == "format" && !strictFormats[fmt.Sprint(m[k])]:
			return nil, fmt.Sprintf("format %q", m[k])
		}
	}
	switch ref := m["$ref"]; {
	case ref == jsonschema.TooLarge:
		return nil, "a schema that its references make too large"
	case ref != nil:
		return nil, "a schema that holds itself"
	}
	switch {
	case m["anyOf"] != nil:
		return strictAnyOf(m, part)
	case m["type"] == "object":
		form, why = strictObject(m, part)
	case m["type"] == "array":
		form, why = strictArray(m, part)
	default:
		form, why = strictLeaf(m)
	}
	if why == "" && part != nil {
		form = part(m, form)
	}
	return form, why
}

func strictAnyOf(m map[string]any, part partForm) (any, string) {
	list, ok := m["anyOf"].([]any)
	for _, k := range jsonval.SortedKeys(m) { // what else it says would bound every choice
		ok = ok && (k == "anyOf" || k == "description" || k == "title" || !strictKeywords[k] || droppedKeywords[k])
	}
	if !ok {
		return nil, "anyOf beside other keywords"
	}
	choices := make([]any, len(list))
	for i, e := range list {
		form, why := strictForm(e, part)
		if why != "" {
			return nil, why
		}
		choices[i] = form
	}
	return append(notes(m), jsonval.Field{Key: "anyOf", Value: choices}), ""
}

func strictObject(m map[string]any, part partForm) (any, string) {
	if more, said := m["additionalProperties"]; said && more != false {
		return nil, "an open object"
	}
	props, ok := m["properties"].(map[string]any)
	if !ok {
		return nil, "an object without named properties"
	}
	required, _ := jsonval.StringList(m["required"])
	for _, name := range required {
		if _, ok := props[name]; !ok {
			return nil, fmt.Sprintf("an object that requires %q and does not describe it", name)
		}
	}
	var fields []jsonval.Field
	for _, name := range jsonval.SortedKeys(props) {
		form, why := strictForm(props[name], part)
		if why != "" {
			return nil, why
		}
		if !slices.Contains(required, name) {
			form = nullable(form)
		}
		fields = append(fields, jsonval.Field{Key: name, Value: form})
	}
	return append(notes(m), closedObject(fields...)...), ""
}

func strictArray(m map[string]any, part partForm) (any, string) {
	if m["items"] == nil {
		return nil, "a list that does not say of what"
	}
	items, why := strictForm(m["items"], part)
	if why != "" {
		return nil, why
	}
	form := append(notes(m), jsonval.Field{Key: "type", Value: "array"}, jsonval.Field{Key: "items", Value: items})
	for _, k := range []string{"minItems", "maxItems"} {
		if v, ok := m[k]; ok {
			form = append(form, jsonval.Field{Key: k, Value: v})
		}
	}
	return form, ""
}

func strictLeaf(m map[string]any) (any, string) {
	list, several := jsonval.StringList(m["type"])
	if several && (slices.Contains(list, "object") || slices.Contains(list, "array")) {
		return nil, "one of several types, an object or a list among them"
	}
	types, ok := leafTypes(m)
	if !ok {
		return nil, "a value of any type"
	}
	form := append(notes(m), jsonval.Field{Key: "type", Value: types})
	for _, k := range jsonval.SortedKeys(m) {
		if leafKeywords[k] {
			form = append(form, jsonval.Field{Key: k, Value: m[k]})
		}
	}
	return form, ""
}

// leafTypes is the type of a leaf: what it says, or what its enum or const comes to, as strict mode wants a type
// everywhere.
func leafTypes(m map[string]any) (types any, ok bool) {
	if t := m["type"]; t != nil {
		return t, true
	}
	values, _ := m["enum"].([]any)
	if v, said := m["const"]; said {
		values = []any{v}
	}
	var names []any
	for _, v := range values {
		t := jsonval.TypeOf(v)
		if t == "object" || t == "array" {
			return nil, false
		}
		if !jsonval.ContainsValue(names, t) {
			names = append(names, t)
		}
	}
	if len(names) == 1 {
		return names[0], true
	}
	return names, len(names) > 0
}

// notes are the keywords that only speak to the reader.
func notes(m map[string]any) jsonval.Ordered {
	out := jsonval.Ordered{}
	for _, k := range []string{"title", "description"} {
		if v, ok := m[k]; ok {
			out = append(out, jsonval.Field{Key: k, Value: v})
		}
	}
	return out
}

// strictProblem says which bound a composed schema breaks; "" where it keeps them all.
func strictProblem(schema any) string {
	m := strictMeter{root: schema, seen: map[string]bool{}}
	if m.walk(schema, 1); m.why != "" {
		return m.why
	}
	switch {
	case m.properties > strictProperties:
		return fmt.Sprintf("%d properties, over %d", m.properties, strictProperties)
	case m.enums > strictEnums:
		return fmt.Sprintf("%d enum values, over %d", m.enums, strictEnums)
	case m.names > strictNames:
		return fmt.Sprintf("%d characters of names, over %d", m.names, strictNames)
	}
	return ""
}

type strictMeter struct {
	root                     any
	properties, enums, names int
	why                      string
	seen                     map[string]bool // definitions that were counted
	again                    bool            // the walk is inside one of them: only levels are of interest
}

// walk counts a schema and what it holds. Definitions are counted once, and their levels wherever they are used.
func (m *strictMeter) walk(schema any, level int) {
	o, ok := schema.(jsonval.Ordered)
	if !ok || m.why != "" {
		return
	}
	if level > strictLevels {
		m.why = fmt.Sprintf("more than %d levels", strictLevels)
		return
	}
	for _, f := range o {
		switch f.Key {
		case "properties":
			for _, p := range f.Value.(jsonval.Ordered) {
				m.count(1, 0, len([]rune(p.Key)))
				m.walk(p.Value, level+1)
			}
		case "items":
			m.walk(f.Value, level+1)
		case "anyOf":
			for _, e := range f.Value.([]any) {
				m.walk(e, level)
			}
		case "$ref":
			m.use(f.Value.(string), level)
		case "$defs":
			for _, d := range f.Value.(jsonval.Ordered) {
				m.count(0, 0, len([]rune(d.Key)))
			}
		case "enum":
			m.enum(f.Value)
		case "const":
			m.count(0, 0, len([]rune(fmt.Sprint(f.Value))))
		}
	}
}

func (m *strictMeter) count(properties, enums, names int) {
	if !m.again {
		m.properties, m.enums, m.names = m.properties+properties, m.enums+enums, m.names+names
	}
}

// use walks a definition at a place where it is used.
func (m *strictMeter) use(ref string, level int) {
	before := m.again
	m.again = before || m.seen[ref]
	m.seen[ref] = true
	m.walk(m.definition(ref), level)
	m.again = before
}

func (m *strictMeter) enum(v any) {
	list, _ := v.([]any)
	text := 0
	for _, e := range list {
		text += len([]rune(fmt.Sprint(e)))
	}
	m.count(0, len(list), text)
	if len(list) > strictEnumMany && text > strictEnumText {
		m.why = fmt.Sprintf("an enum of %d values with %d characters, over %d", len(list), text, strictEnumText)
	}
}

func (m *strictMeter) definition(ref string) any {
	name := jsonschema.UnescapePointer(strings.TrimPrefix(ref, "#/$defs/"))
	root, _ := m.root.(jsonval.Ordered)
	for _, f := range root {
		if f.Key != "$defs" {
			continue
		}
		for _, d := range f.Value.(jsonval.Ordered) {
			if d.Key == name {
				return d.Value
			}
		}
	}
	return nil
}
