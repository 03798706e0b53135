package ideafile

import (
	"maps"
	"slices"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// WrittenCall is a Call as it was written: by the LLM, in a Plan message, or by a person. It is parsed once, on
// arrival, but not checked: it may name an unknown Tool, or be no object at all. Palette.ReadCall makes a Call of it.
// Its JSON is exactly what was written.
type WrittenCall struct {
	// Tool is `_tool`; empty if there is none.
	Tool string
	// TargetTokens are the tokens that `_instance` names, one or a list; none: the Call is for every instance ("*"), or does
	// not name any.
	TargetTokens []string

	rawValue  any
	rawObject jsonval.Object // rawValue, or nil if that is no object
}

// ParseWrittenCall parses a decoded JSON value. A value that is a WrittenCall already is returned as it is.
func ParseWrittenCall(value any) WrittenCall {
	if w, ok := value.(WrittenCall); ok {
		return w
	}
	w := WrittenCall{rawValue: value}
	w.rawObject = jsonval.AsObject(value)
	w.Tool = jsonval.AsText(w.rawObject["_tool"])
	w.TargetTokens = readTargetTokens(w.rawObject["_instance"])
	return w
}

func readTargetTokens(rawInstance any) []string {
	if token, ok := rawInstance.(string); ok && token != "*" && token != "" {
		return []string{token}
	}
	tokens, _ := jsonval.AsStringList(rawInstance)
	if slices.Contains(tokens, "*") {
		return nil
	}
	return tokens
}

// ParseWrittenCalls parses a list of decoded JSON values.
func ParseWrittenCalls(values []any) []WrittenCall {
	return jsonval.Map(values, ParseWrittenCall)
}

// RawWrittenCalls is the inverse of ParseWrittenCalls.
func RawWrittenCalls(calls []WrittenCall) []any {
	return jsonval.Map(calls, WrittenCall.AsWritten)
}

// AsWritten returns the Call as it was written; nil for the zero WrittenCall.
func (w WrittenCall) AsWritten() any { return w.rawValue }

// RawObject returns the Call's parameters and meta properties; nil if it is no object.
func (w WrittenCall) RawObject() jsonval.Object { return w.rawObject }

// IsZero reports whether this is the zero WrittenCall. encoding/json leaves that out under omitzero.
func (w WrittenCall) IsZero() bool { return w.rawValue == nil }

// WithoutTarget returns the Call without its `_instance`.
func (w WrittenCall) WithoutTarget() WrittenCall {
	if w.rawObject == nil {
		return w
	}
	return ParseWrittenCall(jsonval.WithoutKey(w.rawObject, "_instance"))
}

// SameCallAs reports whether two Calls differ at most in their target and their reasoning.
func (w WrittenCall) SameCallAs(o WrittenCall) bool {
	return jsonval.Equal(w.withoutTargetAndReason(), o.withoutTargetAndReason())
}

func (w WrittenCall) withoutTargetAndReason() any {
	if w.rawObject == nil {
		return w.rawValue
	}
	return jsonval.WithoutKey(w.rawObject, "_instance", "_reasoningForCall")
}

// TargetsOtherInstance reports whether the Call names instances, and not this one.
func (w WrittenCall) TargetsOtherInstance(token string) bool {
	return token != "" && len(w.TargetTokens) > 0 && !slices.Contains(w.TargetTokens, token)
}

// TargetTokensOrAll returns the instances that the Call names, which need not be among tokens, or all tokens if it
// names none.
func (w WrittenCall) TargetTokensOrAll(tokens []string) []string {
	if len(w.TargetTokens) > 0 {
		return w.TargetTokens
	}
	return tokens
}

// MarshalJSON returns what was written.
func (w WrittenCall) MarshalJSON() ([]byte, error) { return jsonval.Encode(w.rawValue), nil }

// UnmarshalJSON is the inverse of MarshalJSON. Numbers keep their digits.
func (w *WrittenCall) UnmarshalJSON(data []byte) error {
	var v any
	if err := jsonval.Unmarshal(data, &v); err != nil {
		return err
	}
	*w = ParseWrittenCall(v)
	return nil
}

// OutputMetaOf returns where in State a Call's result is written, and how. ok is false if the Tool is unknown or the
// path invalid.
func (i *Idea) OutputMetaOf(w WrittenCall) (c Call, ok bool) {
	t := i.Tool(w.Tool)
	if t == nil {
		return Call{}, false
	}
	f := t.ReadOutputMeta(&c, w.rawObject)
	return c, f == nil
}

// WithToolFixedValues returns a Call with what its Tool fixes: where and how the result is written, and wired
// parameters. A broken Call, or one of an unknown Tool or Idea, stays as it is.
func (i *Idea) WithToolFixedValues(w WrittenCall) WrittenCall {
	if i == nil {
		return w
	}
	output, ok := i.OutputMetaOf(w)
	if !ok || w.rawObject == nil {
		return w
	}
	tool, m := i.Tool(w.Tool), maps.Clone(w.rawObject)
	if tool.IsOutputPathAlias("output", m["output"]) {
		delete(m, "output")
	}
	for name, reference := range jsonval.Sorted(tool.WiredExpressionByParam) {
		m[name] = reference
	}
	if path := output.OutputPath.ReferenceText(); m["_outputPath"] == nil && (path != "" || m["output"] != nil) {
		m["_outputPath"] = path // even an empty one, so that nobody takes output for it
	}
	if output.OutputMethod != "" {
		m["_outputMethod"] = output.OutputMethod
	}
	return ParseWrittenCall(m)
}

// OutputPathOf is OutputMetaOf for the path alone. It is empty for a Call that is run for its effect.
func (i *Idea) OutputPathOf(w WrittenCall) (path refexpr.OutputPath, ok bool) {
	c, ok := i.OutputMetaOf(w)
	return c.OutputPath, ok
}

// HasNoOutputPath reports whether a Call is run for its effect, so that only its record holds its result.
func (i *Idea) HasNoOutputPath(w WrittenCall) bool {
	path, ok := i.OutputPathOf(w)
	return ok && len(path) == 0
}
