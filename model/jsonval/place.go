package jsonval

import "strconv"

// ValueAt gives the value at a path. ok is true for a null that is there.
func ValueAt(v any, p Path) (found any, ok bool) {
	for _, step := range p {
		next, ok := ChildValue(v, step)
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// ChildValue gives the value under one key of an object, or at one index of an array.
func ChildValue(v any, step string) (next any, ok bool) {
	switch v := v.(type) {
	case Object:
		next, ok = v[step]
		return next, ok
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != step {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// SetAt returns a copy of v with x at p. It copies only the objects along the path, and adds missing ones. ok is false
// if something other than an object is in the way.
func SetAt(v any, p Path, newValue any) (out any, ok bool) {
	if len(p) == 0 {
		return newValue, true
	}
	m, isObject := v.(Object)
	if !isObject && v != nil {
		return nil, false
	}
	newChild, ok := SetAt(m[p[0]], p[1:], newValue)
	if !ok {
		return nil, false
	}
	return WithKey(m, p[0], newChild), true
}

// RemoveAt gives a copy of v without the key at p. ok is false if there is no such key in its objects.
func RemoveAt(v any, p Path) (out any, ok bool) {
	m, isObject := v.(Object)
	if !isObject || len(p) == 0 {
		return v, false
	}
	child, ok := m[p[0]]
	if !ok || len(p) == 1 {
		return WithoutKey(m, p[0]), ok
	}
	if child, ok = RemoveAt(child, p[1:]); !ok {
		return v, false
	}
	return SetAt(v, p[:1], child)
}
