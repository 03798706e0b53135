package dataflow

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// This file holds the rules of adapting: where the values that References brought do not fit a Tool's schema, the LLM is
// asked to fit them, and nothing else of the Call.

// adapts asks the LLM to fit the parameters of a Call that is ready and does not fit its Tool. It gives false where that is
// no use or not allowed: a literal that does not fit, an answer that still does not, nobody to ask.
func (r *Instance) adapts(rec *Record, tool *ideafile.Tool, params map[string]any, why error) bool {
	if !r.palette.Adapt || rec.Adapted != nil || r.alone() || literalsFit(tool, rec.Params) != nil {
		return false
	}
	names := unfit(tool, rec.Params, params)
	if len(names) == 0 {
		return false
	}
	rec.Adapted = &turn.Adaptation{Reason: why.Error(), From: map[string]any{}}
	for _, k := range names {
		rec.Adapted.From[k] = params[k]
	}
	rec.to(fitting)
	return true
}

// alone says whether nobody may be asked about the instance: its Plan is complete.
func (r *Instance) alone() bool {
	at, barred := ideafile.FindDirectPlans(r.context).Choose(r.token, r.view)
	return barred || at >= 0 && r.context[at].Stage == ideafile.StageComplete
}

// unfit lists the parameters to be fitted: of those that References brought, those that do not fit by themselves, or all
// where each does and together they do not. What holds a handle is checked, and refused, by the activity.
func unfit(t *ideafile.Tool, raw, params map[string]any) []string {
	var brought, unfit []string
	for _, k := range jsonval.SortedKeys(raw) {
		if refs, err := refexpr.References(raw[k]); err != nil || len(refs) == 0 || jsonval.HasHandle(params[k]) {
			continue
		}
		brought = append(brought, k)
		if schema := t.SchemaByParam[k]; schema != nil && schema.Validate(params[k]) != nil {
			unfit = append(unfit, k)
		}
	}
	if unfit == nil && t.ParamsSchema.Validate(params) != nil {
		return brought
	}
	return unfit
}

// literalsFit says how what is written literally beside References, within one parameter, does not fit.
func literalsFit(t *ideafile.Tool, raw map[string]any) error {
	for _, k := range jsonval.SortedKeys(raw) {
		if err := literalFits(t, jsonval.Path{k}, raw[k]); err != nil {
			return err
		}
	}
	return nil
}

func literalFits(t *ideafile.Tool, at jsonval.Path, v any) error {
	if refs, err := refexpr.References(v); err != nil || len(refs) == 0 {
		form := t.ParamsSchemaSource()
		p := jsonschema.PlaceOf(form, at)
		if !p.Known || jsonval.HasHandle(v) {
			return nil
		}
		literal, err := refexpr.Resolve(v, nil)
		if err != nil {
			return err
		}
		schema, err := jsonschema.CompileAt(form, p.Pointer)
		if err != nil {
			return err
		}
		return schema.Validate(literal)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			if err := literalFits(t, slices.Concat(at, jsonval.Path{k}), v[k]); err != nil {
				return err
			}
		}
	case []any:
		for n, e := range v {
			if err := literalFits(t, slices.Concat(at, jsonval.Path{fmt.Sprint(n)}), e); err != nil {
				return err
			}
		}
	}
	return nil
}

// ApplyAdaptedParams takes the parameters that the LLM fitted. Those that it was not asked for, and what was written literally, stay as
// they were: an answer that changes them is no answer.
func (r *Instance) ApplyAdaptedParams(id string, params map[string]any) {
	rec := r.FindCall(id)
	if rec == nil || rec.phase != fitting {
		return
	}
	for _, k := range jsonval.SortedKeys(rec.Adapted.From) {
		v, given := params[k]
		if given && !keepsLiterals(rec.Params[k], v) {
			rec.end(ideafile.Failed, diag.Faultf(ideafile.CodeBadParams, "parameter %q: fitting it to the schema changed what was written literally", k))
			return
		}
		if !given && ideafile.FindTool(r.palette.Tools, rec.Tool).Requires(k) {
			rec.end(ideafile.Failed, diag.Faultf(ideafile.CodeBadParams, "parameter %q is missing among those that were fitted to the schema", k))
			return
		}
	}
	rec.Adapted.To = map[string]any{}
	for _, k := range jsonval.SortedKeys(rec.Adapted.From) {
		if v, given := params[k]; given {
			rec.Adapted.To[k] = v
		}
	}
	rec.to(fitted)
}

// keepsLiterals says whether a fitted value holds all that was written literally beside References.
func keepsLiterals(raw, fitted any) bool {
	if refs, err := refexpr.References(raw); err != nil || len(refs) == 0 {
		literal, err := refexpr.Resolve(raw, nil)
		return err == nil && jsonval.Equal(literal, fitted)
	}
	switch raw := raw.(type) {
	case map[string]any:
		m, ok := fitted.(map[string]any)
		for _, k := range jsonval.SortedKeys(raw) {
			ok = ok && keepsLiterals(raw[k], m[k])
		}
		return ok
	case []any:
		list, ok := fitted.([]any)
		if !ok || len(list) != len(raw) {
			return false
		}
		for n := range raw {
			ok = ok && keepsLiterals(raw[n], list[n])
		}
		return ok
	}
	return true // a Reference: its value is what was fitted
}

// asked is the Call as the process is told of it: for its result, or to fit parameters.
func (r *Instance) asked(rec *Record) (turn.Question, bool) {
	a := turn.Question{ID: rec.ID, Token: r.token, Tool: rec.Tool}
	if rec.phase == fitting {
		a.Params, a.ParamsError = rec.Adapted.From, rec.Adapted.Reason
		return a, true
	}
	var err error
	a.Params, err = r.ResolvedParams(rec)
	return a, err == nil
}

// Questions lists what the LLM is to be asked by itself: the results of latent Calls, and values to be fitted.
func (r *Instance) Questions() []turn.Question {
	var list []turn.Question
	for _, rec := range r.AwaitingLLM() {
		if a, ok := r.asked(rec); ok {
			list = append(list, a)
		}
	}
	return list
}
