package tools

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"processidea/model/jsonval"
)

// fitValue checks what decoding into a Go type would not (names in another case, absent fields), and returns the value
// to decode: an optional null is left out, and a whole number such as 3.0 becomes 3.
func fitValue(s *jsonschema.Schema, v any, path string) (any, error) {
	if s == nil {
		return v, nil
	}
	switch v := v.(type) {
	case jsonval.Object:
		return fitObject(s, v, path)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			fitted, err := fitValue(s.Items, item, path+"["+strconv.Itoa(i)+"]")
			if err != nil {
				return nil, err
			}
			out[i] = fitted
		}
		return out, nil
	case json.Number:
		if integer, ok := normalizeWholeNumber(v); ok && allowsType(s, "integer") {
			return integer, nil
		}
	case nil:
		if !allowsType(s, "null") {
			return nil, fmt.Errorf("%q is null", path)
		}
	}
	return v, nil
}

func fitObject(s *jsonschema.Schema, v jsonval.Object, path string) (any, error) {
	out := make(jsonval.Object, len(v))
	for _, name := range jsonval.SortedKeys(v) {
		p, isDeclared := s.Properties[name]
		if !isDeclared {
			p = s.AdditionalProperties
			if p != nil && p.Not != nil {
				return nil, fmt.Errorf("unknown %q", joinPath(path, name))
			}
		}
		if isDeclared && v[name] == nil && !slices.Contains(s.Required, name) && !allowsType(p, "null") {
			continue
		}
		fitted, err := fitValue(p, v[name], joinPath(path, name))
		if err != nil {
			return nil, err
		}
		out[name] = fitted
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return nil, fmt.Errorf("%q is missing", joinPath(path, name))
		}
	}
	return out, nil
}

// replaceNullByEmpty replaces the null that Go writes for a nil slice or map by an empty list or object, where the
// schema allows no null.
func replaceNullByEmpty(s *jsonschema.Schema, v any) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case nil:
		if s.Type == "array" {
			return []any{}
		} else if s.Type == "object" {
			return jsonval.Object{}
		}
	case []any:
		for i, item := range v {
			v[i] = replaceNullByEmpty(s.Items, item)
		}
	case jsonval.Object:
		for name, item := range v {
			p, ok := s.Properties[name]
			if !ok {
				p = s.AdditionalProperties
			}
			v[name] = replaceNullByEmpty(p, item)
		}
	}
	return v
}

// allowsType reports whether the schema's type includes the named one. A schema without a type includes null, but does
// not ask for whole numbers.
func allowsType(s *jsonschema.Schema, name string) bool {
	if s.Type == "" && len(s.Types) == 0 {
		return name == "null"
	}
	return s.Type == name || slices.Contains(s.Types, name)
}

func normalizeWholeNumber(n json.Number) (json.Number, bool) {
	if !strings.ContainsAny(n.String(), ".eE") {
		return n, false
	}
	integer, ok := new(big.Rat).SetString(n.String())
	if !ok || !integer.IsInt() || !integer.Num().IsInt64() {
		return n, false
	}
	return json.Number(integer.Num().String()), true
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
