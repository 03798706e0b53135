package prompt

import (
	"strconv"

	"processidea/model/jsonval"
)

// shownBytes bounds approximately how much a prompt shows of all States together, and of all inputs. Previews show the
// rest. Every Request repeats what is shown, and is paid for.
const shownBytes = 256 << 10

// leastPreviewed is the size in bytes below which a value is never shown by a preview, since the preview would hardly
// be shorter.
const leastPreviewed = 512

// fitToPrompt shows the largest values by previews if all values together are too large. It previews every value above
// a size, and halves that size until the rest fits, so that small values beside large ones stay as they are. Values in
// the store are always shown by previews, and share the room for outlines.
func (w *promptWriter) fitToPrompt(values []any) []any {
	fitted := values
	for above := jsonval.LargeValueBytes / 2; above >= leastPreviewed && totalSize(fitted) > shownBytes; above /= 2 {
		fitted = jsonval.Map(values, func(v any) any { return w.previewMembers(v, above) })
	}
	stored := 0
	for _, v := range fitted {
		stored += countStored(v)
	}
	if stored == 0 {
		return fitted
	}
	room := min(maxOutlineBytes, maxAllOutlineBytes/stored)
	return jsonval.Map(fitted, func(v any) any { return w.abbreviate(v, room) })
}

// countStored counts the objects and lists in a value that are in the store.
func countStored(v any) (count int) {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		if h.ValueType == "object" || h.ValueType == "array" {
			count++
		}
		return count
	}
	for e := range jsonval.HeldValues(v) {
		count += countStored(e)
	}
	return count
}

func totalSize(values []any) int {
	total := 0
	for _, v := range values {
		if total <= shownBytes {
			total += jsonval.SizeUpToLimit(v, shownBytes-total)
		}
	}
	return total
}

// previewMembers shows each member of an object that is larger than a size by a preview.
func (w *promptWriter) previewMembers(v any, above int) any {
	if _, ok := v.(jsonval.Object); !ok {
		return w.previewIfLarger(v, above)
	}
	return jsonval.WithHeldValues(v, func(e any) any { return w.previewIfLarger(e, above) })
}

// previewIfLarger shows a value that is larger than a size by a preview. It first previews the large members of an
// object, so that a small member beside them is still shown.
func (w *promptWriter) previewIfLarger(v any, above int) any {
	if jsonval.SizeUpToLimit(v, above) <= above {
		return v
	}
	if _, ok := v.(jsonval.Object); ok {
		out := w.previewMembers(v, above)
		if jsonval.SizeUpToLimit(out, above) <= above {
			return out
		}
	}
	data := jsonval.Encode(v)
	return w.previewOf(v, data, len(data), min(maxOutlineBytes, above/8))
}

// previewOf is the preview of a value for the LLM, with an outline if room has space for one. data is the value's JSON,
// and size its size in bytes.
func (w *promptWriter) previewOf(v any, data []byte, size, room int) jsonval.Object {
	w.showsPreviews = true
	large := jsonval.Object{"type": jsonval.TypeOf(v), "bytes": strconv.Itoa(size)}
	if outline, more, ok := outlineOf(v, room); !ok {
		large["begins"] = jsonval.JSONPrefix(data)
		if text, isText := v.(string); isText {
			large["begins"] = jsonval.Clip(text, maxBeginningLetters)
		}
	} else {
		w.showsOutlines, large["outline"] = true, outline
		if more > 0 {
			large["more"] = strconv.Itoa(more)
		}
	}
	return jsonval.Object{previewKey: large}
}

const (
	previewKey          = "(large value)"
	maxBeginningLetters = 200 // how much of a text is shown
)

// abbreviateLargeValues shows the values that are in the store by previews.
func (w *promptWriter) abbreviateLargeValues(v any) any { return w.abbreviate(v, 2*leastOutlineBytes) }

// abbreviate is abbreviateLargeValues with an outline of at most room bytes for each.
func (w *promptWriter) abbreviate(v any, room int) any {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return w.previewOfStored(h, room)
	}
	return jsonval.WithHeldValues(v, func(e any) any { return w.abbreviate(e, room) })
}

// previewOfStored is previewOf for a value in the store, which it reads. If the value cannot be read, its type and size
// are shown.
func (w *promptWriter) previewOfStored(h jsonval.BlobHandle, room int) jsonval.Object {
	w.showsPreviews = true
	shown := jsonval.Object{"type": h.ValueType, "bytes": strconv.Itoa(h.Size)}
	var data []byte
	if w.stored != nil {
		data = w.stored(h)
	}
	path, err := jsonval.ParsePath(h.PathInValue)
	if len(data) > maxOutlinedBytes && len(path) == 0 {
		shown["begins"] = jsonval.JSONPrefix(data)
	}
	if err != nil || len(data) == 0 || len(data) > maxOutlinedBytes {
		return jsonval.Object{previewKey: shown}
	}
	v, err := jsonval.Decode(data)
	part, there := jsonval.ValueAt(v, path)
	if err != nil || !there {
		return jsonval.Object{previewKey: shown}
	}
	size := h.Size
	if len(path) > 0 {
		data = jsonval.Encode(part)
		size = len(data)
	}
	return w.previewOf(part, data, size, room)
}

// writePreviewsRule explains previews, if one was written.
func (w *promptWriter) writePreviewsRule() {
	if w.showsPreviews {
		seen, reference := "how it begins", "A Reference to its place brings the whole value."
		if w.showsOutlines {
			seen += `, or an outline: its keys or first items, texts in it cut at "…", and how many "more" there are`
			reference = `A Reference to its place brings the whole value, and one that goes on into it ("†state.notes.monday", "†state.rows[5]") that part whole.`
		}
		w.writeLine(`Where "%s" stands, a value is too long to be shown: you see its type, its size and %s. %s`,
			previewKey, seen, reference)
	}
	w.showsPreviews, w.showsOutlines = false, false
}
