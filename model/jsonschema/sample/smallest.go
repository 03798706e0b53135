package sample

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// typesOf lists the types that a node allows, null last. Without `type` it derives them from the keywords.
func typesOf(node jsonval.Object) []string {
	if types := jsonschema.Types(node); types != nil {
		slices.SortStableFunc(types, func(a, b string) int {
			return strings.Count(a, "null") - strings.Count(b, "null")
		})
		return types
	}
	for _, k := range []struct{ keyword, typ string }{
		{"properties", "object"}, {"required", "object"}, {"items", "array"}, {"prefixItems", "array"},
		{"minItems", "array"},
		{"minimum", "number"}, {"exclusiveMinimum", "number"}, {"maximum", "number"}, {"multipleOf", "number"},
	} {
		if _, ok := node[k.keyword]; ok {
			return []string{k.typ}
		}
	}
	return []string{"string"}
}

// smallest makes the smallest value of a type that shows something.
func (s *sampler) smallest(typ string, node jsonval.Object) (any, bool) {
	switch typ {
	case "object":
		return s.makeObject(node)
	case "array":
		return s.makeArray(node)
	case "string":
		return makeText(node)
	case "integer", "number":
		return makeNumber(node, typ == "integer")
	case "boolean":
		return false, true
	}
	return nil, typ == "null"
}

// makeObject makes an object with every named property that can be made. ok is false if a required one cannot be.
func (s *sampler) makeObject(node jsonval.Object) (any, bool) {
	properties := jsonschema.Properties(node)
	required := jsonschema.Required(node)
	out := jsonval.Object{}
	for _, name := range slices.Concat(required, jsonval.SortedKeys(properties)) {
		schema, named := properties[name]
		if !named {
			schema = node["additionalProperties"]
		}
		v, ok := s.makeValue(schema)
		switch {
		case ok && (slices.Contains(required, name) || len(out) < intKeyword(node, "maxProperties", maxLength)):
			out[name] = v
		case !ok && slices.Contains(required, name):
			return nil, false
		}
	}
	return out, true
}

// makeArray makes an array with an item for each of prefixItems and at least minItems and one item, within maxItems.
func (s *sampler) makeArray(node jsonval.Object) (any, bool) {
	prefix := jsonval.AsList(node["prefixItems"])
	least := intKeyword(node, "minItems", 0)
	size := min(max(least, len(prefix), 1), intKeyword(node, "maxItems", maxLength), maxLength)
	list := []any{}
	for n := range size {
		schema := node["items"]
		if n < len(prefix) {
			schema = prefix[n]
		}
		v, ok := s.makeValue(schema)
		if !ok {
			break
		}
		list = append(list, v)
	}
	return list, len(list) >= least
}

// formats holds a text for each format that JSON Schema names.
var formats = map[string]string{
	"date-time": "2000-01-01T00:00:00Z", "date": "2000-01-01", "time": "00:00:00Z", "duration": "P1D",
	"email": "simulated@example.com", "idn-email": "simulated@example.com", "hostname": "simulated.example",
	"idn-hostname": "simulated.example", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uri": "https://example.com/simulated", "uri-reference": "/simulated", "iri": "https://example.com/simulated",
	"iri-reference": "/simulated", "uri-template": "/simulated/{id}", "uuid": "00000000-0000-4000-8000-000000000000",
	"json-pointer": "/simulated", "relative-json-pointer": "0", "regex": "simulated",
}

// makeText makes a text of the format or the pattern, or else SimulatedText, cut or padded to the required length.
func makeText(node jsonval.Object) (any, bool) {
	if text, ok := formats[fmt.Sprint(node["format"])]; ok {
		return text, true
	}
	shortest, longest := intKeyword(node, "minLength", 0), intKeyword(node, "maxLength", maxLength)
	if pattern, ok := node["pattern"].(string); ok {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return nil, false
		}
		return matchOf(re.Simplify(), shortest), true
	}
	text := SimulatedText
	if pad := min(shortest, maxLength) - len(text); pad > 0 {
		text += strings.Repeat(".", pad)
	}
	return text[:min(len(text), longest)], shortest <= longest
}

