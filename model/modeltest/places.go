package modeltest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// NumberField is a place in an Idea file that holds a number or a duration.
type NumberField struct {
	// Path leads to the place by the keys of objects; "*" matches any key, "[]" an item of a list.
	Path       []string
	IsDuration bool
	// Minimum and Maximum are those of the schema; "" if it has none.
	Minimum, Maximum json.Number
}

func (l NumberField) String() string { return strings.Join(l.Path, ".") }

// NumberFields lists every place in the JSON Schema of Idea files that holds a number or a duration.
func NumberFields(schema jsonval.Object) []NumberField {
	w := numberFieldCollector{definitions: jsonval.AsObject(schema["$defs"]), fieldByPath: map[string]NumberField{}}
	w.walk(schema, nil)
	var fields []NumberField
	for _, place := range jsonval.Sorted(w.fieldByPath) {
		fields = append(fields, place)
	}
	return fields
}

type numberFieldCollector struct {
	definitions jsonval.Object
	fieldByPath map[string]NumberField
}

func (w *numberFieldCollector) walk(node any, path []string) {
	m := jsonval.AsObject(node)
	if m == nil {
		return
	}
	if ref, ok := m["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		if name == "duration" {
			w.add(NumberField{Path: path, IsDuration: true})
			return
		}
		w.walk(w.definitions[name], path)
	}
	minimum, _ := m["minimum"].(json.Number)
	maximum, _ := m["maximum"].(json.Number)
	for _, kind := range jsonschema.Types(m) {
		if kind == "number" || kind == "integer" {
			w.add(NumberField{Path: path, Minimum: minimum, Maximum: maximum})
		}
	}
	for key, child := range jsonschema.Properties(m) {
		w.walk(child, append(slices.Clip(path), key))
	}
	w.walk(m["additionalProperties"], append(slices.Clip(path), "*"))
	w.walk(m["items"], append(slices.Clip(path), "[]"))
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		for _, choice := range jsonval.AsList(m[key]) {
			w.walk(choice, path)
		}
	}
	w.walk(m["then"], path)
	w.walk(m["else"], path)
}

func (w *numberFieldCollector) add(l NumberField) { w.fieldByPath[l.String()] = l }

// requiredMembersByPath maps a path to the members that a value there needs beside it to mean anything.
var requiredMembersByPath = map[string]string{
	"config.prices.*":                   `{"input": 1, "output": 1}`,
	"config.approval.escalate":          `{"after": "1h", "by": {"people": ["eve"]}}`,
	"schema.tools.*._approval.escalate": `{"after": "1h", "by": {"people": ["eve"]}}`,
	"schema.tools.*._approval":          `{"by": {"groups": ["clerks"]}}`,
	"config.approval":                   `{"by": {"groups": ["clerks"]}, "all": true}`,
	"context.[]":                        `{"type": "plan", "plan": [], "stage": "complete", "when": true}`,
}

// WithValue returns a copy of an Idea with a value at the place. "*" stands for the first key that the Idea has there.
func (l NumberField) WithValue(idea jsonval.Object, value any) jsonval.Object {
	return jsonval.AsObject(setAtPath(idea, l.Path, 0, value))
}

func setAtPath(node any, path []string, depth int, value any) any {
	if depth == len(path) {
		return value
	}
	if path[depth] == "[]" {
		list, isList := node.([]any)
		if isList {
			node = nil
		}
		// one LLM may be written in place of a list
		return append(slices.Clone(list), setAtPath(node, path, depth+1, value))
	}
	m := maps.Clone(jsonval.AsObject(node))
	if m == nil {
		m = jsonval.Object{}
	}
	if siblings, hasSiblings := requiredMembersByPath[strings.Join(path[:depth], ".")]; hasSiblings {
		m = jsonval.AsObject(jsonval.DeepMerge(MustDecodeJSON(siblings), m))
	}
	key := path[depth]
	if key == "*" {
		key = append(jsonval.SortedKeys(m), "any")[0]
	}
	m[key] = setAtPath(m[key], path, depth+1, value)
	return m
}

// EdgeValues lists the values, as JSON, that test the reading of a place: the smallest and the largest valid value,
// values just beyond them, and values that are not numbers.
func (l NumberField) EdgeValues() []string {
	values := strings.Fields(`0 -1 1.5 1e-10 -0.5 9007199254740993 9223372036854775807 1e300
		"1" "many" "" true [] {} "NaN" "Infinity" "Inf" -0 -0.0 1e-300 "0x10" "1_000" "５" null`)
	values = append(values, `" 5 "`)
	if l.IsDuration {
		return append(values, strings.Fields(`"1ns" "1us" "999us" "1ms" "1s" "2s" "3s" "100y" "1000000h" "87600h"
			"87600h1ms" "0s" "-1s" 0.001 0.0009 0.5 2 315360000 315360001 "1.5" "2562047h" "2562048h" "1e3s" "-0"
			"0x10s" "1_000s" "５s" "1h-1s" "9223372036854775808ns" "0.9999ms"`)...)
	}
	edges := append(values, `1`, `1.0`, `1e2`)
	if l.Minimum != "" {
		edges = append(edges, l.Minimum.String())
	}
	if l.Maximum != "" {
		edges = append(edges, l.Maximum.String(), l.Maximum.String()+"1")
	}
	return edges
}

// MinimumJSON is the smallest value, as JSON, that the place takes.
func (l NumberField) MinimumJSON() string {
	if l.IsDuration {
		return `"` + jsonval.MinDuration.String() + `"`
	}
	return l.Minimum.String()
}

// MaximumJSON is the largest value, as JSON, that the place takes.
func (l NumberField) MaximumJSON() string {
	if l.IsDuration {
		return `"87600h"`
	}
	return l.Maximum.String()
}
