package dataflow

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// requestAdaptation asks the LLM to adapt the parameters of a ready Call that do not fit its Tool, and reports whether
// it asked. Only values that References brought are adapted, and only once; a literal that does not fit is the LLM's
// own mistake. The parameters of a Call that undoes another are never adapted.
func (i *Instance) requestAdaptation(rec *CallRecord, tool *ideafile.Tool, params jsonval.Object, why error) bool {
	if !i.palette.AdaptValuesWithLLM || rec.ParamsAdaptation != nil || i.llmForbidden() || rec.Key().IsUndo() ||
		checkLiterals(tool, rec.Params) != nil {
		return false
	}
	names := paramsToAdapt(tool, rec.Params, params)
	if len(names) == 0 {
		return false
	}
	rec.ParamsAdaptation = &approval.ParamsAdaptation{Reason: why.Error(), OriginalParams: jsonval.Object{}}
	for _, k := range names {
		rec.ParamsAdaptation.OriginalParams[k] = params[k]
	}
	rec.moveTo(adapting)
	return true
}

// llmForbidden reports whether the LLM may not be asked about the instance, as its Plan is declared complete.
func (i *Instance) llmForbidden() bool {
	at, noneMatches := ideafile.FindDirectPlans(i.contextMessages).ChooseForInstance(i.token, i.contextView)
	return noneMatches || (at >= 0 && i.contextMessages[at].PlanStage == ideafile.StageComplete)
}

// paramsToAdapt lists the parameters to adapt, among those with References: the ones that do not fit by themselves or,
// if each fits but together they do not, all of them. The activity checks values in the blob store.
func paramsToAdapt(t *ideafile.Tool, raw, params jsonval.Object) []string {
	var referencing, unfit []string
	for k, v := range jsonval.Sorted(raw) {
		if refs, err := refexpr.FindReferences(v); err != nil || len(refs) == 0 ||
			jsonval.ContainsBlobHandle(params[k]) {
			continue
		}
		referencing = append(referencing, k)
		if t.SchemaByParam[k].Validate(params[k]) != nil {
			unfit = append(unfit, k)
		}
	}
	if unfit == nil && t.ParamsSchema.Validate(params) != nil {
		return referencing
	}
	return unfit
}

// checkLiterals returns how a literal part of a parameter does not fit the Tool's schema.
func checkLiterals(t *ideafile.Tool, raw jsonval.Object) error {
	for k, v := range jsonval.Sorted(raw) {
		if err := checkLiteral(t, jsonval.Path{k}, v); err != nil {
			return err
		}
	}
	return nil
}

func checkLiteral(t *ideafile.Tool, at jsonval.Path, v any) error {
	if parsed, err := refexpr.Parse(v); err != nil || len(parsed.Expressions) == 0 {
		form := t.ParamsSchemaSource()
		place := jsonschema.SubschemaAt(form, at)
		if err != nil || !place.IsDescribed || jsonval.ContainsBlobHandle(v) {
			return err
		}
		literal, _ := parsed.Resolve(nil)
		schema, err := jsonschema.CompileAt(form, place.Pointer)
		if err != nil {
			return err
		}
		return schema.Validate(literal)
	}
	for step, held := range jsonval.Members(v) {
		if err := checkLiteral(t, slices.Concat(at, jsonval.Path{step}), held); err != nil {
			return err
		}
	}
	return nil
}

// ApplyAdaptedParams applies the parameters that the LLM adapted. It fails the Call where a required one is missing or
// a literal part was changed, and ignores parameters that were not asked for.
func (i *Instance) ApplyAdaptedParams(id string, params jsonval.Object) {
	rec := i.FindCall(id)
	if rec == nil || rec.phase != adapting {
		return
	}
	to := jsonval.Object{}
	for k := range jsonval.Sorted(rec.ParamsAdaptation.OriginalParams) {
		v, present := params[k]
		switch {
		case present && !literalsUnchanged(rec.Params[k], v):
			rec.fail(ideafile.CodeBadParams,
				"parameter %q: fitting it to the schema changed what was written literally", k)
			return
		case !present && ideafile.FindTool(i.palette.Tools, rec.Tool).RequiresParam(k):
			rec.fail(ideafile.CodeBadParams,
				"parameter %q is missing among those that were fitted to the schema", k)
			return
		case present:
			to[k] = v
		}
	}
	rec.ParamsAdaptation.AdaptedParams = to
	rec.moveTo(adapted)
}

// literalsUnchanged reports whether an adapted value still has every literal that the raw value has beside its
// References.
func literalsUnchanged(raw, fitted any) bool {
	if p, err := refexpr.Parse(raw); err != nil || len(p.Expressions) == 0 {
		literal, _ := p.Resolve(nil)
		return err == nil && jsonval.Equal(literal, fitted)
	}
	if jsonval.TypeOf(raw) == "string" {
		return true // a Reference: its value was adapted
	}
	list, isList := raw.([]any)
	fittedList := jsonval.AsList(fitted)
	if jsonval.TypeOf(raw) != jsonval.TypeOf(fitted) || isList && len(list) != len(fittedList) {
		return false
	}
	for step, held := range jsonval.Members(raw) {
		if in, _ := jsonval.ChildValue(fitted, step); !literalsUnchanged(held, in) {
			return false
		}
	}
	return true
}

// LLMQuestions lists what the LLM must be asked: results of latent Calls, and parameters to adapt.
func (i *Instance) LLMQuestions() []turn.LLMQuestion {
	var list []turn.LLMQuestion
	for _, rec := range i.CallsAwaitingLLM() {
		q := turn.LLMQuestion{CallID: rec.ID, Token: i.token, Tool: rec.Tool, Reasoning: rec.Reasoning}
		var err error
		if rec.phase == adapting {
			q.Params, q.ParamsError = rec.ParamsAdaptation.OriginalParams, rec.ParamsAdaptation.Reason
		} else {
			q.Params, err = i.ResolvedParams(rec)
		}
		if err == nil {
			list = append(list, q)
		}
	}
	return list
}
