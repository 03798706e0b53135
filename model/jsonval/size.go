package jsonval

import "encoding/json"

// MaxResolvedBytes bounds a value with all its References resolved, in bytes of JSON: the parameters of a Call, or an
// output.
const MaxResolvedBytes = 20 << 20

// SizeUpToLimit returns the approximate size of a value as JSON, in bytes. It counts only a little beyond limit, so
// that a value which holds another one ten thousand times costs no more than the limit.
func SizeUpToLimit(v any, limit int) int { return sizeUpToLimit(v, limit, false) }

// SizeWithBlobsUpToLimit is SizeUpToLimit, but a BlobHandle of a whole value counts with the size of that value.
func SizeWithBlobsUpToLimit(v any, limit int) int { return sizeUpToLimit(v, limit, true) }

func sizeUpToLimit(v any, limit int, includesBlobs bool) int {
	n := 2
	switch v := v.(type) {
	case string:
		return n + len(v)
	case json.Number:
		return len(v)
	case Object:
		if h, ok := AsBlobHandle(v); ok && includesBlobs && h.PathInValue == "" {
			return h.Size
		}
		for k, child := range Sorted(v) {
			if n > limit {
				break
			}
			n += len(k) + 4 + sizeUpToLimit(child, limit-n, includesBlobs)
		}
		return n
	case []any:
		for _, e := range v {
			if n > limit {
				break
			}
			n += 1 + sizeUpToLimit(e, limit-n, includesBlobs)
		}
		return n
	}
	return 4
}
