package sample

import (
	"errors"
	"fmt"
	"slices"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// This file makes values up from JSON Schemas: the same value for the same schema each time.

// ErrNoSample says that no value was found that fits a schema.
var ErrNoSample = errors.New("no value was found that fits the schema")

// simulatedText is what made-up text says where the schema leaves it free.
const SimulatedText = "simulated"

// Sample makes up a value that fits a JSON Schema: `const`, an example, the default or a choice of `enum` where the schema
// gives one, else a small value with every named property and one item. Nothing said gives the text "simulated". The value
// always fits; an error wraps ErrNoSample, or says what is wrong with the schema.
func Sample(schema any) (any, error) {
	key := string(jsonval.Encode(jsonschema.WithoutMeta(schema)))
	if v, ok := samples.Get(key); ok {
		return v, nil
	}
	v, err := makeSample(schema)
	if err == nil {
		samples.Put(key, v)
	}
	return v, err
}

func makeSample(schema any) (any, error) {
	whole, err := jsonschema.CompileSchema(schema)
	if err != nil {
		return nil, err
	}
	root := jsonschema.WithoutMeta(schema)
	s := &sampler{root: root, budget: sampleBudget, open: map[string]int{}, checks: map[string]*jsonschema.Schema{}}
	for _, v := range s.values(root, 1) {
		if whole.Validate(v) == nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("model: sample schema: %w", ErrNoSample)
}

const (
	sampleBudget  = 20_000 // schemas looked at, after which it is given up
	maxReferences = 2      // how often a reference may stand within itself
	maxMade       = 10_000 // items of a list, and characters of a text
	triedValues   = 4      // values of one schema that are tried where the first does not fit
)

// sampler makes values of the parts of one schema.
type sampler struct {
	root   any
	budget int
	open   map[string]int // references that are being followed
	checks map[string]*jsonschema.Schema
}

// values gives up to n different values that fit a part of the schema, the one to be preferred first.
func (s *sampler) values(schema any, n int) []any {
	if s.budget--; s.budget < 0 || n <= 0 {
		return nil
	}
	m, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return nil
		}
		m = map[string]any{}
	}
	flat, leave := s.flatten(m)
	defer leave()
	if flat == nil {
		return nil
	}
	p := &picked{n: n, fits: s.check(m)}
	s.offer(flat, p)
	return p.list()
}

// offer hands over values in the order of preference until enough are picked.
func (s *sampler) offer(m map[string]any, p *picked) {
	if c, ok := m["const"]; ok {
		p.take(c)
		return
	}
	examples, _ := m["examples"].([]any)
	p.take(examples...)
	if d, ok := m["default"]; ok {
		p.take(d)
	}
	if enum, ok := m["enum"].([]any); ok {
		p.take(enum...)
		return
	}
	for _, branch := range s.branches(m) {
		if p.full() {
			return
		}
		p.offer(s.values(branch, max(p.n, triedValues)))
	}
	if !s.branched(m) {
		s.offerTypes(m, p)
	}
}

func (s *sampler) offerTypes(m map[string]any, p *picked) {
	for _, typ := range madeTypes(m) {
		if p.full() {
			return
		}
		n := max(p.n, triedValues)
		switch typ {
		case "object":
			p.offer(s.objects(m, n))
		case "array":
			p.offer(s.arrays(m, n))
		case "string":
			p.offer(texts(m, n))
		case "integer", "number":
			p.offer(numbers(m, typ == "integer", n))
		case "boolean":
			p.offer([]any{false, true})
		case "null":
			p.offer([]any{nil})
		}
	}
}

