package jsonval

import (
	"encoding/json"
	"strings"
)

// A Handle stands in State for a value that lies in the store because it is large. In JSON it is an object with the one
// key "†blob". Data that happens to look so is told apart by one more dagger (Escape), so that nobody can forge one.
type Handle struct {
	Digest string `json:"digest"` // SHA-256 of the value's canonical bytes, in hex
	Size   int    `json:"size"`   // bytes
	Type   string `json:"type"`   // JSON type of the value
	// Path is the place inside the stored value, where a Reference reached into it.
	Path string `json:"path,omitempty"`
}

const HandleKey = "†blob"

// LargeValue is the size in bytes over which a value lives in the store and State holds its Handle.
const LargeValue = 64 << 10

// Value gives the handle as the JSON value that State holds.
func (h Handle) Value() any { return map[string]any{HandleKey: Normal(h)} }

// AsHandle reads a value as a handle.
func AsHandle(v any) (Handle, bool) {
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
	h := Handle{Size: int(n)}
	h.Digest, _ = in["digest"].(string)
	h.Type, _ = in["type"].(string)
	h.Path, _ = in["path"].(string)
	return h, true
}

// HasHandle says whether a value is a handle or holds one.
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

// Escape makes a value from outside safe to hold: whatever looks like a handle gets one more dagger.
func Escape(v any) any {
	return mapLookalikes(v, func(dagger string) string { return "†" + dagger })
}

// Unescape undoes Escape.
func Unescape(v any) any {
	return mapLookalikes(v, func(dagger string) string { return strings.TrimPrefix(dagger, "†") })
}

// mapLookalikes renames the key of each object that has one key of the form †…†blob.
func mapLookalikes(v any, rename func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- a map again
		for k, e := range v {
			if len(v) == 1 && strings.HasSuffix(k, HandleKey) && strings.Trim(k, "†") == "blob" {
				k = rename(k)
			}
			out[k] = mapLookalikes(e, rename)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = mapLookalikes(e, rename)
		}
		return out
	}
	return v
}
