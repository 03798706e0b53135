package ideafile

import (
	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// MetaProperty is a Tool's declaration of a meta property of its Calls: none, a value that the designer fixed, or a
// schema within which the LLM chooses.
type MetaProperty struct {
	IsDeclared bool
	// FixedValue counts if IsDeclared and Schema is nil.
	FixedValue any
	Schema     *jsonschema.Schema
}

func readMetaProperty(source jsonval.Object, key, path string, ps *diag.Problems, check func(any) error) MetaProperty {
	v := source[key]
	if v == nil {
		return MetaProperty{}
	}
	keyPath := jsonval.JSONPathWithKey(path, key)
	if schema, ok := v.(jsonval.Object); ok {
		return MetaProperty{IsDeclared: true, Schema: jsonschema.CompileReportingProblems(schema, keyPath, ps)}
	}
	if err := check(v); err != nil {
		ps.Add(keyPath, "%s", err)
	}
	return MetaProperty{IsDeclared: true, FixedValue: v}
}

// resolveLLMChoice returns the value that counts for a Call; llmValue is the LLM's. An undeclared meta property may be
// chosen freely if allowUndeclared, and not at all otherwise.
func (v MetaProperty) resolveLLMChoice(name string, llmValue any, allowUndeclared bool) (any, *diag.Fault) {
	switch {
	case !v.IsDeclared && (allowUndeclared || llmValue == nil):
		return llmValue, nil
	case !v.IsDeclared:
		return nil, diag.Faultf(CodeUnknownKey, "the tool declares no %s", name)
	case v.Schema == nil:
		if llmValue != nil && !jsonval.Equal(llmValue, v.FixedValue) {
			return nil, diag.Faultf(CodeUnknownKey, "%s is fixed by the tool's designer", name)
		}
		return v.FixedValue, nil
	case llmValue == nil:
		return nil, nil
	}
	if err := v.Schema.Validate(llmValue); err != nil {
		return nil, diag.Faultf(CodeBadForm, "%s: %s", name, err)
	}
	return llmValue, nil
}
