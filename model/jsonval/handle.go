package jsonval

import (
	"encoding/json"
	"strings"
)

// A BlobHandle replaces a large value in State; the value is in the blob store. In JSON it is an object with the one
// key BlobHandleKey.
//
// Invariant: no data from outside is read as a BlobHandle, because EscapeBlobHandles adds a dagger to anything that
// looks like one.
type BlobHandle struct {
	Digest    string `json:"digest"` // SHA-256 of the value's canonical bytes, in hex
	Size      int    `json:"size"`   // bytes
	ValueType string `json:"type"`   // JSON type of the value
	// PathInValue is a place inside the stored value, if a Reference reached into it.
	PathInValue string `json:"path,omitempty"`
}

// BlobHandleKey is the only key of a BlobHandle in JSON.
const BlobHandleKey = "†blob"

// LargeValueBytes is the size in bytes above which a value is kept in the blob store, with its BlobHandle in State.
const LargeValueBytes = 64 << 10

// maxPreviewRunes is how many characters of a large value are shown.
const maxPreviewRunes = 200

// JSONPrefix returns the beginning of a value's JSON, which people and the LLM see in place of a large value.
func JSONPrefix(data []byte) string {
	runes := []rune(string(data[:min(len(data), 4*maxPreviewRunes)]))
	return string(runes[:min(len(runes), maxPreviewRunes)])
}

// AsJSONValue gives the handle as the JSON value that State holds.
func (h BlobHandle) AsJSONValue() any { return Object{BlobHandleKey: ToJSONValue(h)} }

// AsBlobHandle reads a value as a BlobHandle; ok is false if it is none.
func AsBlobHandle(v any) (h BlobHandle, ok bool) {
	m, ok := v.(Object)
	if !ok || len(m) != 1 {
		return BlobHandle{}, false
	}
	fields, ok := m[BlobHandleKey].(Object)
	if !ok {
		return BlobHandle{}, false
	}
	size, _ := fields["size"].(json.Number)
	n, _ := size.Int64()
	return BlobHandle{AsText(fields["digest"]), int(n), AsText(fields["type"]), AsText(fields["path"])}, true
}

// ContainsBlobHandle reports whether a value is a BlobHandle or contains one at any depth.
func ContainsBlobHandle(v any) bool {
	return ContainsAny(v, func(v any) bool {
		_, ok := AsBlobHandle(v)
		return ok
	})
}

// EscapeBlobHandles returns a value from outside with one more dagger in the key of anything that looks like a
// BlobHandle.
func EscapeBlobHandles(v any) any {
	return renameBlobHandleKeys(v, func(key string) string { return "†" + key })
}

// UnescapeBlobHandles undoes EscapeBlobHandles.
func UnescapeBlobHandles(v any) any {
	return renameBlobHandleKeys(v, func(key string) string { return strings.TrimPrefix(key, "†") })
}

// renameBlobHandleKeys renames the key of each object whose only key is BlobHandleKey, with any number of daggers in
// front.
func renameBlobHandleKeys(v any, rename func(string) string) any {
	out := MapChildValues(v, func(e any) any { return renameBlobHandleKeys(e, rename) })
	m := AsObject(out)
	for k, e := range Sorted(m) {
		if len(m) == 1 && strings.HasSuffix(k, BlobHandleKey) && strings.Trim(k, "†") == "blob" {
			return Object{rename(k): e}
		}
	}
	return out
}
