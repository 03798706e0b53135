package check

import (
	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkFitsOutputSchema reports where the output of a Plan cannot fit its schema, whatever its References resolve to.
func (c *checker) checkFitsOutputSchema(output any, path string) {
	if output == nil || c.idea.OutputSchema == nil {
		return
	}
	f := outputSchemaChecker{c, c.idea.OutputSchema.Source}
	f.checkValue(output, nil, path)
}

type outputSchemaChecker struct {
	*checker
	outputSchema any
}

func (f outputSchemaChecker) checkValue(v any, valuePath jsonval.Path, path string) {
	subschema := jsonschema.SubschemaAt(f.outputSchema, valuePath)
	if subschema.IsForbidden {
		f.addError(path, "the output form allows nothing here%s", f.suggestProperty(valuePath))
		return
	}
	if !subschema.IsDescribed {
		return
	}
	if parsed, err := refexpr.Parse(v); err == nil && len(parsed.Expressions) == 0 {
		literal, _ := parsed.Resolve(nil) // without References it only turns a double dagger into one
		if reason := schemaMismatchReason(f.outputSchema, subschema, literal); reason != "" {
			f.addError(path, "it does not fit the output form: %s", reason)
		}
		return
	}
	valueType, wantedTypes := jsonval.TypeOf(v), jsonschema.TypesAt(f.outputSchema, valuePath)
	typeText := map[string]string{"array": "a list", "object": "an object"}[valueType]
	if typeText != "" && jsonschema.CompareTypes([]string{valueType}, wantedTypes) == jsonschema.FitsNever {
		f.addError(path, "the output form wants %s here, not %s", jsonschema.JoinWithOr(wantedTypes), typeText)
	} else if object, ok := v.(jsonval.Object); ok {
		f.checkObject(object, valuePath, path)
	}
}

func (f outputSchemaChecker) checkObject(v jsonval.Object, valuePath jsonval.Path, path string) {
	for _, name := range jsonschema.Required(jsonschema.SubschemaAt(f.outputSchema, valuePath).Node) {
		if _, ok := v[name]; !ok {
			f.addError(path, "the output form requires %q, and it is missing", jsonval.ClipForError(name))
		}
	}
	for k, value := range jsonval.Sorted(v) {
		f.checkValue(value, valuePath.WithStep(k), jsonval.JSONPathWithKey(path, k))
	}
}

// suggestProperty proposes the property of the form that was meant.
func (f outputSchemaChecker) suggestProperty(valuePath jsonval.Path) string {
	if len(valuePath) == 0 {
		return ""
	}
	parent := jsonschema.SubschemaAt(f.outputSchema, valuePath[:len(valuePath)-1])
	return diag.DidYouMean(valuePath[len(valuePath)-1], jsonval.SortedKeys(jsonschema.Properties(parent.Node)))
}
