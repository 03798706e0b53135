// Package fields reads fields of an Idea file into Go values, and says what is wrong with them.
package fields

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// ReadObject returns the object at a key, or nil if there is none. Anything else is a problem.
func ReadObject(m map[string]any, key, path string, ps *diag.Problems) map[string]any {
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
func ReadOptionalText(m map[string]any, key, path string, ps *diag.Problems) string {
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

// ReadPositiveInt reads a whole number from 1.
func ReadPositiveInt(v any) (int, error) {
	n, ok := v.(json.Number)
	if ok {
		if i, err := n.Int64(); err == nil && i > 0 && i < 1<<31 {
			return int(i), nil
		}
	}
	return 0, errors.New("want a whole number from 1")
}

// ReadDuration reads "72h", "10s", or a number of seconds.
func ReadDuration(v any) (time.Duration, error) {
	switch v := v.(type) {
	case string:
		if d, err := time.ParseDuration(v); err == nil && d > 0 {
			return d, nil
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && f > 0 && f < 1e9 {
			return time.Duration(f * float64(time.Second)), nil
		}
	}
	return 0, errors.New(`want a duration such as "60s", or seconds, above zero`)
}

// CompileSchema returns nil, and adds a problem, for a schema that does not compile.
func CompileSchema(v any, path string, ps *diag.Problems) *jsonschema.Schema {
	return CompileSchemaPart(v, "", path, ps)
}

// CompileSchemaPart is CompileSchema for the part of a schema at a JSON pointer. Without problems to add to it compiles when it is first used.
func CompileSchemaPart(v any, pointer, path string, ps *diag.Problems) *jsonschema.Schema {
	if ps == nil {
		return jsonschema.NewLazySchema(v, pointer)
	}
	s, err := jsonschema.CompileAt(v, pointer)
	if err != nil {
		ps.Add(path, "%s", WithoutPackagePrefix(err))
		return nil
	}
	return s
}

// WithoutPackagePrefix is an error's text without the package that it begins with, which means nothing to the author of an Idea file.
func WithoutPackagePrefix(err error) string {
	text := err.Error()
	for _, prefix := range []string{"model: ", "jsonval: ", "jsonschema: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
