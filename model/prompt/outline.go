package prompt

import (
	"fmt"
	"slices"
	"strconv"

	"processidea/model/jsonval"
)

// How much an outline shows at most.
const (
	maxOutlineBytes    = 3 << 10  // of one value
	maxAllOutlineBytes = 48 << 10 // of all stored values shown together
	leastOutlineBytes  = 256      // with less room, the beginning of the value is as informative
	maxOutlinedBytes   = 4 << 20  // a larger stored value is not read for its outline
	outlineDepth       = 2        // levels below the value itself
	outlineMembers     = 8        // members that a nested object or list may have
	outlinedKeyBytes   = 200      // a longer key is left out
)

// outlineTexts are the lengths to which texts in an outline are cut. The first length at which the outline fits is
// used; 0 shows only the keys.
var outlineTexts = []int{120, 60, 30, 12, 0}

// outlineOf outlines an object or a list in room bytes of JSON: every key of an object if there is room, or the first
// items of a list. more counts the omitted members. ok is false for other values, and without room.
//
// The outline depends only on the value and the room.
func outlineOf(v any, room int) (outline any, more int, ok bool) {
	if room < leastOutlineBytes {
		return nil, 0, false
	}
	switch v := v.(type) {
	case jsonval.Object:
		outline, more = outlineOfObject(v, room)
		return outline, more, more < len(v)
	case []any:
		outline, more = outlineOfList(v, room)
		return outline, more, more < len(v)
	}
	return nil, 0, false
}

func outlineOfObject(m jsonval.Object, room int) (outline jsonval.Object, more int) {
	keys := slices.DeleteFunc(jsonval.SortedKeys(m), func(k string) bool { return len(k) > outlinedKeyBytes })
	for _, textLength := range outlineTexts {
		outline = jsonval.Object{}
		left := room
		for _, k := range keys {
			outline[k] = shorten(m[k], textLength, outlineDepth)
			left -= len(jsonval.Encode(k)) + jsonval.SizeUpToLimit(outline[k], left+1) + 2
			if left < 0 {
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

// outlineOfList shows fewer items rather than less of each item. A Reference names an omitted item by its index, which
// needs no outline.
func outlineOfList(list []any, room int) (outline []any, more int) {
	for _, textLength := range outlineTexts {
		outline = nil
		left := room
		for _, e := range list {
			item := shorten(e, textLength, outlineDepth)
			if left -= jsonval.SizeUpToLimit(item, left+1) + 1; left < 0 {
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

// shorten cuts the texts in a value to a length, and replaces parts that are too deep or too many by their type.
func shorten(v any, textLength, depth int) any {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return fmt.Sprintf("(%s of %d bytes)", h.ValueType, h.Size)
	}
	switch v := v.(type) {
	case string:
		return jsonval.Clip(v, textLength)
	case jsonval.Object:
		if depth == 0 || textLength == 0 || len(v) > outlineMembers {
			return fmt.Sprintf("(object of %d keys)", len(v))
		}
		out := make(jsonval.Object, len(v))
		//workflowcheck:ignore -- builds a map: the order does not matter
		for k, e := range v {
			out[jsonval.Clip(k, outlinedKeyBytes)] = shorten(e, textLength/2, depth-1)
		}
		return out
	case []any:
		if depth == 0 || textLength == 0 || len(v) > outlineMembers {
			return "(list of " + strconv.Itoa(len(v)) + ")"
		}
		return jsonval.WithHeldValues(v, func(e any) any { return shorten(e, textLength/2, depth-1) })
	}
	return v
}
