package jsonval

import (
	"encoding/json"
	"strings"
)

// A Handle stands in State for a large value that lies in the blob store. In JSON it is an object with the one key HandleKey.
//
// Invariant: no data from outside is read as a Handle, because Escape adds a dagger to what looks like one.
type Handle struct {
	Digest string `json:"digest"` // SHA-256 of the value's canonical bytes, in hex
	Size   int    `json:"size"`   // bytes
	Type   string `json:"type"`   // JSON type of the value
	// Path is a place inside the stored value, if a Reference reached into it.
	Path string `json:"path,omitempty"`
}

// HandleKey is the only key of a Handle in JSON.
const HandleKey = "†blob"

// LargeValue is the size in bytes above which a value lies in the blob store and State holds its Handle.
const LargeValue = 64 << 10

// Value gives the handle as the JSON value that State holds.
func (h Handle) Value() any { return map[string]any{HandleKey: Normal(h)} }

// AsHandle reads a value as a Handle. ok is false if it is none.
func AsHandle(v any) (h Handle, ok bool) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return Handle{}, false
	}
	in, ok := m[HandleKey].(map[string]any)
	if !ok {
		return Handle{}, false
	}
	size, _ := in["size"].(json.Number)
	n, _ := size.Int64()
	h.Size = int(n)
	h.Digest, _ = in["digest"].(string)
	h.Type, _ = in["type"].(string)
	h.Path, _ = in["path"].(string)
	return h, true
}

// HasHandle reports whether a value is a Handle or holds one at any depth.
func HasHandle(v any) bool {
	if _, ok := AsHandle(v); ok {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		//workflowcheck:ignore -- any or none, in any order
		for _, e := range v {
			if HasHandle(e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if HasHandle(e) {
				return true
			}
		}
	}
	return false
}

// Escape gives a value from outside in which the key of whatever looks like a Handle has one more dagger.
func Escape(v any) any {
	return renameHandleKeys(v, func(dagger string) string { return "†" + dagger })
}

// Unescape undoes Escape.
func Unescape(v any) any {
	return renameHandleKeys(v, func(dagger string) string { return strings.TrimPrefix(dagger, "†") })
}

// renameHandleKeys renames the key of each object whose only key is HandleKey, with any number of daggers in front.
func renameHandleKeys(v any, rename func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- each key by itself, in any order
		for k, e := range v {
			if len(v) == 1 && strings.HasSuffix(k, HandleKey) && strings.Trim(k, "†") == "blob" {
				k = rename(k)
			}
			out[k] = renameHandleKeys(e, rename)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = renameHandleKeys(e, rename)
		}
		return out
	}
	return v
}
