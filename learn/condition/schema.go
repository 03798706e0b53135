package condition

import (
	"maps"
	"slices"

	"processidea/model/jsonval"
)

// zone is a set of values of one field, as a JSON Schema can say it.
type zone struct {
	path        jsonval.Path
	leaf        map[string]any // what the value must fit; nil: anything
	allowAbsent bool           // where the field is not there, it fits too
	isAbsent    bool           // the field is not there
}

// schema is the zone over the whole view.
func (z zone) schema() map[string]any {
	switch {
	case z.isAbsent:
		return map[string]any{"not": nested(z.path, nil, true)}
	case z.allowAbsent:
		return nested(z.path, z.leaf, false)
	}
	return nested(z.path, z.leaf, true)
}

func schemasOf(zones []zone) (list []map[string]any) {
	for _, z := range zones {
		list = append(list, z.schema())
	}
	return list
}

// nested is a JSON Schema of objects in each other, down to what the value at a path must fit.
func nested(path jsonval.Path, leaf map[string]any, required bool) map[string]any {
	if len(path) == 0 {
		return leaf
	}
	s := map[string]any{}
	if required {
		s["required"] = []any{path[0]}
	}
	if below := nested(path[1:], leaf, required); len(below) > 0 {
		s["properties"] = map[string]any{path[0]: below}
	}
	return s
}

// allOf joins JSON Schemas of which all must hold: into one where they say different things of the same objects.
func allOf(list []map[string]any) map[string]any {
	out := []any{}
	var joined map[string]any
	for _, s := range list {
		if merged, ok := merge(joined, s); ok {
			joined = merged
			continue
		}
		if !jsonval.ContainsValue(out, any(s)) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return joined
	}
	return map[string]any{"allOf": append([]any{joined}, out...)}
}

func anyOf(list []map[string]any) map[string]any {
	var out []any
	for _, s := range list {
		if !jsonval.ContainsValue(out, any(s)) {
			out = append(out, s)
		}
	}
	if len(out) == 1 {
		return out[0].(map[string]any)
	}
	return map[string]any{"anyOf": out}
}

// merge makes one JSON Schema of two that both must hold; ok is false where a keyword says two things.
func merge(a, b map[string]any) (map[string]any, bool) {
	out := map[string]any{}
	maps.Copy(out, a)
	for _, k := range jsonval.SortedKeys(b) {
		old, known := out[k]
		switch {
		case !known || jsonval.Equal(old, b[k]):
			out[k] = b[k]
		case k == "required":
			out[k] = union(old.([]any), b[k].([]any))
		case k == "properties":
			both, y := maps.Clone(old.(map[string]any)), b[k].(map[string]any)
			for _, name := range jsonval.SortedKeys(y) {
				part, ok := merge(jsonval.AsObject(both[name]), jsonval.AsObject(y[name]))
				if !ok {
					return nil, false
				}
				both[name] = part
			}
			out[k] = both
		case tighter[k] != nil:
			out[k] = tighter[k](old, b[k])
		default:
			return nil, false
		}
	}
	return out, true
}

// tighter is, of two bounds of a keyword, the one that lets less in.
var tighter = map[string]func(a, b any) any{
	"minimum": greater, "minItems": greater, "exclusiveMinimum": greater, "maximum": smaller, "maxItems": smaller,
}

func greater(a, b any) any {
	x, _ := jsonval.ToFloat(a)
	if y, _ := jsonval.ToFloat(b); y > x {
		return b
	}
	return a
}

func smaller(a, b any) any {
	if jsonval.Equal(greater(a, b), a) {
		return b
	}
	return a
}

func union(a, b []any) []any {
	out := slices.Clone(a)
	for _, v := range b {
		if !jsonval.ContainsValue(out, v) {
			out = append(out, v)
		}
	}
	return out
}
