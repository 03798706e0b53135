package prompt

import (
	"strconv"

	"processidea/model/jsonval"
)

// shownBytes bounds approximately how much a prompt shows of all States together, and of all inputs: the rest is shown
// by previews. Every Request repeats them, and is paid for.
const shownBytes = 256 << 10

// leastPreviewed is the size in bytes below which a value is never shown by a preview, which would hardly be shorter.
const leastPreviewed = 512

// fitToPrompt shows the largest of some values by previews if they are too much together: all those above a size, which
// is halved until the rest fits. Small values beside large ones stay as they are. Values that lie in the store are
// always shown by previews, and share the room for outlines.
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

// countStored counts the objects and lists in a value that lie in the store.
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

// previewIfLarger shows a value that is larger than a size by a preview. It looks into objects first, so that a small
// member beside a large one is still shown.
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

// previewOf is the preview of a value for the LLM, with an outline if there is room for one; data is its JSON, and size
// its size in bytes.
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

// abbreviateLargeValues shows values that lie in the store by previews.
func (w *promptWriter) abbreviateLargeValues(v any) any { return w.abbreviate(v, 2*leastOutlineBytes) }

// abbreviate is abbreviateLargeValues with an outline of at most room bytes for each.
func (w *promptWriter) abbreviate(v any, room int) any {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return w.previewOfStored(h, room)
	}
	return jsonval.WithHeldValues(v, func(e any) any { return w.abbreviate(e, room) })
}

// previewOfStored is previewOf for a value in the store, which is read for it. Where it cannot be read, its type and
// size are shown.
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
