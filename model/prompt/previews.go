package prompt

import (
	"strconv"

	"processidea/model/jsonval"
)

// shownBytes is about how much a prompt shows of all States together, and of all inputs: what is beyond it is shown by previews. Every Request
// repeats them, and is paid for.
const shownBytes = 256 << 10

// leastPreviewed is the size in bytes from which at most a value is shown by a preview, however much there is. A preview of a smaller one would
// hardly be shorter.
const leastPreviewed = 512

// fitToPrompt shows the largest of some values by previews if they are too much together: all those above a size, which is halved until the
// rest fits. Small values beside large ones stay as they are.
func (w *promptWriter) fitToPrompt(values []any) []any {
	fitted := values
	for above := jsonval.LargeValueBytes / 2; above >= leastPreviewed && totalSize(fitted) > shownBytes; above /= 2 {
		fitted = make([]any, len(values))
		for n, v := range values {
			fitted[n] = w.previewMembers(v, above)
		}
	}
	return fitted
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
	m, ok := v.(map[string]any)
	if !ok {
		return w.previewAbove(v, above)
	}
	out := make(map[string]any, len(m))
	//workflowcheck:ignore -- builds a map: the order does not matter
	for k, e := range m {
		out[k] = w.previewAbove(e, above)
	}
	return out
}

// previewAbove shows a value that is larger than a size by a preview. It looks into objects first, so that a small member beside a large one is
// still shown.
func (w *promptWriter) previewAbove(v any, above int) any {
	if jsonval.SizeUpToLimit(v, above) <= above {
		return v
	}
	if m, ok := v.(map[string]any); ok {
		out := w.previewMembers(m, above)
		if jsonval.SizeUpToLimit(out, above) <= above {
			return out
		}
	}
	w.showsPreviews = true
	data := jsonval.Encode(v)
	return previewOf(jsonval.TypeOf(v), len(data), jsonval.Beginning(data))
}

// previewOf is what the LLM is shown in the place of a value; begins may be empty.
func previewOf(valueType string, size int, begins string) map[string]any {
	large := map[string]any{"type": valueType, "bytes": strconv.Itoa(size)}
	if begins != "" {
		large["begins"] = begins
	}
	return map[string]any{previewKey: large}
}

const previewKey = "(large value)"

// abbreviateLargeValues shows values that lie in the store by previews.
func (w *promptWriter) abbreviateLargeValues(v any) any {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		w.showsPreviews = true
		begins := ""
		if w.preview != nil {
			begins = w.preview(h)
		}
		return previewOf(h.ValueType, h.Size, begins)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- builds a map: the order does not matter
		for k, e := range v {
			out[k] = w.abbreviateLargeValues(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = w.abbreviateLargeValues(e)
		}
		return out
	}
	return v
}

// writePreviewsRule says what a preview is, where one was written.
func (w *promptWriter) writePreviewsRule() {
	if w.showsPreviews {
		w.writeLine(`Where "%s" stands, a value is too long to be shown: you see its type, its size and how it begins. `+
			`A Reference to its place brings the whole value.`, previewKey)
	}
	w.showsPreviews = false
}
