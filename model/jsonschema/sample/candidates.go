package sample

import (
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// candidates collects different values that fit.
type candidates struct {
	wantedCount int
	isValid     func(any) bool
	values      []any
	nullValues  []any // null comes last, unless the schema names it
}

func (p *candidates) isFull() bool { return len(p.values) >= p.wantedCount }

func (p *candidates) wantedValues() []any {
	all := append(p.values, p.nullValues...)
	return all[:min(p.wantedCount, len(all))]
}

// addFromSchema adds values that the schema itself names.
func (p *candidates) addFromSchema(values ...any) {
	for _, v := range values {
		if !p.isFull() && !jsonval.ContainsValue(p.values, v) && p.isValid(v) {
			p.values = append(p.values, v)
		}
	}
}

// addGenerated adds values that were made up.
func (p *candidates) addGenerated(values []any) {
	for _, v := range values {
		if v != nil {
			p.addFromSchema(v)
		} else if len(p.nullValues) == 0 && p.isValid(nil) {
			p.nullValues = append(p.nullValues, nil)
		}
	}
}

// keywordsAlwaysKept lists the keywords that made-up values always keep. Values for a schema with any other are validated.
var keywordsAlwaysKept = map[string]bool{
	"type": true, "title": true, "description": true, "$defs": true, "definitions": true, "$schema": true, "$comment": true,
	"properties": true, "required": true, "items": true, "minLength": true, "maxLength": true, "minimum": true, "maximum": true,
	"readOnly": true, "writeOnly": true, "deprecated": true,
}

// validatorFor gives the function that reports whether a value fits a node of the schema.
func (s *sampler) validatorFor(m map[string]any) func(any) bool {
	plain := true
	//workflowcheck:ignore -- all or not all, in any order
	for k := range m {
		plain = plain && keywordsAlwaysKept[k]
	}
	if plain {
		return func(any) bool { return true }
	}
	c := s.compile(m)
	return func(v any) bool { return c.Validate(v) == nil }
}

// compile compiles a node, whose references are resolved in the whole schema. A node that does not compile by itself gives
// nil, which allows everything: the whole schema decides in the end.
func (s *sampler) compile(m map[string]any) *jsonschema.Schema {
	key := string(jsonval.Encode(m))
	c, known := s.compiledByJSON[key]
	if known {
		return c
	}
	const name = "~part"
	home, _ := s.rootSchema.(map[string]any)
	whole := jsonval.WithoutKey(home, "$defs")
	whole["$defs"] = jsonval.OverlayObject(jsonval.AsObject(home["$defs"]), map[string]any{name: m})
	if compiled, err := jsonschema.CompileUncached(jsonval.Encode(whole), "/$defs/"+jsonschema.EscapePointerStep(name)); err == nil {
		c = &jsonschema.Schema{Source: m, Compiled: compiled}
	}
	s.compiledByJSON[key] = c
	return c
}
