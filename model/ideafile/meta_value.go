package ideafile

import (
	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// MetaValue is what a Tool says about a meta property of its Calls: nothing, a value that the designer fixed, or a schema within
// which the LLM chooses.
type MetaValue struct {
	Declared bool
	// Fixed counts if Declared and Schema is nil.
	Fixed  any
	Schema *jsonschema.Schema
}

func readMetaValue(source map[string]any, key, path string, ps *diag.Problems, check func(any) error) MetaValue {
	v := source[key]
	if v == nil {
		return MetaValue{}
	}
	at := jsonval.JSONPathKey(path, key)
	if schema, ok := v.(map[string]any); ok {
		return MetaValue{Declared: true, Schema: compileSchema(schema, at, ps)}
	}
	if err := check(v); err != nil {
		ps.Add(at, "%s", err)
	}
	return MetaValue{Declared: true, Fixed: v}
}

// resolve returns the value that counts for a Call; chosen is the LLM's. An undeclared meta property may be chosen freely if
// allowUndeclared, and not at all otherwise.
func (v MetaValue) resolve(name string, chosen any, allowUndeclared bool) (any, *diag.Fault) {
	switch {
	case !v.Declared && (allowUndeclared || chosen == nil):
		return chosen, nil
	case !v.Declared:
		return nil, diag.Faultf(CodeUnknownKey, "the tool declares no %s", name)
	case v.Schema == nil:
		if chosen != nil && !jsonval.Equal(chosen, v.Fixed) {
			return nil, diag.Faultf(CodeUnknownKey, "%s is fixed by the tool's designer", name)
		}
		return v.Fixed, nil
	case chosen == nil:
		return nil, nil
	}
	if err := v.Schema.Validate(chosen); err != nil {
		return nil, diag.Faultf(CodeBadForm, "%s: %s", name, err)
	}
	return chosen, nil
}
