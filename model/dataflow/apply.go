package dataflow

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// Landing gives what the result of a Call must fit, and which branches it may take; nil where nothing is said.
func (r *Instance) ResultContract(rec *Record) *statelog.ResultContract {
	if len(rec.OutputPath) == 0 || r.schema == nil && !rec.OutputPath.HasBranches() {
		return nil
	}
	return &statelog.ResultContract{Schema: r.schema, Path: rec.OutputPath, Method: rec.OutputMethod}
}

// land writes a result into State at the paths of the branch it takes, or keeps it on its record where the Call has no
// output path. It is written everywhere or nowhere; where one of several paths is closed, at the others.
func (r *Instance) applyResult(rec *Record, value any) *diag.Fault {
	handed, f := r.handed(rec)
	if f != nil {
		return f
	}
	if len(rec.OutputPath) == 0 {
		rec.Result = value
		r.putHanded(handed)
		return nil
	}
	var writes []statelog.Write
	for _, p := range rec.OutputPath[max(rec.Branch, 1)-1] {
		if _, closed := r.state.Closed(p); closed && len(rec.OutputPath.Paths()) > 1 && !rec.update() {
			continue
		}
		w, f := r.writeOf(rec, p, value)
		if f != nil {
			return f
		}
		writes = append(writes, w)
	}
	for _, w := range writes {
		r.state.Apply(w)
		r.unreported = append(r.unreported, w)
	}
	r.putHanded(handed)
	return nil
}

// writeOf is what a result changes at one path, or why it cannot.
func (r *Instance) writeOf(rec *Record, p jsonval.Path, value any) (statelog.Write, *diag.Fault) {
	w := statelog.Write{Path: p, Method: rec.OutputMethod, Value: value, By: rec.writer(), Request: rec.Request, Index: rec.Index, At: r.now}
	if _, stored := jsonval.AsHandle(value); len(p) == 0 && (stored || jsonval.TypeOf(value) != "object") {
		return w, diag.Faultf(ideafile.CodeBadOutput, "the whole State takes an object, not %s", typeOfStored(value))
	}
	old, _ := jsonval.Lookup(r.state.Before(rec.Request, rec.Index, p).Current, p)
	if f := canCombine(w.Method, old, value); f != nil {
		return w, f
	}
	if l := r.ResultContract(rec); l != nil && !jsonval.HasHandle(value) && (w.Method == "" || !jsonval.HasHandle(old)) {
		if err := l.CheckAt(p, old, value); err != nil {
			return w, diag.Faultf(ideafile.CodeBadOutput, "%s", err)
		}
	}
	if len(p) == 0 && w.Method == "" {
		w.Value = r.state.WithoutWritten(w.Value)
	}
	return w, nil
}

// canCombine refuses updates that would have to look into a stored value.
func canCombine(method string, old, value any) *diag.Fault {
	_, storedOld := jsonval.AsHandle(old)
	_, storedNew := jsonval.AsHandle(value)
	if method != "" && (storedOld || storedNew && old != nil && method != statelog.MethodPush) {
		return diag.Faultf(ideafile.CodeBadOutput, "%s", notYet("updates of values over 64 KB"))
	}
	o, _ := old.(map[string]any)
	v, _ := value.(map[string]any)
	for _, k := range jsonval.SortedKeys(v) {
		if below, ok := o[k]; ok && method == statelog.MethodMerge {
			if f := canCombine(method, below, v[k]); f != nil {
				return f
			}
		}
	}
	return nil
}

// typeOfStored is TypeOf that tells a stored value apart.
func typeOfStored(v any) string {
	if h, ok := jsonval.AsHandle(v); ok {
		return fmt.Sprintf("one %s of %d bytes that is stored as a whole", h.Type, h.Size)
	}
	return jsonval.TypeOf(v)
}

// MissingRequired lists the properties that the State schema requires and State does not have.
func (r *Instance) MissingRequired() []string { return statelog.MissingRequired(r.schema, r.state.Current) }
