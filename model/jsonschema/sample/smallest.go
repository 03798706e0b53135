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

// allowedTypes lists the types that a node allows, null last. Without `type` it derives them from the keywords.
func allowedTypes(node jsonval.Object) []string {
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

// makeSmallest makes the smallest value of a type that shows something.
func (s *sampler) makeSmallest(typ string, node jsonval.Object) (any, bool) {
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
		schema, isDeclared := properties[name]
		if !isDeclared {
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
	prefixSchemas := jsonval.AsList(node["prefixItems"])
	minItems := intKeyword(node, "minItems", 0)
	size := min(max(minItems, len(prefixSchemas), 1), intKeyword(node, "maxItems", maxLength), maxLength)
	list := []any{}
	for n := range size {
		schema := node["items"]
		if n < len(prefixSchemas) {
			schema = prefixSchemas[n]
		}
		v, ok := s.makeValue(schema)
		if !ok {
			break
		}
		list = append(list, v)
	}
	return list, len(list) >= minItems
}

// textByFormat holds a text for each format that JSON Schema names.
var textByFormat = map[string]string{
	"date-time": "2000-01-01T00:00:00Z", "date": "2000-01-01", "time": "00:00:00Z", "duration": "P1D",
	"email": "simulated@example.com", "idn-email": "simulated@example.com", "hostname": "simulated.example",
	"idn-hostname": "simulated.example", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uri": "https://example.com/simulated", "uri-reference": "/simulated", "iri": "https://example.com/simulated",
	"iri-reference": "/simulated", "uri-template": "/simulated/{id}", "uuid": "00000000-0000-4000-8000-000000000000",
	"json-pointer": "/simulated", "relative-json-pointer": "0", "regex": "simulated",
}

// makeText makes a text of the format or the pattern, or else SimulatedText, cut or padded to the required length.
func makeText(node jsonval.Object) (any, bool) {
	if text, ok := textByFormat[fmt.Sprint(node["format"])]; ok {
		return text, true
	}
	minLength, maxAllowed := intKeyword(node, "minLength", 0), intKeyword(node, "maxLength", maxLength)
	if pattern, ok := node["pattern"].(string); ok {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return nil, false
		}
		return matchingText(re.Simplify(), minLength), true
	}
	text := SimulatedText
	if pad := min(minLength, maxLength) - len(text); pad > 0 {
		text += strings.Repeat(".", pad)
	}
	return text[:min(len(text), maxAllowed)], minLength <= maxAllowed
}

// matchingText writes a text that matches a pattern. An unbounded repetition is repeated more times, at least once and
// at most maxLength times.
func matchingText(re *syntax.Regexp, minRepeats int) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(printableRune(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpStar, syntax.OpPlus:
		return strings.Repeat(matchingText(re.Sub[0], 0), min(max(minRepeats, 1), maxLength))
	case syntax.OpAlternate, syntax.OpCapture:
		return matchingText(re.Sub[0], minRepeats)
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(matchingText(sub, minRepeats-b.Len()))
		}
		return b.String()
	}
	return "" // an anchor, a word boundary, or what may be left out
}

// printableRune gives a character of a class: a, A or 0 if the class has one of them.
func printableRune(ranges []rune) rune {
	for _, preferred := range "aA0" {
		for n := 0; n+1 < len(ranges); n += 2 {
			if ranges[n] <= preferred && preferred <= ranges[n+1] {
				return preferred
			}
		}
	}
	return ranges[len(ranges)-2]
}

// makeNumber makes the number nearest to zero between the bounds, as a multiple of the required step.
func makeNumber(node jsonval.Object, isInteger bool) (any, bool) {
	step := exactNumber(node["multipleOf"])
	switch {
	case isInteger && step == nil:
		step = big.NewRat(1, 1)
	case isInteger:
		step.SetInt(step.Num()) // its least multiple that is an integer
	}
	lowest := leastMultiple(exactNumber(node["minimum"]), exactNumber(node["exclusiveMinimum"]), step)
	negatedHighest := leastMultiple(negate(exactNumber(node["maximum"])), negate(exactNumber(node["exclusiveMaximum"])),
		step)
	v := new(big.Rat)
	switch {
	case lowest != nil && lowest.Sign() > 0:
		v = lowest
	case negatedHighest != nil && negatedHighest.Sign() > 0:
		v.Neg(negatedHighest)
	}
	if v.IsInt() {
		return json.Number(v.Num().String()), true
	}
	return json.Number(strings.TrimRight(v.FloatString(20), "0")), true
}

// leastMultiple gives the least multiple of step that is at least bound and more than beyond; nil if there is neither
// bound. Without step, it gives the inclusive bound itself, or a little more than the excluded one.
func leastMultiple(minimum, exclusiveMinimum, step *big.Rat) *big.Rat {
	isExcluded := exclusiveMinimum != nil && (minimum == nil || exclusiveMinimum.Cmp(minimum) >= 0)
	if isExcluded {
		minimum = exclusiveMinimum
	}
	switch {
	case minimum == nil:
		return nil
	case step == nil && isExcluded:
		return new(big.Rat).Add(minimum, big.NewRat(1, 8))
	case step == nil:
		return minimum
	}
	quotient := new(big.Rat).Quo(minimum, step)
	factor := new(big.Int).Div(quotient.Num(), quotient.Denom())
	if isExcluded || !quotient.IsInt() {
		factor.Add(factor, big.NewInt(1))
	}
	return quotient.Mul(step, new(big.Rat).SetInt(factor))
}

func negate(v *big.Rat) *big.Rat {
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
func intKeyword(node jsonval.Object, key string, fallback int) int {
	if r := exactNumber(node[key]); r != nil && r.IsInt() && r.Num().IsInt64() {
		return int(r.Num().Int64())
	}
	return fallback
}

// mergeSchemas merges two schemas so that a value of the result usually fits both. MakeSample checks the value against
// the whole schema in the end.
func mergeSchemas(a, b jsonval.Object) jsonval.Object {
	out := maps.Clone(a)
	if out == nil {
		out = jsonval.Object{}
	}
	for k, v := range jsonval.Sorted(b) {
		existing, exists := out[k]
		out[k] = v
		switch list, isList := existing.([]any); {
		case !exists:
		case k == "properties":
			out[k] = jsonval.MergeWith(existing, v, func(x, y any) any { return jsonval.Object{"allOf": []any{x, y}} })
		case k == "items":
			out[k] = jsonval.Object{"allOf": []any{existing, v}}
		case isList && (k == "required" || k == "allOf"):
			out[k] = slices.Concat(list, jsonval.AsList(v))
		}
	}
	return out
}
