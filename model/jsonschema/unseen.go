package jsonschema

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// HoldsWhateverIsLarge reports whether a value fits, whatever its large values in the blob store are. A BlobHandle is
// an object, so a pattern or a bound on a length does not apply to it. So two values that have little in common are
// tried in its place. A schema that accepts both may still refuse a third.
func (s *Schema) HoldsWhateverIsLarge(v any) bool {
	fits := func(v any) bool {
		ok, err := s.Matches(v)
		return ok && err == nil
	}
	if ok := fits(v); !ok || s == nil || !jsonval.ContainsBlobHandle(v) {
		return ok
	}
	names := jsonval.Object{}
	collectPropertyNames(s.Source, names)
	return fits(fillHandles(v, "x", 1, names)) && fits(fillHandles(v, " ", manyElements, nil))
}

// collectPropertyNames collects the names of all properties that a part of a schema declares.
func collectPropertyNames(part any, names jsonval.Object) {
	jsonval.WithMembers(part, func(step string, held any) any {
		if step == "properties" {
			for name := range jsonval.Sorted(jsonval.AsObject(held)) {
				names[name] = true
			}
		}
		collectPropertyNames(held, names)
		return held
	})
}

// manyElements is more elements than a rule on the length of a list usually allows.
const manyElements = 10_000

// fillHandles replaces BlobHandles by large values of the same types. Objects get properties of the given names.
func fillHandles(v any, fill string, elements int, names jsonval.Object) any {
	h, isLarge := jsonval.AsBlobHandle(v)
	switch {
	case !isLarge:
		return jsonval.WithHeldValues(v, func(held any) any { return fillHandles(held, fill, elements, names) })
	case h.ValueType == "string":
		return strings.Repeat(fill, jsonval.LargeValueBytes)
	case h.ValueType == "array":
		return slices.Repeat([]any{fill}, elements)
	}
	object := jsonval.Object{fill: fill}
	for name := range jsonval.Sorted(names) {
		object[name] = fill
	}
	return object
}
