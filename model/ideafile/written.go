package ideafile

import (
	"bytes"
	"encoding/json"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// WrittenCall is a Call as it was written: by the LLM, in a Plan message, or by a person. It is taken apart once, where it
// comes in, and travels in this form. It may name an unknown Tool, or be no object at all: Palette.Read says what it is in
// an instance. In JSON it is what was written, and nothing else.
type WrittenCall struct {
	// Tool is `_tool`; empty where it names none.
	Tool string
	// Target is `_instance`: a token, "*" for every instance, or empty.
	Target string

	value  any
	object map[string]any // nil where value is no object
}

// ParseWrittenCall takes a Call apart, unless that was done already.
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

// ParseWrittenCalls takes a list of Calls apart.
func ParseWrittenCalls(values []any) []WrittenCall {
	calls := make([]WrittenCall, len(values))
	for n, v := range values {
		calls[n] = ParseWrittenCall(v)
	}
	return calls
}

// WrittenValues gives Calls as they were written.
func WrittenValues(calls []WrittenCall) []any {
	values := make([]any, len(calls))
	for n, w := range calls {
		values[n] = w.value
	}
	return values
}

// Value is the Call as it was written; nil of the zero WrittenCall.
func (w WrittenCall) Value() any { return w.value }

// Fields are the Call's parameters and meta properties; nil where it is no object.
func (w WrittenCall) Fields() map[string]any { return w.object }

// IsZero reports whether there is no Call.
func (w WrittenCall) IsZero() bool { return w.value == nil }

// WithoutTarget is the Call without its target.
func (w WrittenCall) WithoutTarget() WrittenCall {
	if w.object == nil {
		return w
	}
	return ParseWrittenCall(jsonval.WithoutKey(w.object, "_instance"))
}

// Equivalent reports whether two Calls ask for the same, whomever they are for and whatever reason they give.
func (w WrittenCall) Equivalent(o WrittenCall) bool {
	return jsonval.Equal(w.withoutTargetAndReason(), o.withoutTargetAndReason())
}

func (w WrittenCall) withoutTargetAndReason() any {
	if w.object == nil {
		return w.value
	}
	return jsonval.WithoutKey(jsonval.WithoutKey(w.object, "_instance"), "_reasoningForCall")
}

// TargetsOther reports whether the Call names a single instance other than the one with the token.
func (w WrittenCall) TargetsOther(token string) bool {
	return token != "" && w.Target != "" && w.Target != "*" && w.Target != token
}

// Targets picks the instances that the Call is for: the one that it names, which need not be among them, or all.
func (w WrittenCall) Targets(tokens []string) []string {
	if w.Target != "" && w.Target != "*" {
		return []string{w.Target}
	}
	return tokens
}

// MarshalJSON gives what was written.
func (w WrittenCall) MarshalJSON() ([]byte, error) { return jsonval.Encode(w.value), nil }

// UnmarshalJSON reads what MarshalJSON gives. Numbers keep their digits.
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

// OutputPathOf is where in State the result of a Call goes, as far as its Tool lets that be told; ok is false where the Tool
// is unknown or the Call's path is broken. An empty path is that of a Call which is run for its effect.
func (i *Idea) OutputPathOf(w WrittenCall) (path refexpr.OutputPath, ok bool) {
	t := i.Tool(w.Tool)
	if t == nil {
		return nil, false
	}
	var c Call
	f := t.ReadOutputMeta(&c, w.object)
	return c.OutputPath, f == nil
}

// HasNoOutputPath reports whether a Call has no output path: its result is on its record alone.
func (i *Idea) HasNoOutputPath(w WrittenCall) bool {
	path, ok := i.OutputPathOf(w)
	return ok && len(path) == 0
}

// Targets gives the instances that a Call is for, or why there are none.
func (p *Palette) Targets(w WrittenCall) ([]string, *diag.Fault) {
	if w.object == nil {
		return nil, diag.Faultf(CodeBadForm, "a Call is an object, not %s", jsonval.TypeOf(w.value))
	}
	return p.parseTarget(w.object["_instance"])
}
