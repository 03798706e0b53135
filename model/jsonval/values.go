package jsonval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// ToJSONValue converts a Go value (a struct, an int, a typed map) to the JSON value that it encodes to, and to nil if
// it cannot be encoded.
func ToJSONValue(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out any
	if d.Decode(&out) != nil {
		return nil
	}
	return out
}

// TypeOf names a value's JSON type: "object", "array", "string", "number", "boolean" or "null".
func TypeOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	}
	return "number"
}

// AsObject gives v as an object, and nil if it is none.
func AsObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// AsText gives v as a string, and "" if it is none.
func AsText(v any) string {
	s, _ := v.(string)
	return s
}

// ToFloat gives a number as a float64.
func ToFloat(v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("want a number, not %s", TypeOf(v))
	}
	return n.Float64()
}

// AsStringList gives an array of strings. ok is false if v is anything else.
func AsStringList(v any) (list []string, ok bool) {
	elements, ok := v.([]any)
	if !ok {
		return nil, false
	}
	list = make([]string, len(elements))
	for i, e := range elements {
		if list[i], ok = e.(string); !ok {
			return nil, false
		}
	}
	return list, true
}

// ContainsValue reports whether one element of the list equals v.
func ContainsValue(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return Equal(e, v) })
}

// SortedKeys lists the keys of a map in order; it is never nil.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	//workflowcheck:ignore -- sorted below
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// WithoutKey gives a copy of an object without one key.
func WithoutKey(m map[string]any, key string) map[string]any {
	out := make(map[string]any, len(m))
	maps.Copy(out, m)
	delete(out, key)
	return out
}

// DeepMerge lays b over a: objects key by key at every depth, anything else as a whole.
func DeepMerge(a, b any) any { return MergeWith(a, b, DeepMerge) }

// OverlayObject lays b over a: a top-level key of b replaces that of a.
func OverlayObject(a, b any) any { return MergeWith(a, b, func(_, v any) any { return v }) }

// MergeWith lays object b over object a and joins the two values of a key that both have. If either is no object, the
// result is b.
func MergeWith(a, b any, join func(old, new any) any) any {
	am, aok := a.(map[string]any)
	bm, bok := b.(map[string]any)
	if !aok || !bok {
		return b
	}
	out := make(map[string]any, len(am)+len(bm))
	maps.Copy(out, am)
	//workflowcheck:ignore -- keys are joined one by one, in any order
	for k, v := range bm {
		if before, ok := out[k]; ok {
			v = join(before, v)
		}
		out[k] = v
	}
	return out
}

// Clip shortens a text to n runes, for messages that people read.
func Clip(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at] + "…"
		}
		n--
	}
	return s
}
