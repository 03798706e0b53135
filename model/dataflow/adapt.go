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
func (i *Instance) requestAdaptation(rec *CallRecord, tool *ideafile.Tool, params jsonval.Object, cause error) bool {
	if !i.palette.AdaptValuesWithLLM || rec.ParamsAdaptation != nil || i.isLLMForbidden() || rec.Key().IsUndo() ||
		checkLiterals(tool, rec.Params) != nil {
		return false
	}
	paramNames := paramsToAdapt(tool, rec.Params, params)
	if len(paramNames) == 0 {
		return false
	}
	rec.ParamsAdaptation = &approval.ParamsAdaptation{MisfitReason: cause.Error(), OriginalParams: jsonval.Object{}}
	for _, k := range paramNames {
		rec.ParamsAdaptation.OriginalParams[k] = params[k]
	}
	rec.setPhase(phaseAdapting)
	return true
}

// isLLMForbidden reports whether the LLM may not be asked about the instance, as its Plan is declared complete.
func (i *Instance) isLLMForbidden() bool {
	planIndex, noPlanMatches := ideafile.FindDirectPlans(i.contextMessages).ChooseForInstance(i.token, i.contextView)
	return noPlanMatches || (planIndex >= 0 && i.contextMessages[planIndex].PlanStage == ideafile.PlanStageComplete)
}

// paramsToAdapt lists the parameters to adapt, among those with References: the ones that do not fit by themselves or,
// if each fits but together they do not, all of them. The activity checks values in the blob store.
func paramsToAdapt(t *ideafile.Tool, rawParams, params jsonval.Object) []string {
	var referencingParamNames, invalidParamNames []string
	for k, v := range jsonval.Sorted(rawParams) {
		if refs, err := refexpr.FindReferences(v); err != nil || len(refs) == 0 ||
			jsonval.ContainsBlobHandle(params[k]) {
			continue
		}
		referencingParamNames = append(referencingParamNames, k)
		if t.SchemaByParam[k].Validate(params[k]) != nil {
			invalidParamNames = append(invalidParamNames, k)
		}
	}
	if invalidParamNames == nil && t.ParamsSchema.Validate(params) != nil {
		return referencingParamNames
	}
	return invalidParamNames
}

// checkLiterals returns how a literal part of a parameter does not fit the Tool's schema.
func checkLiterals(t *ideafile.Tool, rawParams jsonval.Object) error {
	for k, v := range jsonval.Sorted(rawParams) {
		if err := checkLiteral(t, jsonval.Path{k}, v); err != nil {
			return err
		}
	}
	return nil
}

func checkLiteral(t *ideafile.Tool, path jsonval.Path, v any) error {
	if parsed, err := refexpr.Parse(v); err != nil || len(parsed.Expressions) == 0 {
		schemaSource := t.ParamsSchemaSource()
		subschema := jsonschema.SubschemaAt(schemaSource, path)
		if err != nil || !subschema.IsDescribed || jsonval.ContainsBlobHandle(v) {
			return err
		}
		literal, _ := parsed.Resolve(nil)
		schema, err := jsonschema.CompileAt(schemaSource, subschema.Pointer)
		if err != nil {
			return err
		}
		return schema.Validate(literal)
	}
	for step, member := range jsonval.Members(v) {
		if err := checkLiteral(t, slices.Concat(path, jsonval.Path{step}), member); err != nil {
			return err
		}
	}
	return nil
}

// ApplyAdaptedParams applies the parameters that the LLM adapted. It fails the Call where a required one is missing or
// a literal part was changed, and ignores parameters that were not asked for.
func (i *Instance) ApplyAdaptedParams(callID string, params jsonval.Object) {
	rec := i.FindCall(callID)
	if rec == nil || rec.phase != phaseAdapting {
		return
	}
	adaptedParams := jsonval.Object{}
	for k := range jsonval.Sorted(rec.ParamsAdaptation.OriginalParams) {
		v, exists := params[k]
		switch {
		case exists && !areLiteralsUnchanged(rec.Params[k], v):
			rec.fail(ideafile.CodeBadParams,
				"parameter %q: fitting it to the schema changed what was written literally", k)
			return
		case !exists && ideafile.FindTool(i.palette.Tools, rec.Tool).RequiresParam(k):
			rec.fail(ideafile.CodeBadParams,
				"parameter %q is missing among those that were fitted to the schema", k)
			return
		case exists:
			adaptedParams[k] = v
		}
	}
	rec.ParamsAdaptation.AdaptedParams = adaptedParams
	rec.setPhase(phaseAdapted)
}

// areLiteralsUnchanged reports whether an adapted value still has every literal that the raw value has beside its
// References.
func areLiteralsUnchanged(rawValue, adaptedValue any) bool {
	if p, err := refexpr.Parse(rawValue); err != nil || len(p.Expressions) == 0 {
		literal, _ := p.Resolve(nil)
		return err == nil && jsonval.Equal(literal, adaptedValue)
	}
	if jsonval.TypeOf(rawValue) == "string" {
		return true // a Reference: its value was adapted
	}
	rawList, isList := rawValue.([]any)
	adaptedList := jsonval.AsList(adaptedValue)
	if jsonval.TypeOf(rawValue) != jsonval.TypeOf(adaptedValue) || isList && len(rawList) != len(adaptedList) {
		return false
	}
	for step, member := range jsonval.Members(rawValue) {
		if adaptedMember, _ := jsonval.ChildValue(adaptedValue, step); !areLiteralsUnchanged(member, adaptedMember) {
			return false
		}
	}
	return true
}

// QuestionsToLLM lists what the LLM must be asked: results of latent Calls, and parameters to adapt.
func (i *Instance) QuestionsToLLM() []turn.QuestionToLLM {
	var list []turn.QuestionToLLM
	for _, rec := range i.CallsAwaitingLLM() {
		q := turn.QuestionToLLM{CallID: rec.ID, InstanceToken: i.token, Tool: rec.Tool, Reasoning: rec.Reasoning}
		var err error
		if rec.phase == phaseAdapting {
			q.Params, q.ParamsError = rec.ParamsAdaptation.OriginalParams, rec.ParamsAdaptation.MisfitReason
		} else {
			q.Params, err = i.ResolvedParams(rec)
		}
		if err == nil {
			list = append(list, q)
		}
	}
	return list
}
