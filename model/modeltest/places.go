package modeltest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// NumberPlace is a place in an Idea file that holds a number or a duration.
type NumberPlace struct {
	// Path leads to the place by the keys of objects; "*" matches any key, "[]" an item of a list.
	Path       []string
	IsDuration bool
	// Minimum and Maximum are those of the schema; "" if it has none.
	Minimum, Maximum json.Number
}

func (l NumberPlace) String() string { return strings.Join(l.Path, ".") }

// NumberPlaces lists every place in the JSON Schema of Idea files that holds a number or a duration.
func NumberPlaces(schema jsonval.Object) []NumberPlace {
	w := placeWalk{definitions: jsonval.AsObject(schema["$defs"]), seen: map[string]NumberPlace{}}
	w.walk(schema, nil)
	var all []NumberPlace
	for _, leaf := range jsonval.Sorted(w.seen) {
		all = append(all, leaf)
	}
	return all
}

type placeWalk struct {
	definitions jsonval.Object
	seen        map[string]NumberPlace
}

func (w *placeWalk) walk(node any, path []string) {
	m := jsonval.AsObject(node)
	if m == nil {
		return
	}
	if ref, ok := m["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		if name == "duration" {
			w.add(NumberPlace{Path: path, IsDuration: true})
			return
		}
		w.walk(w.definitions[name], path)
	}
	least, _ := m["minimum"].(json.Number)
	maximum, _ := m["maximum"].(json.Number)
	for _, kind := range jsonschema.Types(m) {
		if kind == "number" || kind == "integer" {
			w.add(NumberPlace{Path: path, Minimum: least, Maximum: maximum})
		}
	}
	for key, below := range jsonschema.Properties(m) {
		w.walk(below, append(slices.Clip(path), key))
	}
	w.walk(m["additionalProperties"], append(slices.Clip(path), "*"))
	w.walk(m["items"], append(slices.Clip(path), "[]"))
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range jsonval.AsList(m[key]) {
			w.walk(one, path)
		}
	}
	w.walk(m["then"], path)
	w.walk(m["else"], path)
}

func (w *placeWalk) add(l NumberPlace) { w.seen[l.String()] = l }

// requiredSiblings maps a path to the members that a value there needs beside it to mean anything.
var requiredSiblings = map[string]string{
	"config.prices.*":                   `{"input": 1, "output": 1}`,
	"config.approval.escalate":          `{"after": "1h", "by": {"people": ["eve"]}}`,
	"schema.tools.*._approval.escalate": `{"after": "1h", "by": {"people": ["eve"]}}`,
	"schema.tools.*._approval":          `{"by": {"groups": ["clerks"]}}`,
	"config.approval":                   `{"by": {"groups": ["clerks"]}, "all": true}`,
	"context.[]":                        `{"type": "plan", "plan": [], "stage": "complete", "when": true}`,
}

// WithValue returns a copy of an Idea with a value at the place. "*" stands for the first key that the Idea has there.
func (l NumberPlace) WithValue(idea jsonval.Object, value any) jsonval.Object {
	return jsonval.AsObject(putAt(idea, l.Path, 0, value))
}

func putAt(node any, path []string, at int, value any) any {
	if at == len(path) {
		return value
	}
	if path[at] == "[]" {
		list, isList := node.([]any)
		if isList {
			node = nil
		}
		return append(slices.Clone(list), putAt(node, path, at+1, value)) // one LLM may be written in place of a list
	}
	m := maps.Clone(jsonval.AsObject(node))
	if m == nil {
		m = jsonval.Object{}
	}
	if more, there := requiredSiblings[strings.Join(path[:at], ".")]; there {
		m = jsonval.AsObject(jsonval.DeepMerge(MustDecodeJSON(more), m))
	}
	key := path[at]
	if key == "*" {
		key = append(jsonval.SortedKeys(m), "any")[0]
	}
	m[key] = putAt(m[key], path, at+1, value)
	return m
}

// Edges lists the values, as JSON, that test the reading of a place: the smallest and the largest valid value, values
// just beyond them, and values that are not numbers.
func (l NumberPlace) Edges() []string {
	beyond := strings.Fields(`0 -1 1.5 1e-10 -0.5 9007199254740993 9223372036854775807 1e300
		"1" "many" "" true [] {} "NaN" "Infinity" "Inf" -0 -0.0 1e-300 "0x10" "1_000" "５" null`)
	beyond = append(beyond, `" 5 "`)
	if l.IsDuration {
		return append(beyond, strings.Fields(`"1ns" "1us" "999us" "1ms" "1s" "2s" "3s" "100y" "1000000h" "87600h"
			"87600h1ms" "0s" "-1s" 0.001 0.0009 0.5 2 315360000 315360001 "1.5" "2562047h" "2562048h" "1e3s" "-0"
			"0x10s" "1_000s" "５s" "1h-1s" "9223372036854775808ns" "0.9999ms"`)...)
	}
	edges := append(beyond, `1`, `1.0`, `1e2`)
	if l.Minimum != "" {
		edges = append(edges, l.Minimum.String())
	}
	if l.Maximum != "" {
		edges = append(edges, l.Maximum.String(), l.Maximum.String()+"1")
	}
	return edges
}

// Smallest is the smallest value, as JSON, that the place takes.
func (l NumberPlace) Smallest() string {
	if l.IsDuration {
		return `"` + jsonval.MinDuration.String() + `"`
	}
	return l.Minimum.String()
}

// Largest is the largest value, as JSON, that the place takes.
func (l NumberPlace) Largest() string {
	if l.IsDuration {
		return `"87600h"`
	}
	return l.Maximum.String()
}
