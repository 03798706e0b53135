package jsonschema

import (
	"math"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// This file compares JSON types, as far as schemas plainly say them.

// typesAt lists the types that a schema allows at a path; nil where it does not say.
func TypesAt(schema any, p jsonval.Path) []string {
	at := PlaceOf(schema, p)
	if !at.Known || at.Closed {
		return nil
	}
	node, ok := ResolvePointer(schema, at.Pointer)
	if !ok {
		return nil
	}
	return typesOf(schema, node, 8)
}

// typesOf lists the types of a schema node: its own word, or that of every one of its choices.
func typesOf(root, node any, depth int) []string {
	node, _ = Follow(root, node, "")
	m, ok := node.(map[string]any)
	if !ok || depth == 0 {
		return nil
	}
	switch t := m["type"].(type) {
	case string:
		return []string{t}
	case []any:
		list, _ := jsonval.StringList(t)
		return list
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := m[k].([]any); ok {
			return typesOfAny(root, list, depth-1)
		}
	}
	return nil
}

func typesOfAny(root any, choices []any, depth int) []string {
	var all []string
	for _, choice := range choices {
		types := typesOf(root, choice, depth)
		if types == nil {
			return nil
		}
		for _, t := range types {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

// fit says whether a value of one of the types given may stand where one of the types wanted must: surely not, perhaps
// (a number for an integer), or as far as types tell.
type fit int

const (
	FitsNever fit = iota
	FitsPerhaps
	fitsWell
)

func TypesFit(given, wanted []string) fit {
	if given == nil || wanted == nil {
		return fitsWell
	}
	best := FitsNever
	for _, g := range given {
		switch {
		case slices.Contains(wanted, g), g == "integer" && slices.Contains(wanted, "number"):
			return fitsWell
		case g == "number" && slices.Contains(wanted, "integer"):
			best = FitsPerhaps
		}
	}
	return best
}

func OrList(types []string) string { return strings.Join(types, " or ") }

// exactType is TypeOf with whole numbers told apart.
func ExactType(v any) string {
	if f, err := jsonval.FloatOf(v); err == nil && f == math.Trunc(f) {
		return "integer"
	}
	return jsonval.TypeOf(v)
}
