package sample

import (
	"fmt"
	"regexp"
	"slices"

	"processidea/model/jsonval"
)

// objects makes up to n objects: with every named property that can be made, or else with those alone that must be there.
func (s *sampler) objects(m map[string]any, n int) []any {
	var out []any
	for _, names := range [][]string{s.namesOf(m, true), s.namesOf(m, false)} {
		for k := range n {
			v, ok := s.object(m, names, k)
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

// namesOf lists the properties that an object is made of, those that must be there first.
func (s *sampler) namesOf(m map[string]any, all bool) []string {
	required, _ := jsonval.StringList(m["required"])
	names := append([]string{}, required...)
	most := countOf(m, "maxProperties", maxMade)
	for _, name := range jsonval.SortedKeys(jsonval.AsObject(m["properties"])) {
		if all && !slices.Contains(names, name) && len(names) < most {
			names = append(names, name)
		}
	}
	for n := 0; n < len(names); n++ { // a name that brings others may come with them
		more, _ := jsonval.StringList(jsonval.AsObject(m["dependentRequired"])[names[n]])
		if len(more) == 0 {
			more, _ = jsonval.StringList(jsonval.AsObject(m["dependencies"])[names[n]])
		}
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return append(names, s.fillers(m, names)...)
}

// fillers gives names for the properties that are wanted and not named.
func (s *sampler) fillers(m map[string]any, have []string) []string {
	wanted := countOf(m, "minProperties", 0) - len(have)
	if wanted <= 0 || wanted > maxMade {
		return nil
	}
	var out, candidates []string
	for n := range wanted + len(have) + 1 {
		candidates = append(candidates, fmt.Sprintf("%s%d", SimulatedText, n+1))
	}
	for _, pattern := range jsonval.SortedKeys(jsonval.AsObject(m["patternProperties"])) {
		candidates = append(candidates, matching(pattern, 0, wanted)...)
	}
	if rule, ok := m["propertyNames"]; ok {
		candidates = nil
		for _, v := range s.values(mergeSchemas(rule, map[string]any{"type": "string"}), wanted+len(have)) {
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

// object makes the kth object of some properties; ok is false where one that must be there cannot be made.
func (s *sampler) object(m map[string]any, names []string, k int) (v map[string]any, ok bool) {
	for _, name := range names {
		for _, key := range []string{"dependentSchemas", "dependencies"} {
			if more, ok := jsonval.AsObject(m[key])[name].(map[string]any); ok {
				m = mergeSchemas(m, more)
				m, _ = s.withoutAll(m)
			}
		}
	}
	required, _ := jsonval.StringList(m["required"])
	for _, name := range required {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	out := map[string]any{}
	for _, name := range names {
		values := s.values(propertySchema(m, name), k+1)
		switch {
		case len(values) > 0:
			out[name] = values[min(k, len(values)-1)]
		case slices.Contains(required, name):
			return nil, false
		}
	}
	return out, true
}

// withoutAll is flatten for a schema whose values are made in the same breath.
func (s *sampler) withoutAll(m map[string]any) (flat map[string]any, ok bool) {
	flat, leave := s.flatten(m)
	leave()
	if flat == nil {
		return m, false
	}
	return flat, true
}

// propertySchema is what a property of an object must fit.
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

// arrays makes up to n lists: of one item where none is wanted, and of none where that does not do.
func (s *sampler) arrays(m map[string]any, n int) []any {
	least, most := countOf(m, "minItems", 0), countOf(m, "maxItems", maxMade)
	prefix, _ := m["prefixItems"].([]any)
	if prefix == nil {
		prefix, _ = m["items"].([]any)
	}
	held := 0
	if _, ok := m["contains"]; ok {
		held = countOf(m, "minContains", 1)
	}
	if least > maxMade || held > maxMade {
		return nil
	}
	var out []any
	for _, size := range []int{min(max(least, len(prefix)+held, 1), most), max(least, held), max(least, len(prefix)+held)} {
		for k := range n {
			v, ok := s.array(m, prefix, held, size, k)
			if !ok {
				break
			}
			if !jsonval.ContainsValue(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// array makes the kth list of a size, of which held items are what the list must contain.
func (s *sampler) array(m map[string]any, prefix []any, held, size, k int) (list []any, ok bool) {
	list, left := []any{}, held
	pools := map[string][]any{}
	for n := range size {
		schema := itemSchema(m, prefix, n)
		if schema == false {
			return nil, false
		}
		if n >= len(prefix) && left > 0 || left >= size-n {
			schema, left = map[string]any{"allOf": []any{schema, m["contains"]}}, left-1
		}
		key := string(jsonval.Encode(schema))
		pool, known := pools[key]
		if !known {
			pool = s.values(schema, size+k)
			pools[key] = pool
		}
		if len(pool) == 0 {
			return nil, false
		}
		list = append(list, pickItem(list, pool, k, m["uniqueItems"] == true))
	}
	return list, true
}

// pickItem picks the kth value, or where items must differ one that is not in the list yet.
func pickItem(list, pool []any, k int, unique bool) any {
	if !unique {
		return pool[min(k, len(pool)-1)]
	}
	for n := range pool {
		if v := pool[(n+k)%len(pool)]; !jsonval.ContainsValue(list, v) {
			return v
		}
	}
	return pool[0]
}

func itemSchema(m map[string]any, prefix []any, n int) any {
	if n < len(prefix) {
		return prefix[n]
	}
	key := "items"
	if _, isList := m["items"].([]any); isList {
		key = "additionalItems"
	}
	for _, k := range []string{key, "unevaluatedItems"} {
		if schema, ok := m[k]; ok {
			return schema
		}
	}
	return map[string]any{}
}
