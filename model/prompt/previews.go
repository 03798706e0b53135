package prompt

import (
	"strconv"

	"processidea/model/jsonval"
)

// maxShownBytes bounds approximately how much a prompt shows of all States together, and of all inputs. Previews show
// the rest. Every Request repeats what is shown, and is paid for.
const maxShownBytes = 256 << 10

// minPreviewedBytes is the size in bytes below which a value is never shown by a preview, since the preview would
// hardly be shorter.
const minPreviewedBytes = 512

// fitToPrompt shows the largest values by previews if all values together are too large. It previews every value above
// a size, and halves that size until the rest fits, so that small values beside large ones stay as they are. Values in
// the store are always shown by previews, and share the room for outlines.
func (w *promptWriter) fitToPrompt(values []any) []any {
	shortenedValues := values
	for previewThresholdBytes := jsonval.LargeValueBytes / 2; previewThresholdBytes >= minPreviewedBytes && totalSizeUpToLimit(shortenedValues) > maxShownBytes; previewThresholdBytes /= 2 {
		shortenedValues = jsonval.Map(values, func(v any) any { return w.previewMembers(v, previewThresholdBytes) })
	}
	storedContainerCount := 0
	for _, v := range shortenedValues {
		storedContainerCount += countStoredContainers(v)
	}
	if storedContainerCount == 0 {
		return shortenedValues
	}
	outlineByteLimit := min(maxOutlineBytes, maxAllOutlineBytes/storedContainerCount)
	return jsonval.Map(shortenedValues, func(v any) any { return w.previewStoredValues(v, outlineByteLimit) })
}

// countStoredContainers counts the objects and lists in a value that are in the store.
func countStoredContainers(v any) (count int) {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		if h.ValueType == "object" || h.ValueType == "array" {
			count++
		}
		return count
	}
	for e := range jsonval.ChildValues(v) {
		count += countStoredContainers(e)
	}
	return count
}

func totalSizeUpToLimit(values []any) int {
	total := 0
	for _, v := range values {
		if total <= maxShownBytes {
			total += jsonval.SizeUpToLimit(v, maxShownBytes-total)
		}
	}
	return total
}

// previewMembers shows each member of an object that is larger than a size by a preview.
func (w *promptWriter) previewMembers(v any, previewThresholdBytes int) any {
	if _, ok := v.(jsonval.Object); !ok {
		return w.previewIfLarger(v, previewThresholdBytes)
	}
	return jsonval.MapChildValues(v, func(e any) any { return w.previewIfLarger(e, previewThresholdBytes) })
}

// previewIfLarger shows a value that is larger than a size by a preview. It first previews the large members of an
// object, so that a small member beside them is still shown.
func (w *promptWriter) previewIfLarger(v any, previewThresholdBytes int) any {
	if jsonval.SizeUpToLimit(v, previewThresholdBytes) <= previewThresholdBytes {
		return v
	}
	if _, ok := v.(jsonval.Object); ok {
		out := w.previewMembers(v, previewThresholdBytes)
		if jsonval.SizeUpToLimit(out, previewThresholdBytes) <= previewThresholdBytes {
			return out
		}
	}
	data := jsonval.Encode(v)
	return w.previewOf(v, data, len(data), min(maxOutlineBytes, previewThresholdBytes/8))
}

// previewOf is the preview of a value for the LLM, with an outline if room has space for one. data is the value's JSON,
// and size its size in bytes.
func (w *promptWriter) previewOf(v any, data []byte, byteCount, outlineByteLimit int) jsonval.Object {
	w.hasUnexplainedPreviews = true
	preview := jsonval.Object{"type": jsonval.TypeOf(v), "bytes": strconv.Itoa(byteCount)}
	if outline, omittedCount, ok := outlineValue(v, outlineByteLimit); !ok {
		preview["begins"] = jsonval.JSONPrefix(data)
		if text, isText := v.(string); isText {
			preview["begins"] = jsonval.Clip(text, maxBeginningLetters)
		}
	} else {
		w.hasUnexplainedOutlines, preview["outline"] = true, outline
		if omittedCount > 0 {
			preview["more"] = strconv.Itoa(omittedCount)
		}
	}
	return jsonval.Object{previewKey: preview}
}

const (
	previewKey          = "(large value)"
	maxBeginningLetters = 200 // how much of a text is shown
)

// abbreviateStoredValues shows the values that are in the store by previews.
func (w *promptWriter) abbreviateStoredValues(v any) any {
	return w.previewStoredValues(v, 2*minOutlineBytes)
}

// previewStoredValues is abbreviateStoredValues with an outline of at most room bytes for each.
func (w *promptWriter) previewStoredValues(v any, outlineByteLimit int) any {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return w.previewOfStored(h, outlineByteLimit)
	}
	return jsonval.MapChildValues(v, func(e any) any { return w.previewStoredValues(e, outlineByteLimit) })
}

// previewOfStored is previewOf for a value in the store, which it reads. If the value cannot be read, its type and size
// are shown.
func (w *promptWriter) previewOfStored(h jsonval.BlobHandle, outlineByteLimit int) jsonval.Object {
	w.hasUnexplainedPreviews = true
	preview := jsonval.Object{"type": h.ValueType, "bytes": strconv.Itoa(h.Size)}
	var data []byte
	if w.readStoredValue != nil {
		data = w.readStoredValue(h)
	}
	path, err := jsonval.ParsePath(h.PathInValue)
	if len(data) > maxOutlineSourceBytes && len(path) == 0 {
		preview["begins"] = jsonval.JSONPrefix(data)
	}
	if err != nil || len(data) == 0 || len(data) > maxOutlineSourceBytes {
		return jsonval.Object{previewKey: preview}
	}
	v, err := jsonval.Decode(data)
	part, isFound := jsonval.ValueAt(v, path)
	if err != nil || !isFound {
		return jsonval.Object{previewKey: preview}
	}
	size := h.Size
	if len(path) > 0 {
		data = jsonval.Encode(part)
		size = len(data)
	}
	return w.previewOf(part, data, size, outlineByteLimit)
}

// writePreviewExplanation explains previews, if one was written.
func (w *promptWriter) writePreviewExplanation() {
	if w.hasUnexplainedPreviews {
		previewText, referenceHint := "how it begins", "A Reference to its place brings the whole value."
		if w.hasUnexplainedOutlines {
			previewText += `, or an outline: its keys or first items, texts in it cut at "…", and how many "more" there are`
			referenceHint = `A Reference to its place brings the whole value, and one that goes on into it ("†state.notes.monday", "†state.rows[5]") that part whole.`
		}
		w.writeLine(`Where "%s" stands, a value is too long to be shown: you see its type, its size and %s. %s`,
			previewKey, previewText, referenceHint)
	}
	w.hasUnexplainedPreviews, w.hasUnexplainedOutlines = false, false
}
