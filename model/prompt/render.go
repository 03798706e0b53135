package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Message is one message of the conversation with the LLM.
type Message struct {
	Role, Content string // Role is "system" or "user"
}

// Render renders a Request as three messages. Prompt caches match from the front, so what changes least comes first:
// the rules and the palette, then the context that all instances share, then the Plans, the States, the errors and what
// is asked. preview returns the beginning of a value that lies in the store; it may be nil.
func Render(idea *ideafile.Idea, bindings map[string]ideafile.Binding, request *turn.RequestInput, preview func(jsonval.Handle) string) []Message {
	w := &promptWriter{idea: idea, bindings: bindings, request: request, preview: preview}
	return []Message{
		{"system", w.render((*promptWriter).writeRules, (*promptWriter).writePalette)},
		{"user", w.render((*promptWriter).writeSharedContext)},
		{"user", w.render((*promptWriter).writeGuidingPlans, (*promptWriter).writeCallHistory, (*promptWriter).writeInstanceStates, (*promptWriter).writeContextErrors,
			(*promptWriter).writeRequestedReply)},
	}
}

// promptWriter renders the sections of a prompt; it is reset for each message.
type promptWriter struct {
	strings.Builder
	idea     *ideafile.Idea
	bindings map[string]ideafile.Binding
	request  *turn.RequestInput
	preview  func(jsonval.Handle) string
}

func (w *promptWriter) render(parts ...func(*promptWriter)) string {
	w.Reset()
	for _, part := range parts {
		part(w)
	}
	return strings.TrimSpace(w.String())
}

func (w *promptWriter) writeLine(format string, args ...any) {
	fmt.Fprintf(&w.Builder, format+"\n", args...)
}

func (w *promptWriter) writeHeading(title string) { w.writeLine("\n## %s", title) }

// writeLabeledValue writes a value behind a label. It does not go through fmt, which would copy a State of a megabyte
// several times.
func (w *promptWriter) writeLabeledValue(label string, v any) {
	jsonval.WithEncoded(w.abbreviateLarge(v), func(data []byte) {
		w.Grow(len(label) + len(data) + 1)
		w.WriteString(label)
		w.Write(data)
		w.WriteByte('\n')
	})
}

// encode encodes a value as compact JSON, large values abbreviated.
func (w *promptWriter) encode(v any) []byte { return jsonval.Encode(w.abbreviateLarge(v)) }

func (w *promptWriter) abbreviateLarge(v any) any {
	if h, ok := jsonval.AsHandle(v); ok {
		large := map[string]any{"type": h.Type, "bytes": strconv.Itoa(h.Size)}
		if w.preview != nil {
			large["begins"] = w.preview(h)
		}
		return map[string]any{"(large value)": large}
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- builds a map: the order does not matter
		for k, e := range v {
			out[k] = w.abbreviateLarge(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = w.abbreviateLarge(e)
		}
		return out
	}
	return v
}

func (w *promptWriter) singleUnnamedInstance() bool {
	tokens := w.idea.InstanceTokens()
	return len(tokens) == 1 && tokens[0] == ""
}

func (w *promptWriter) writeRequestedReply() {
	switch {
	case len(w.request.Questions) > 0:
		w.writeHeading("Results wanted")
		w.writeLine(`Only results are wanted: for each of these Calls one entry {"_call": id, "_output": result} in "calls"; "output" is null.`)
		if asksForCorrections(w.request) {
			w.writeLine(`Where an entry below says that values do not fit, give {"_call": id, "_params": the same parameters, ` +
				`fitted to the tool's parameters} instead: bring the values into the right form, and change and invent nothing.`)
		}
		for _, question := range w.request.Questions {
			if question.ParamsError != "" {
				w.writeLine("- %s %s %s does not fit: %s", question.ID, question.Tool, w.encode(question.Params), question.ParamsError)
				continue
			}
			w.writeLine("- %s %s %s", question.ID, question.Tool, w.encode(question.Params))
		}
	case w.request.OutputOnly:
		w.writeHeading("Output wanted")
		w.writeLine(`Every instance has reached its goal. Only "output" is wanted: "calls" is empty.`)
	}
}
