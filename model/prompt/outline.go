package prompt

import (
	"fmt"
	"slices"
	"strconv"

	"processidea/model/jsonval"
)

// How much an outline shows at most.
const (
	maxOutlineBytes       = 3 << 10  // of one value
	maxAllOutlineBytes    = 48 << 10 // of all stored values shown together
	minOutlineBytes       = 256      // with less room, the beginning of the value is as informative
	maxOutlineSourceBytes = 4 << 20  // a larger stored value is not read for its outline
	maxOutlineDepth       = 2        // levels below the value itself
	maxOutlineMembers     = 8        // members that a nested object or list may have
	maxOutlineKeyBytes    = 200      // a longer key is left out
)

// outlineTextLengths are the lengths to which texts in an outline are cut. The first length at which the outline fits
// is used; 0 shows only the keys.
var outlineTextLengths = []int{120, 60, 30, 12, 0}

// outlineValue outlines an object or a list in at most maxBytes of JSON: every key of an object if they fit, or the
// first items of a list. omittedCount counts the omitted members. ok is false for other values, and if nothing fits.
//
// The outline depends only on the value and maxBytes.
func outlineValue(v any, maxBytes int) (outline any, omittedCount int, ok bool) {
	if maxBytes < minOutlineBytes {
		return nil, 0, false
	}
	switch v := v.(type) {
	case jsonval.Object:
		outline, omittedCount = outlineObject(v, maxBytes)
		return outline, omittedCount, omittedCount < len(v)
	case []any:
		outline, omittedCount = outlineList(v, maxBytes)
		return outline, omittedCount, omittedCount < len(v)
	}
	return nil, 0, false
}

func outlineObject(m jsonval.Object, maxBytes int) (outline jsonval.Object, omittedCount int) {
	keys := slices.DeleteFunc(jsonval.SortedKeys(m), func(k string) bool { return len(k) > maxOutlineKeyBytes })
	for _, textLength := range outlineTextLengths {
		outline = jsonval.Object{}
		bytesLeft := maxBytes
		for _, k := range keys {
			outline[k] = shortenValue(m[k], textLength, maxOutlineDepth)
			bytesLeft -= len(jsonval.Encode(k)) + jsonval.SizeUpToLimit(outline[k], bytesLeft+1) + 2
			if bytesLeft < 0 {
				delete(outline, k)
				break
			}
		}
		if len(outline) == len(keys) {
			break
		}
	}
	return outline, len(m) - len(outline)
}

// outlineList shows fewer items rather than less of each item. A Reference names an omitted item by its index, which
// needs no outline.
func outlineList(list []any, maxBytes int) (outline []any, omittedCount int) {
	for _, textLength := range outlineTextLengths {
		outline = nil
		bytesLeft := maxBytes
		for _, e := range list {
			item := shortenValue(e, textLength, maxOutlineDepth)
			if bytesLeft -= jsonval.SizeUpToLimit(item, bytesLeft+1) + 1; bytesLeft < 0 {
				break
			}
			outline = append(outline, item)
		}
		if len(outline) > 0 {
			break
		}
	}
	return outline, len(list) - len(outline)
}

// shortenValue cuts the texts in a value to a length, and replaces parts that are too deep or too many by their type.
func shortenValue(v any, textLength, depth int) any {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return fmt.Sprintf("(%s of %d bytes)", h.ValueType, h.Size)
	}
	switch v := v.(type) {
	case string:
		return jsonval.Clip(v, textLength)
	case jsonval.Object:
		if depth == 0 || textLength == 0 || len(v) > maxOutlineMembers {
			return fmt.Sprintf("(object of %d keys)", len(v))
		}
		out := make(jsonval.Object, len(v))
		//workflowcheck:ignore -- builds a map: the order does not matter
		for k, e := range v {
			out[jsonval.Clip(k, maxOutlineKeyBytes)] = shortenValue(e, textLength/2, depth-1)
		}
		return out
	case []any:
		if depth == 0 || textLength == 0 || len(v) > maxOutlineMembers {
			return "(list of " + strconv.Itoa(len(v)) + ")"
		}
		return jsonval.MapChildValues(v, func(e any) any { return shortenValue(e, textLength/2, depth-1) })
	}
	return v
}
