package approval

import (
	"fmt"
	"maps"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// MergeParams merges a person's changes into the parameters that were shown: objects key by key, any other value as a
// whole. A null removes the key, unless the Tool accepts null for it. Parameters wired by the Tool's designer stay.
func MergeParams(tool *ideafile.Tool, shown, changes jsonval.Object) (jsonval.Object, error) {
	for k, v := range jsonval.Sorted(changes) {
		_, declared := tool.SchemaByParam[k]
		_, wired := tool.WiredParams[k]
		switch {
		case strings.HasPrefix(k, "_"):
			return nil, fmt.Errorf("%q is a meta property; amend changes only parameters", jsonval.ClipForError(k))
		case wired && !jsonval.Equal(v, shown[k]):
			return nil, fmt.Errorf("parameter %q is wired by the tool's designer and cannot be changed", k)
		case !declared && !tool.AllowsExtraParams:
			return nil, fmt.Errorf("tool %q has no parameter %q%s", tool.Name, jsonval.ClipForError(k),
				diag.DidYouMean(k, jsonval.SortedKeys(tool.SchemaByParam)))
		}
	}
	if k := findChangedStoredObject(shown, changes); k != "" {
		return nil, fmt.Errorf("%q is larger than 64 KB: it cannot be changed in parts", jsonval.ClipForError(k))
	}
	params, touched := jsonval.Object{}, jsonval.Object{}
	maps.Copy(params, shown)
	for k, v := range jsonval.Sorted(changes) {
		touched[k] = jsonval.DeepMerge(shown[k], v)
		delete(params, k)
	}
	maps.Copy(params, tool.WithoutNullParams(touched))
	return params, tool.ValidateParams(params)
}

// Changes returns the changes with which MergeParams turns one object into another: the members that differ, and null
// for removed ones.
func Changes(from, to jsonval.Object) jsonval.Object {
	out := jsonval.Object{}
	for key := range from {
		if _, kept := to[key]; !kept {
			out[key] = nil
		}
	}
	for key, now := range to {
		before, was := from[key]
		a, isObject := before.(jsonval.Object)
		b, staysObject := now.(jsonval.Object)
		switch {
		case was && jsonval.Equal(before, now):
		case isObject && staysObject:
			out[key] = Changes(a, b)
		default:
			out[key] = now
		}
	}
	return out
}

// findChangedStoredObject returns the key of an object that the changes edit although its content is in the store; ""
// if there is none.
func findChangedStoredObject(shown, changes jsonval.Object) string {
	for k := range jsonval.Sorted(changes) {
		inner, isObject := changes[k].(jsonval.Object)
		if !isObject {
			continue
		}
		if _, stored := jsonval.AsBlobHandle(shown[k]); stored {
			return k
		}
		if found := findChangedStoredObject(jsonval.AsObject(shown[k]), inner); found != "" {
			return found
		}
	}
	return ""
}
