package diag

import (
	"strings"

	"processidea/model/jsonval"
)

// ReadObject returns the object at a key, or nil if there is none. Anything else is a problem.
func ReadObject(m map[string]any, key, path string, ps *Problems) map[string]any {
	v := m[key]
	if v == nil {
		return nil
	}
	o, ok := v.(map[string]any)
	if !ok {
		ps.Add(jsonval.JSONPathWithKey(path, key), "want an object, not %s", jsonval.TypeOf(v))
	}
	return o
}

// ReadOptionalText returns the text at a key, or "" if there is none.
func ReadOptionalText(m map[string]any, key, path string, ps *Problems) string {
	v := m[key]
	if v == nil {
		return ""
	}
	text, ok := v.(string)
	if !ok {
		ps.Add(jsonval.JSONPathWithKey(path, key), "want a string, not %s", jsonval.TypeOf(v))
	}
	return text
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
