package jsonval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ToJSONValue converts a Go value (a struct, an int, a typed map) to the JSON value that it encodes to, and to nil if
// it cannot be encoded.
func ToJSONValue(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}

// IsJSONValue reports whether v is a JSON value in the form that Decode returns.
func IsJSONValue(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case string:
		return utf8.ValidString(v)
	case json.Number:
		return json.Valid([]byte(v))
	case Object:
		for _, e := range v {
			if !IsJSONValue(e) {
				return false
			}
		}
		return v != nil
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !IsJSONValue(e) })
	}
	return false
}

// Unmarshal reads JSON into a Go value, with numbers as they were written. It ignores text after the value.
func Unmarshal(data []byte, target any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(target)
}

// ReadAs reads a JSON value into a Go value, as Unmarshal does.
func ReadAs(v, target any) error { return Unmarshal(Encode(v), target) }

// TypeOf names a value's JSON type: "object", "array", "string", "number", "boolean" or "null".
func TypeOf(v any) string {
	switch v.(type) {
	case Object:
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

// Object is a JSON object.
type Object = map[string]any

// AsObject returns v as an object; nil if it is none.
func AsObject(v any) Object {
	m, _ := v.(Object)
	return m
}

// AsList returns v as an array; nil if it is none.
func AsList(v any) []any {
	list, _ := v.([]any)
	return list
}

// AsText returns v as a string; "" if it is none.
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

// Map returns the results of f for each element of a list.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}

// Filter returns the elements of a list for which keep returns true; nil if there are none.
func Filter[T any](list []T, keep func(T) bool) (matching []T) {
	for _, e := range list {
		if keep(e) {
			matching = append(matching, e)
		}
	}
	return matching
}

// AppendNew appends the values that a list does not contain yet.
func AppendNew[T comparable](list []T, values ...T) []T {
	for _, e := range values {
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

// Lookup returns what an object holds under a key, and under further keys within; nil if it holds nothing there.
func Lookup(v any, keys ...string) any {
	for _, k := range keys {
		v = AsObject(v)[k]
	}
	return v
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

// Sorted visits a map in the order of its keys.
func Sorted[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range SortedKeys(m) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// Members visits what an object or an array holds, in order, with the step of a Path that leads there.
func Members(v any) iter.Seq2[string, any] {
	list, isList := v.([]any)
	if !isList {
		return Sorted(AsObject(v))
	}
	return func(yield func(string, any) bool) {
		for i, e := range list {
			if !yield(strconv.Itoa(i), e) {
				return
			}
		}
	}
}

// ChildValues visits the values in an object or an array. The values of an object come in any order, so it suits sums,
// and questions about all or none of them.
func ChildValues(v any) iter.Seq[any] {
	switch v := v.(type) {
	case Object:
		//workflowcheck:ignore -- for callers that do not depend on the order
		return maps.Values(v)
	case []any:
		return slices.Values(v)
	}
	return func(func(any) bool) {}
}

// ContainsAny reports whether holds returns true for a value, or for one inside it at any depth.
func ContainsAny(v any, matches func(any) bool) bool {
	if matches(v) {
		return true
	}
	for e := range ChildValues(v) {
		if ContainsAny(e, matches) {
			return true
		}
	}
	return false
}

// MapChildValues returns a copy of an object or an array with each value in it replaced by the result of change. Any
// other value stays as it is.
func MapChildValues(v any, change func(any) any) any {
	return MapMembers(v, func(_ string, child any) any { return change(child) })
}

// MapMembers is MapChildValues for a change that depends on the step of a Path that leads to a value.
func MapMembers(v any, change func(step string, child any) any) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for k, e := range Sorted(v) {
			out[k] = change(k, e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for n, e := range v {
			out[n] = change(strconv.Itoa(n), e)
		}
		return out
	}
	return v
}

// WithKey returns a copy of an object with another value for a key.
func WithKey(m Object, key string, value any) Object {
	out := make(Object, len(m)+1)
	maps.Copy(out, m)
	out[key] = value
	return out
}

// WithoutKey gives a copy of an object without some keys.
func WithoutKey(m Object, keys ...string) Object {
	out := make(Object, len(m))
	maps.Copy(out, m)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// WithOnlyKeys gives a copy of an object with only some keys, of those that it has.
func WithOnlyKeys(m Object, keys ...string) Object {
	out := Object{}
	for _, key := range keys {
		if v, ok := m[key]; ok {
			out[key] = v
		}
	}
	return out
}

// DeepMerge merges b over a: objects key by key at every depth, any other value as a whole.
func DeepMerge(a, b any) any { return MergeWith(a, b, DeepMerge) }

// OverlayObject merges b over a: a top-level key of b replaces that of a.
func OverlayObject(a, b any) any { return MergeWith(a, b, func(_, v any) any { return v }) }

// MergeWith merges object b over object a and joins the two values of a key that both have. If either is not an object,
// the result is b.
func MergeWith(a, b any, join func(old, new any) any) any {
	objectA, isObjectA := a.(Object)
	objectB, isObjectB := b.(Object)
	if !isObjectA || !isObjectB {
		return b
	}
	out := make(Object, len(objectA)+len(objectB))
	maps.Copy(out, objectA)
	//workflowcheck:ignore -- keys are joined one by one, in any order
	for k, v := range objectB {
		if existing, ok := out[k]; ok {
			v = join(existing, v)
		}
		out[k] = v
	}
	return out
}

// ClipForError is a text as an error repeats it.
func ClipForError(s string) string { return Clip(s, 80) }

// Clip shortens a text to n runes, for messages that people read.
func Clip(s string, n int) string {
	for end := range s {
		if n == 0 {
			return s[:end] + "…"
		}
		n--
	}
	return s
}
