package sample

import (
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// candidates collects different values that fit.
type candidates struct {
	wanted int
	fits   func(any) bool
	all    []any
	nulls  []any // null comes last, unless the schema names it
}

func (p *candidates) full() bool { return len(p.all) >= p.wanted }

func (p *candidates) list() []any {
	all := append(p.all, p.nulls...)
	return all[:min(p.wanted, len(all))]
}

// addNamed adds values that the schema itself names.
func (p *candidates) addNamed(values ...any) {
	for _, v := range values {
		if !p.full() && !jsonval.ContainsValue(p.all, v) && p.fits(v) {
			p.all = append(p.all, v)
		}
	}
}

// addMadeUp adds values that were made up.
func (p *candidates) addMadeUp(values []any) {
	for _, v := range values {
		if v != nil {
			p.addNamed(v)
		} else if len(p.nulls) == 0 && p.fits(nil) {
			p.nulls = append(p.nulls, nil)
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
	c, known := s.compiled[key]
	if known {
		return c
	}
	const name = "~part"
	home, _ := s.root.(map[string]any)
	whole := jsonval.WithoutKey(home, "$defs")
	whole["$defs"] = jsonval.Overlay(jsonval.AsObject(home["$defs"]), map[string]any{name: m})
	if compiled, err := jsonschema.Compile(jsonval.Encode(whole), "/$defs/"+jsonschema.EscapePointer(name)); err == nil {
		c = &jsonschema.Schema{Source: m, Compiled: compiled}
	}
	s.compiled[key] = c
	return c
}
