package ideafile

import (
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// UndoMethod is how the effect of a Tool's Call is undone (`_undo`).
type UndoMethod struct {
	Kind UndoKind `json:"kind"`
	// Tool undoes the Call, with Params, which may hold References to the Call: UndoReferenceKinds. Both are empty
	// unless Kind is UndoByTool.
	Tool   string         `json:"tool,omitempty"`
	Params jsonval.Object `json:"params,omitempty"`
}

// UndoKind says whether and how something can be undone.
type UndoKind string

// The kinds of Undo. A Tool that does not declare its undo is never undone, unless it is latent, pure or a delegate.
const (
	UndoByTool     UndoKind = "tool"
	UndoNotNeeded  UndoKind = "none"    // there is nothing to undo
	UndoImpossible UndoKind = "never"   // it cannot be undone
	UndoByProcess  UndoKind = "process" // by undoing what the Call's process did
)

// ResultReferenceKind is the kind of References to the result of the undone Call.
const ResultReferenceKind = "result"

// UndoReferenceKinds are the kinds of References that the parameters of an Undo may hold: to the Call's result and
// parameters, and to its instance's State.
var UndoReferenceKinds = []string{ResultReferenceKind, ParamsReferenceKind, TypeState}

// ReadUndo reads `_undo`; nil if the Tool has none. A broken one is reported and counts as UndoImpossible.
func ReadUndo(v any, path string, ps *diag.Problems) *UndoMethod {
	const form = `want {"tool": NAME, "params": {…}}, "none" or "never"`
	reject := func(problemPath, format string, args ...any) *UndoMethod {
		ps.Add(problemPath, format, args...)
		return &UndoMethod{Kind: UndoImpossible}
	}
	switch u := v.(type) {
	case nil:
		return nil
	case string:
		if k := UndoKind(u); k == UndoNotNeeded || k == UndoImpossible {
			return &UndoMethod{Kind: k}
		}
		return reject(path, "%s, not %s", form, jsonval.QuoteForError(v))
	case jsonval.Object:
		for k := range jsonval.Sorted(u) {
			if k != "tool" && k != "params" {
				return reject(jsonval.JSONPathWithKey(path, k), "unknown key %q; _undo has params and tool",
					jsonval.ClipForError(k))
			}
		}
		tool := jsonval.AsText(u["tool"])
		params, isObject := u["params"].(jsonval.Object)
		if tool == "" || u["params"] != nil && !isObject {
			return reject(path, form)
		}
		if !checkUndoReferences(params, path+".params", ps) {
			return &UndoMethod{Kind: UndoImpossible}
		}
		return &UndoMethod{UndoByTool, tool, params}
	}
	return reject(path, "%s, not %s", form, jsonval.TypeOf(v))
}

// checkUndoReferences reports References to anything but the undone Call.
func checkUndoReferences(params jsonval.Object, path string, ps *diag.Problems) (ok bool) {
	ok = true
	for name, v := range jsonval.Sorted(params) {
		paramPath := jsonval.JSONPathWithKey(path, name)
		refs, err := refexpr.FindReferences(v)
		if err != nil {
			ps.Add(paramPath, "%s", err)
			ok = false
		}
		for _, ref := range refs {
			if !slices.Contains(UndoReferenceKinds, ref.Kind) {
				ps.Add(paramPath, "reference %s: an undo can read only †%s", ref,
					strings.Join(UndoReferenceKinds, ", †"))
				ok = false
			}
		}
	}
	return ok
}

// EffectiveUndo is how a Call of the Tool, run by a binding, can be undone: as the file says, or else as the Go
// function says. A pure function, or a Tool that nothing runs for, leaves nothing to undo. A delegate's Call is undone
// by undoing its process. If the Tool has an undo of its own, only that one is used.
func (t *Tool) EffectiveUndo(b ToolBinding) UndoMethod {
	switch {
	case t.Undo != nil:
		return *t.Undo
	case b.Undo != nil:
		return *b.Undo
	case t.DelegateFile != "":
		return UndoMethod{Kind: UndoByProcess}
	case b.IsPureFunction || b.Kind == KindLatent:
		return UndoMethod{Kind: UndoNotNeeded}
	}
	return UndoMethod{Kind: UndoImpossible}
}
