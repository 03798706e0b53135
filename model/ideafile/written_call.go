package ideafile

import (
	"bytes"
	"encoding/json"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// WrittenCall is a Call as it was written: by the LLM, in a Plan message, or by a person. It is parsed once, where it comes in, but not
// checked: it may name an unknown Tool, or be no object at all. Palette.Read makes a Call of it. Its JSON is exactly what was written.
type WrittenCall struct {
	// Tool is `_tool`; empty if there is none.
	Tool string
	// Target is `_instance`: a token, "*" for every instance, or empty.
	Target string

	value  any
	object map[string]any // value, or nil if that is no object
}

// ParseWrittenCall parses a decoded JSON value. A value that is a WrittenCall already is returned as it is.
func ParseWrittenCall(value any) WrittenCall {
	if w, ok := value.(WrittenCall); ok {
		return w
	}
	w := WrittenCall{value: value}
	w.object, _ = value.(map[string]any)
	w.Tool, _ = w.object["_tool"].(string)
	w.Target, _ = w.object["_instance"].(string)
	return w
}

// ParseWrittenCalls parses a list of decoded JSON values.
func ParseWrittenCalls(values []any) []WrittenCall {
	calls := make([]WrittenCall, len(values))
	for n, v := range values {
		calls[n] = ParseWrittenCall(v)
	}
	return calls
}

// WrittenValues is the inverse of ParseWrittenCalls.
func WrittenValues(calls []WrittenCall) []any {
	values := make([]any, len(calls))
	for n, w := range calls {
		values[n] = w.value
	}
	return values
}

// Value returns the Call as it was written; nil for the zero WrittenCall.
func (w WrittenCall) Value() any { return w.value }

// Fields returns the Call's parameters and meta properties; nil if it is no object.
func (w WrittenCall) Fields() map[string]any { return w.object }

// IsZero reports whether this is the zero WrittenCall. encoding/json leaves that out under omitzero.
func (w WrittenCall) IsZero() bool { return w.value == nil }

// WithoutTarget returns the Call without its `_instance`.
func (w WrittenCall) WithoutTarget() WrittenCall {
	if w.object == nil {
		return w
	}
	return ParseWrittenCall(jsonval.WithoutKey(w.object, "_instance"))
}

// Equivalent reports whether two Calls differ at most in their target and their reasoning.
func (w WrittenCall) Equivalent(o WrittenCall) bool {
	return jsonval.Equal(w.withoutTargetAndReason(), o.withoutTargetAndReason())
}

func (w WrittenCall) withoutTargetAndReason() any {
	if w.object == nil {
		return w.value
	}
	return jsonval.WithoutKey(jsonval.WithoutKey(w.object, "_instance"), "_reasoningForCall")
}

// TargetsOther reports whether the Call names a single instance, and not this one.
func (w WrittenCall) TargetsOther(token string) bool {
	return token != "" && w.Target != "" && w.Target != "*" && w.Target != token
}

// TargetInstances returns the instance that the Call names, which need not be among tokens, or all tokens if it names none.
func (w WrittenCall) TargetInstances(tokens []string) []string {
	if w.Target != "" && w.Target != "*" {
		return []string{w.Target}
	}
	return tokens
}

// MarshalJSON returns what was written.
func (w WrittenCall) MarshalJSON() ([]byte, error) { return jsonval.Encode(w.value), nil }

// UnmarshalJSON is the inverse of MarshalJSON. Numbers keep their digits.
func (w *WrittenCall) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	*w = ParseWrittenCall(v)
	return nil
}

// OutputPathOf returns where in State the result of a Call is written. The path is empty for a Call that is run for its effect; ok is
// false if the Tool is unknown or the path invalid.
func (i *Idea) OutputPathOf(w WrittenCall) (path refexpr.OutputPath, ok bool) {
	t := i.Tool(w.Tool)
	if t == nil {
		return nil, false
	}
	var c Call
	f := t.ReadOutputMeta(&c, w.object)
	return c.OutputPath, f == nil
}

// HasNoOutputPath reports whether a Call is run for its effect, so that only its record holds its result.
func (i *Idea) HasNoOutputPath(w WrittenCall) bool {
	path, ok := i.OutputPathOf(w)
	return ok && len(path) == 0
}
