package check

import (
	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkOutputForm reports where the output of a Plan cannot fit its schema, whatever its References resolve to.
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
	is, wanted := jsonval.TypeOf(v), jsonschema.TypesAt(f.outputForm, at)
	kindName := map[string]string{"array": "a list", "object": "an object"}[is]
	if kindName != "" && jsonschema.CompareTypes([]string{is}, wanted) == jsonschema.FitsNever {
		f.addError(path, "the output form wants %s here, not %s", jsonschema.JoinWithOr(wanted), kindName)
	} else if object, ok := v.(jsonval.Object); ok {
		f.checkObject(object, at, path)
	}
}

func (f outputFormChecker) checkObject(v jsonval.Object, at jsonval.Path, path string) {
	for _, name := range jsonschema.Required(jsonschema.SubschemaAt(f.outputForm, at).Node) {
		if _, ok := v[name]; !ok {
			f.addError(path, "the output form requires %q, and it is missing", jsonval.ClipForError(name))
		}
	}
	for k, value := range jsonval.Sorted(v) {
		f.checkValue(value, at.With(k), jsonval.JSONPathWithKey(path, k))
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