// kindOfKeyword says which type a schema without one is about.
var kindOfKeyword = []struct{ typ, keyword string }{
	{"object", "properties"}, {"object", "required"}, {"object", "additionalProperties"}, {"object", "patternProperties"},
	{"object", "minProperties"}, {"object", "propertyNames"}, {"object", "dependentRequired"}, {"object", "dependentSchemas"},
	{"array", "items"}, {"array", "prefixItems"}, {"array", "contains"}, {"array", "minItems"}, {"array", "uniqueItems"},
	{"number", "minimum"}, {"number", "maximum"}, {"number", "exclusiveMinimum"}, {"number", "exclusiveMaximum"}, {"number", "multipleOf"},
}

// madeTypes lists the types that values are made of: null comes last. Where nothing is said, any will do.
func madeTypes(m map[string]any) []string {
	list := typeList(m["type"])
	if m["type"] == nil {
		for _, k := range kindOfKeyword {
			if _, ok := m[k.keyword]; ok && !slices.Contains(list, k.typ) {
				list = append(list, k.typ)
			}
		}
		for _, typ := range []string{"string", "integer", "boolean", "object", "array", "null"} {
			if !slices.Contains(list, typ) {
				list = append(list, typ)
			}
		}
	}
	var last []string
	out := make([]string, 0, len(list))
	for _, typ := range list {
		if typ == "null" {
			last = append(last, typ)
		} else {
			out = append(out, typ)
		}
	}
	return append(out, last...)
}

func typeList(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := jsonval.StringList(v)
	return list
}

// picked collects different values that fit.
type picked struct {
	n     int
	fits  func(any) bool
	all   []any
	nulls []any // null is a value of last resort, unless the schema names it
}

func (p *picked) full() bool { return len(p.all) >= p.n }

func (p *picked) list() []any {
	all := append(p.all, p.nulls...)
	return all[:min(p.n, len(all))]
}

// take picks values that the schema itself names.
func (p *picked) take(values ...any) {
	for _, v := range values {
		if !p.full() && !jsonval.ContainsValue(p.all, v) && p.fits(v) {
			p.all = append(p.all, v)
		}
	}
}

// offer picks values that were made up.
func (p *picked) offer(values []any) {
	for _, v := range values {
		if v != nil {
			p.take(v)
		} else if len(p.nulls) == 0 && p.fits(nil) {
			p.nulls = append(p.nulls, nil)
		}
	}
}

// madeRight lists the keywords that values keep by how they are made: a schema with others is checked.
var madeRight = map[string]bool{
	"type": true, "title": true, "description": true, "$defs": true, "definitions": true, "$schema": true, "$comment": true,
	"properties": true, "required": true, "items": true, "minLength": true, "maxLength": true, "minimum": true, "maximum": true,
	"readOnly": true, "writeOnly": true, "deprecated": true,
}

// check gives what decides whether a value fits a part of the schema.
func (s *sampler) check(m map[string]any) func(any) bool {
	plain := true
	//workflowcheck:ignore -- all or not all, in any order
	for k := range m {
		plain = plain && madeRight[k]
	}
	if plain {
		return func(any) bool { return true }
	}
	c := s.compiled(m)
	return func(v any) bool { return c.Validate(v) == nil }
}

// compiled gives a part of the schema with the whole as the home of its references. One that cannot be compiled by itself
// lets everything pass: the whole decides in the end.
func (s *sampler) compiled(m map[string]any) *jsonschema.Schema {
	key := string(jsonval.Encode(m))
	c, known := s.checks[key]
	if known {
		return c
	}
	const name = "~part"
	home, _ := s.root.(map[string]any)
	defs := map[string]any{}
	//workflowcheck:ignore -- a map again
	for k, v := range jsonval.AsObject(home["$defs"]) {
		defs[k] = v
	}
	defs[name] = m
	whole := jsonval.WithoutKey(home, "$defs")
	whole["$defs"] = defs
	if compiled, err := jsonschema.Compile(jsonval.Encode(whole), "/$defs/"+jsonschema.EscapePointer(name)); err == nil {
		c = &jsonschema.Schema{Source: m, Compiled: compiled}
	}
	s.checks[key] = c
	return c
}

var samples jsonschema.Cache[any]
