package tools

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// CheckTool reports parameters of a Tool that its Go function would refuse, and parameters that the function wants and
// the Tool lacks. A Tool that names no parameters leaves them to the function.
func (r *Registry) CheckTool(t *ideafile.Tool, spec any) (ps diag.Problems) {
	name, _ := spec.(string)
	f, ok := r.Lookup(name)
	if !ok || t.AllowsExtraParams {
		return nil
	}
	schema, _ := jsonval.Decode(f.ParametersSchema) // encoded by Register, so it never fails
	props := jsonval.AsObject(jsonval.Lookup(schema, "properties"))
	for _, p := range jsonval.SortedKeys(t.SchemaByParam) {
		jsonPath, isKnown := jsonval.JSONPathWithKey(".properties", p), props[p] != nil
		if !isKnown && f.paramsSchema.AdditionalProperties != nil && f.paramsSchema.AdditionalProperties.Not != nil {
			ps.Add(jsonPath, "the Go function %s takes no parameter %q%s", name, jsonval.ClipForError(p),
				diag.DidYouMeanOrListNames(p, jsonval.SortedKeys(props)))
			continue
		}
		givenTypes, wantedTypes := jsonschema.TypesAt(t.ParamsSchemaSource(), jsonval.Path{p}),
			jsonschema.TypesAt(schema, jsonval.Path{p})
		if jsonschema.CompareTypes(givenTypes, wantedTypes) == jsonschema.FitsNever {
			ps.Add(jsonPath, "the Go function %s wants %s here, not %s", name, jsonschema.JoinWithOr(wantedTypes),
				jsonschema.JoinWithOr(givenTypes))
		}
	}
	for _, p := range f.paramsSchema.Required {
		if _, isDeclared := t.SchemaByParam[p]; !isDeclared {
			ps.Add(".properties", "the Go function %s wants a parameter %q, but the tool has none", name, p)
		} else if !t.RequiresParam(p) {
			ps.Warn(".required", "the Go function %s wants the parameter %q in every Call: name it here", name, p)
		}
	}
	return ps
}
