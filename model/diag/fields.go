package diag

import (
	"strings"

	"processidea/model/jsonval"
)

// ReadObject returns the object at a key, or nil if the key is absent. Anything else is a problem.
func ReadObject(m jsonval.Object, key, path string, ps *Problems) jsonval.Object {
	return readAs[jsonval.Object](m, key, path, "an object", ps)
}

// ReadOptionalText returns the text at a key, or "" if the key is absent.
func ReadOptionalText(m jsonval.Object, key, path string, ps *Problems) string {
	return readAs[string](m, key, path, "a string", ps)
}

func readAs[T any](m jsonval.Object, key, path, wantedType string, ps *Problems) T {
	v, ok := m[key].(T)
	if !ok && m[key] != nil {
		ps.AddAtKey(path, key, "want %s, not %s", wantedType, jsonval.TypeOf(m[key]))
	}
	return v
}

// WithoutPackagePrefix is an error's text without the package that it begins with, which means nothing to the author
// of an Idea file.
func WithoutPackagePrefix(err error) string {
	text := err.Error()
	for _, prefix := range []string{"model: ", "jsonval: ", "jsonschema: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
