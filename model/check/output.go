package check

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkOutputForm reports where the output of a Plan cannot fit the output form, whatever its References bring.
func (c *checker) checkOutputForm(output any, path string) {
	if output == nil || c.idea.OutputSchema == nil {
		return
	}
	f := outputFormChecker{c, c.idea.OutputSchema.Source}
	f.checkValue(output, nil, path)
}

type outputFormChecker struct {
	*checker
	outputForm any
}

func (f outputFormChecker) checkValue(v any, at jsonval.Path, path string) {
	place := jsonschema.SubschemaAt(f.outputForm, at)
	if place.IsForbidden {
		f.addError(path, "the output form allows nothing here%s", f.suggestProperty(at))
		return
	}
	if !place.IsDescribed {
		return
	}
	if parsed, err := refexpr.Parse(v); err == nil && len(parsed.Expressions) == 0 {
		literal, _ := parsed.Resolve(nil) // without References it only turns a double dagger into one
		if reason := schemaMismatchReason(f.outputForm, place, literal); reason != "" {
			f.addError(path, "it does not fit the output form: %s", reason)
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		f.checkObject(v, at, path)
	case []any:
		if types := jsonschema.TypesAt(f.outputForm, at); types != nil && !slices.Contains(types, "array") {
			f.addError(path, "the output form wants %s here, not a list", jsonschema.JoinWithOr(types))
		}
	}
}

func (f outputFormChecker) checkObject(v map[string]any, at jsonval.Path, path string) {
	if types := jsonschema.TypesAt(f.outputForm, at); types != nil && !slices.Contains(types, "object") {
		f.addError(path, "the output form wants %s here, not an object", jsonschema.JoinWithOr(types))
		return
	}
	for _, name := range jsonschema.Required(jsonschema.SubschemaAt(f.outputForm, at).Node) {
		if _, ok := v[name]; !ok {
			f.addError(path, "the output form requires %q, and it is missing", jsonval.Short(name))
		}
	}
	for k, value := range jsonval.Sorted(v) {
		f.checkValue(value, append(at[:len(at):len(at)], k), jsonval.JSONPathWithKey(path, k))
	}
}

// suggestProperty proposes the property of the form that was meant.
func (f outputFormChecker) suggestProperty(at jsonval.Path) string {
	if len(at) == 0 {
		return ""
	}
	above := jsonschema.SubschemaAt(f.outputForm, at[:len(at)-1])
	return diag.DidYouMean(at[len(at)-1], jsonval.SortedKeys(jsonschema.Properties(above.Node)))
}
