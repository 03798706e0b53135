package sample

import (
	"fmt"
	"regexp"
	"slices"

	"processidea/model/jsonval"
)

// makeObjects makes objects: up to n with every named property that can be made, then up to n with the required ones alone.
func (s *sampler) makeObjects(m map[string]any, n int) []any {
	var out []any
	for _, names := range [][]string{s.propertyNames(m, true), s.propertyNames(m, false)} {
		for k := range n {
			v, ok := s.makeObject(m, names, k)
			if !ok || len(out) >= 2*n {
				break
			}
			if !jsonval.ContainsValue(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// propertyNames lists the properties to make, the required ones first; all adds those that are merely named.
func (s *sampler) propertyNames(m map[string]any, all bool) []string {
	required, _ := jsonval.AsStringList(m["required"])
	names := append([]string{}, required...)
	most := nonNegativeIntKeyword(m, "maxProperties", maxLength)
	for _, name := range jsonval.SortedKeys(jsonval.AsObject(m["properties"])) {
		if all && !slices.Contains(names, name) && len(names) < most {
			names = append(names, name)
		}
	}
	for n := 0; n < len(names); n++ { // names grows by the properties that one of its names requires
		needed, _ := jsonval.AsStringList(jsonval.AsObject(m["dependentRequired"])[names[n]])
		if len(needed) == 0 {
			needed, _ = jsonval.AsStringList(jsonval.AsObject(m["dependencies"])[names[n]])
		}
		for _, name := range needed {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return append(names, s.additionalPropertyNames(m, names)...)
}

// additionalPropertyNames makes up names for the properties that `minProperties` demands beyond those in have.
func (s *sampler) additionalPropertyNames(m map[string]any, have []string) []string {
	wanted := nonNegativeIntKeyword(m, "minProperties", 0) - len(have)
	if wanted <= 0 || wanted > maxLength {
		return nil
	}
	var out, candidates []string
	for n := range wanted + len(have) + 1 {
		candidates = append(candidates, fmt.Sprintf("%s%d", SimulatedText, n+1))
	}
	for _, pattern := range jsonval.SortedKeys(jsonval.AsObject(m["patternProperties"])) {
		candidates = append(candidates, textsMatching(pattern, 0, wanted)...)
	}
	if rule, ok := m["propertyNames"]; ok {
		candidates = nil
		for _, v := range s.generateValues(mergeSchemas(rule, map[string]any{"type": "string"}), wanted+len(have)) {
			candidates = append(candidates, v.(string))
		}
	}
	candidates = append(candidates, jsonval.SortedKeys(jsonval.AsObject(m["properties"]))...)
	for _, name := range candidates {
		if schema := propertySchema(m, name); len(out) < wanted && schema != false && !slices.Contains(have, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// makeObject makes the kth object with some properties. ok is false if a required one cannot be made.
func (s *sampler) makeObject(m map[string]any, names []string, k int) (v map[string]any, ok bool) {
	for _, name := range names {
		for _, key := range []string{"dependentSchemas", "dependencies"} {
			if more, ok := jsonval.AsObject(m[key])[name].(map[string]any); ok {
				m = mergeSchemas(m, more)
				m = s.flattenUncounted(m)
			}
		}
	}
	required, _ := jsonval.AsStringList(m["required"])
	for _, name := range required {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	out := map[string]any{}
	for _, name := range names {
		values := s.generateValues(propertySchema(m, name), k+1)
		switch {
		case len(values) > 0:
			out[name] = values[min(k, len(values)-1)]
		case slices.Contains(required, name):
			return nil, false
		}
	}
	return out, true
}

// flattenUncounted is flatten without a count of the references that it follows. It gives m itself if flatten gives nothing.
func (s *sampler) flattenUncounted(m map[string]any) map[string]any {
	flat, done := s.flatten(m)
	done()
	if flat == nil {
		return m
	}
	return flat
}

// propertySchema gives the schema of one property of an object.
func propertySchema(m map[string]any, name string) any {
	var parts []any
	if p, ok := jsonval.AsObject(m["properties"])[name]; ok {
		parts = append(parts, p)
	}
	patterns := jsonval.AsObject(m["patternProperties"])
	for _, pattern := range jsonval.SortedKeys(patterns) {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
			parts = append(parts, patterns[pattern])
		}
	}
	switch len(parts) {
	case 0:
		for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
			if other, ok := m[key]; ok {
				return other
			}
		}
		return map[string]any{}
	case 1:
		return parts[0]
	}
	return map[string]any{"allOf": parts}
}
