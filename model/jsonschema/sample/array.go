package sample

import "processidea/model/jsonval"

// makeArrays makes arrays, up to n of each size that may do: at least one item first, then as few as the schema allows.
func (s *sampler) makeArrays(m map[string]any, n int) []any {
	least, most := nonNegativeIntKeyword(m, "minItems", 0), nonNegativeIntKeyword(m, "maxItems", maxLength)
	prefix, _ := m["prefixItems"].([]any)
	if prefix == nil {
		prefix, _ = m["items"].([]any)
	}
	contained := 0
	if _, ok := m["contains"]; ok {
		contained = nonNegativeIntKeyword(m, "minContains", 1)
	}
	if least > maxLength || contained > maxLength {
		return nil
	}
	var out []any
	for _, size := range []int{min(max(least, len(prefix)+contained, 1), most), max(least, contained), max(least, len(prefix)+contained)} {
		for k := range n {
			v, ok := s.makeArray(m, prefix, contained, size, k)
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

// makeArray makes the kth array of a size, of which so many items fit `contains`. ok is false if an item cannot be made.
func (s *sampler) makeArray(m map[string]any, prefix []any, contained, size, k int) (list []any, ok bool) {
	list, left := []any{}, contained
	pools := map[string][]any{}
	for n := range size {
		schema := itemSchema(m, prefix, n)
		if schema == false {
			return nil, false
		}
		if (n >= len(prefix) && left > 0) || left >= size-n {
			schema, left = map[string]any{"allOf": []any{schema, m["contains"]}}, left-1
		}
		key := string(jsonval.Encode(schema))
		pool, known := pools[key]
		if !known {
			pool = s.generateValues(schema, size+k)
			pools[key] = pool
		}
		if len(pool) == 0 {
			return nil, false
		}
		list = append(list, pickArrayItem(list, pool, k, m["uniqueItems"] == true))
	}
	return list, true
}

// pickArrayItem gives the kth value, or, if items must differ, one that is not in the list yet.
func pickArrayItem(list, pool []any, k int, unique bool) any {
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

// itemSchema gives the schema of the nth item of an array.
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
