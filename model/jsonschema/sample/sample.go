package sample

import (
	"errors"
	"fmt"
	"slices"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// ErrNoSample is the error for a schema for which no value was found.
var ErrNoSample = errors.New("no value was found that fits the schema")

// SimulatedText is a made-up text if the schema asks for no other.
const SimulatedText = "simulated"

// samples remembers what was made up, by schema.
var samples jsonschema.Cache[any]

// MakeSample makes up a value that fits a JSON Schema: `const`, an example, the default or a choice of `enum` if the schema has one,
// and else a small value with every named property and one item. A schema that says nothing gives SimulatedText. An error
// wraps ErrNoSample, or says what is wrong with the schema.
func MakeSample(schema any) (any, error) {
	key := string(jsonval.Encode(jsonschema.WithoutMetaKeys(schema)))
	if v, ok := samples.Get(key); ok {
		return v, nil
	}
	v, err := makeUncachedSample(schema)
	if err == nil {
		samples.Put(key, v)
	}
	return v, err
}

func makeUncachedSample(schema any) (any, error) {
	whole, err := jsonschema.CompileSchema(schema)
	if err != nil {
		return nil, err
	}
	root := jsonschema.WithoutMetaKeys(schema)
	s := &sampler{rootSchema: root, stepsLeft: maxVisits, refDepth: map[string]int{}, compiledByJSON: map[string]*jsonschema.Schema{}}
	for _, v := range s.generateValues(root, 1) {
		if whole.Validate(v) == nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("sample: make a value: %w", ErrNoSample)
}

const (
	maxVisits     = 20_000 // nodes of a schema visited, after which no more values are made
	maxReferences = 2      // how often a reference may be followed within itself
	maxLength     = 10_000 // items of an array, and characters of a string
	triedValues   = 4      // values of one schema that are tried if the first does not fit
)

// sampler makes values for the nodes of one schema.
type sampler struct {
	rootSchema     any
	stepsLeft      int                           // nodes that may still be visited
	refDepth       map[string]int                // how often each reference is being followed
	compiledByJSON map[string]*jsonschema.Schema // nodes by their JSON; nil for one that does not compile by itself
}

// generateValues gives up to n different values that fit a node of the schema, the preferred one first.
func (s *sampler) generateValues(schema any, n int) []any {
	s.stepsLeft--
	if s.stepsLeft < 0 || n <= 0 {
		return nil
	}
	m, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return nil
		}
		m = map[string]any{}
	}
	flat, done := s.flatten(m)
	defer done()
	if flat == nil {
		return nil
	}
	p := &candidates{wantedCount: n, isValid: s.validatorFor(m)}
	s.proposeValues(flat, p)
	return p.wantedValues()
}

// proposeValues adds candidates in the order of preference until there are enough.
func (s *sampler) proposeValues(m map[string]any, p *candidates) {
	if c, ok := m["const"]; ok {
		p.addFromSchema(c)
		return
	}
	examples, _ := m["examples"].([]any)
	p.addFromSchema(examples...)
	if d, ok := m["default"]; ok {
		p.addFromSchema(d)
	}
	if enum, ok := m["enum"].([]any); ok {
		p.addFromSchema(enum...)
		return
	}
	for _, branch := range choiceSchemas(m) {
		if p.isFull() {
			return
		}
		p.addGenerated(s.generateValues(branch, max(p.wantedCount, triedValues)))
	}
	if !hasChoices(m) {
		s.proposeValuesByType(m, p)
	}
}

// proposeValuesByType makes values of each type that a node allows.
func (s *sampler) proposeValuesByType(m map[string]any, p *candidates) {
	for _, typ := range typesToTry(m) {
		if p.isFull() {
			return
		}
		n := max(p.wantedCount, triedValues)
		switch typ {
		case "object":
			p.addGenerated(s.makeObjects(m, n))
		case "array":
			p.addGenerated(s.makeArrays(m, n))
		case "string":
			p.addGenerated(makeTexts(m, n))
		case "integer", "number":
			p.addGenerated(makeNumbers(m, typ == "integer", n))
		case "boolean":
			p.addGenerated([]any{false, true})
		case "null":
			p.addGenerated([]any{nil})
		}
	}
}

// keywordTypes lists which type a schema without `type` means if it has a keyword.
var keywordTypes = []struct{ typ, keyword string }{
	{"object", "properties"}, {"object", "required"}, {"object", "additionalProperties"}, {"object", "patternProperties"},
	{"object", "minProperties"}, {"object", "propertyNames"}, {"object", "dependentRequired"}, {"object", "dependentSchemas"},
	{"array", "items"}, {"array", "prefixItems"}, {"array", "contains"}, {"array", "minItems"}, {"array", "uniqueItems"},
	{"number", "minimum"}, {"number", "maximum"}, {"number", "exclusiveMinimum"}, {"number", "exclusiveMaximum"}, {"number", "multipleOf"},
}

// typesToTry lists the types that a schema allows, null last. A schema without `type` allows all; those come first that its
// keywords are about.
func typesToTry(m map[string]any) []string {
	list := typeList(m["type"])
	if m["type"] == nil {
		list = typesByKeyword(m)
	}
	isNull := func(typ string) bool { return typ == "null" }
	others := slices.DeleteFunc(slices.Clone(list), isNull)
	if len(others) == len(list) {
		return others
	}
	return append(others, "null")
}

func typesByKeyword(m map[string]any) (list []string) {
	for _, k := range keywordTypes {
		if _, ok := m[k.keyword]; ok && !slices.Contains(list, k.typ) {
			list = append(list, k.typ)
		}
	}
	for _, typ := range []string{"string", "integer", "boolean", "object", "array", "null"} {
		if !slices.Contains(list, typ) {
			list = append(list, typ)
		}
	}
	return list
}

// typeList reads `type`, which is a string or a list of them.
func typeList(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := jsonval.AsStringList(v)
	return list
}
