package jsonschema

import (
	"maps"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// MatchesForAnyBlobs reports whether a value fits, whatever its large values in the blob store are. A BlobHandle is
// an object, so a pattern or a bound on a length does not apply to it. So two values that have little in common are
// tried in its place. A schema that accepts both may still refuse a third.
func (s *Schema) MatchesForAnyBlobs(v any) bool {
	fits := func(v any) bool {
		ok, err := s.Matches(v)
		return ok && err == nil
	}
	if ok := fits(v); !ok || s == nil || !jsonval.ContainsBlobHandle(v) {
		return ok
	}
	propertyNames := jsonval.Object{} // of all properties that a part of the schema declares
	for keyword, part := range membersAtAnyDepth(s.Source) {
		if keyword == "properties" {
			maps.Copy(propertyNames, jsonval.AsObject(part))
		}
	}
	return fits(replaceBlobHandles(v, "x", 1, propertyNames)) && fits(replaceBlobHandles(v, " ", longListLength, nil))
}

// longListLength is more elements than a rule on the length of a list usually allows.
const longListLength = 10_000

// replaceBlobHandles replaces BlobHandles by large values of the same types. Objects get properties of the given names.
func replaceBlobHandles(v any, filler string, elementCount int, propertyNames jsonval.Object) any {
	h, isBlobHandle := jsonval.AsBlobHandle(v)
	switch {
	case !isBlobHandle:
		return jsonval.MapChildValues(v, func(child any) any {
			return replaceBlobHandles(child, filler, elementCount, propertyNames)
		})
	case h.ValueType == "string":
		return strings.Repeat(filler, jsonval.LargeValueBytes)
	case h.ValueType == "array":
		return slices.Repeat([]any{filler}, elementCount)
	}
	object := jsonval.Object{filler: filler}
	for name := range jsonval.Sorted(propertyNames) {
		object[name] = filler
	}
	return object
}