// matchOf writes a text that matches a pattern. An unbounded repetition is repeated more times, at least once and at
// most maxLength times.
func matchOf(re *syntax.Regexp, more int) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(printableOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpStar, syntax.OpPlus:
		return strings.Repeat(matchOf(re.Sub[0], 0), min(max(more, 1), maxLength))
	case syntax.OpAlternate, syntax.OpCapture:
		return matchOf(re.Sub[0], more)
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(matchOf(sub, more-b.Len()))
		}
		return b.String()
	}
	return "" // an anchor, a word boundary, or what may be left out
}

// printableOf gives a character of a class: a, A or 0 if the class has one of them.
func printableOf(ranges []rune) rune {
	for _, wanted := range "aA0" {
		for n := 0; n+1 < len(ranges); n += 2 {
			if ranges[n] <= wanted && wanted <= ranges[n+1] {
				return wanted
			}
		}
	}
	return ranges[len(ranges)-2]
}

// makeNumber makes the number nearest to zero between the bounds, as a multiple of the required step.
func makeNumber(node jsonval.Object, whole bool) (any, bool) {
	step := exactNumber(node["multipleOf"])
	switch {
	case whole && step == nil:
		step = big.NewRat(1, 1)
	case whole:
		step.SetInt(step.Num()) // its least multiple that is an integer
	}
	up := numberFrom(exactNumber(node["minimum"]), exactNumber(node["exclusiveMinimum"]), step)
	down := numberFrom(negated(exactNumber(node["maximum"])), negated(exactNumber(node["exclusiveMaximum"])), step)
	v := new(big.Rat)
	switch {
	case up != nil && up.Sign() > 0:
		v = up
	case down != nil && down.Sign() > 0:
		v.Neg(down)
	}
	if v.IsInt() {
		return json.Number(v.Num().String()), true
	}
	return json.Number(strings.TrimRight(v.FloatString(20), "0")), true
}

// numberFrom gives the least multiple of step that is at least bound and more than beyond; nil if there is neither
// bound. Without step, it gives the inclusive bound itself, or a little more than the excluded one.
func numberFrom(bound, beyond, step *big.Rat) *big.Rat {
	excluded := beyond != nil && (bound == nil || beyond.Cmp(bound) >= 0)
	if excluded {
		bound = beyond
	}
	switch {
	case bound == nil:
		return nil
	case step == nil && excluded:
		return new(big.Rat).Add(bound, big.NewRat(1, 8))
	case step == nil:
		return bound
	}
	quotient := new(big.Rat).Quo(bound, step)
	times := new(big.Int).Div(quotient.Num(), quotient.Denom())
	if excluded || !quotient.IsInt() {
		times.Add(times, big.NewInt(1))
	}
	return quotient.Mul(step, new(big.Rat).SetInt(times))
}

func negated(v *big.Rat) *big.Rat {
	if v == nil {
		return nil
	}
	return v.Neg(v)
}

// exactNumber reads a number exactly; nil if v is not a number.
func exactNumber(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(string(n))
	return r
}

// intKeyword reads a keyword that counts something. It gives otherwise if the schema does not have it.
func intKeyword(node jsonval.Object, key string, otherwise int) int {
	if r := exactNumber(node[key]); r != nil && r.IsInt() && r.Num().IsInt64() {
		return int(r.Num().Int64())
	}
	return otherwise
}

// mergeSchemas merges two schemas so that a value of the result usually fits both. MakeSample checks the value against
// the whole schema in the end.
func mergeSchemas(a, b jsonval.Object) jsonval.Object {
	out := maps.Clone(a)
	if out == nil {
		out = jsonval.Object{}
	}
	for k, v := range jsonval.Sorted(b) {
		before, both := out[k]
		out[k] = v
		switch list, isList := before.([]any); {
		case !both:
		case k == "properties":
			out[k] = jsonval.MergeWith(before, v, func(x, y any) any { return jsonval.Object{"allOf": []any{x, y}} })
		case k == "items":
			out[k] = jsonval.Object{"allOf": []any{before, v}}
		case isList && (k == "required" || k == "allOf"):
			out[k] = slices.Concat(list, jsonval.AsList(v))
		}
	}
	return out
}
