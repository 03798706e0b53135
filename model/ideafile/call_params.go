package ideafile

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// readCallParams returns a Call's parameters, with the wired ones added and the absent ones dropped.
func (t *Tool) readCallParams(rawCall jsonval.Object) (jsonval.Object, *diag.Fault) {
	params := jsonval.Object{}
	for k, value := range jsonval.Sorted(rawCall) {
		if strings.HasPrefix(k, "_") || t.IsOutputPathAlias(k, value) {
			continue
		}
		v, isPresent, f := t.ReadParam(k, value)
		if f != nil {
			return nil, f
		}
		if isPresent {
			params[k] = v
		}
	}
	for k, wiredExpression := range jsonval.Sorted(t.WiredExpressionByParam) {
		params[k] = wiredExpression
	}
	return params, t.checkRequiredParams(params)
}

// ReadParam reads one parameter. A value with References or handles is not validated here: that is done when it is
// resolved.
func (t *Tool) ReadParam(name string, v any) (value any, isPresent bool, f *diag.Fault) {
	if wiredExpression, ok := t.WiredExpressionByParam[name]; ok {
		if v != nil && v != wiredExpression {
			return nil, false, diag.Faultf(CodeBadParams, "parameter %q is wired by the tool's designer", name)
		}
		return wiredExpression, true, nil
	}
	schema, isDeclared := t.SchemaByParam[name]
	if !isDeclared && !t.AllowsExtraParams {
		if v == nil {
			return nil, false, nil
		}
		return nil, false, diag.Faultf(CodeBadParams, "tool %q has no parameter %q", t.Name, jsonval.ClipForError(name))
	}
	if t.isParamOmitted(name, v) {
		return nil, false, nil
	}
	v = jsonschema.WithoutNulls(t.Source, jsonval.Path{name}, v)
	parsed, err := refexpr.Parse(v)
	if err != nil {
		return nil, false, diag.Faultf(CodeBadReference, "parameter %q: %s", name, err)
	}
	if len(parsed.Expressions) > 0 || jsonval.ContainsBlobHandle(v) {
		return v, true, nil
	}
	literal, _ := parsed.Resolve(nil) // without References it only turns †† into †
	if err := schema.Validate(literal); err != nil {
		return nil, false, diag.Faultf(CodeBadParams, "parameter %q: %s", name, err)
	}
	return v, true, nil
}

// isParamOmitted reports whether a parameter counts as absent: in strict mode the LLM writes null for a parameter that
// it omits.
func (t *Tool) isParamOmitted(name string, v any) bool {
	return v == nil && !t.RequiresParam(name) && !t.SchemaByParam[name].AllowsNull()
}

// WithoutNullParams drops absent parameters, and the nulls within the others that mark absent properties.
func (t *Tool) WithoutNullParams(params jsonval.Object) jsonval.Object {
	if t == nil {
		return params
	}
	out := jsonval.Object{}
	for k, v := range jsonval.Sorted(params) {
		if !t.isParamOmitted(k, v) {
			out[k] = jsonschema.WithoutNulls(t.Source, jsonval.Path{k}, v)
		}
	}
	return out
}

// RequiresParam reports whether a parameter is required.
func (t *Tool) RequiresParam(name string) bool {
	return slices.Contains(jsonschema.Required(t.Source), name)
}

func (t *Tool) checkRequiredParams(params jsonval.Object) *diag.Fault {
	for _, name := range jsonschema.Required(t.Source) {
		if _, ok := params[name]; !ok {
			return diag.Faultf(CodeBadParams, "parameter %q is missing", name)
		}
	}
	return nil
}

// ValidateParams validates resolved parameters. A parameter that holds a handle is validated later, by the activity
// that has the value.
func (t *Tool) ValidateParams(params jsonval.Object) error {
	if !jsonval.ContainsBlobHandle(params) {
		return t.ParamsSchema.Validate(params)
	}
	for k, v := range jsonval.Sorted(params) {
		schema := t.SchemaByParam[k]
		if schema == nil || jsonval.ContainsBlobHandle(v) {
			continue
		}
		if err := schema.Validate(v); err != nil {
			return fmt.Errorf("parameter %q: %w", k, err)
		}
	}
	return nil
}
