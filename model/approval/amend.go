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
func MergeParams(tool *ideafile.Tool, shownParams, changes jsonval.Object) (jsonval.Object, error) {
	for k, v := range jsonval.Sorted(changes) {
		_, isDeclared := tool.SchemaByParam[k]
		_, isWired := tool.WiredExpressionByParam[k]
		switch {
		case strings.HasPrefix(k, "_"):
			return nil, fmt.Errorf("%q is a meta property; amend changes only parameters", jsonval.ClipForError(k))
		case isWired && !jsonval.Equal(v, shownParams[k]):
			return nil, fmt.Errorf("parameter %q is wired by the tool's designer and cannot be changed", k)
		case !isDeclared && !tool.AllowsExtraParams:
			return nil, fmt.Errorf("tool %q has no parameter %q%s", tool.Name, jsonval.ClipForError(k),
				diag.DidYouMean(k, jsonval.SortedKeys(tool.SchemaByParam)))
		}
	}
	if k := findChangedStoredObjectKey(shownParams, changes); k != "" {
		return nil, fmt.Errorf("%q is larger than 64 KB: it cannot be changed in parts", jsonval.ClipForError(k))
	}
	params, changedParams := jsonval.Object{}, jsonval.Object{}
	maps.Copy(params, shownParams)
	for k, v := range jsonval.Sorted(changes) {
		changedParams[k] = jsonval.DeepMerge(shownParams[k], v)
		delete(params, k)
	}
	maps.Copy(params, tool.WithoutNullParams(changedParams))
	return params, tool.ValidateParams(params)
}

// DiffObjects returns the changes with which MergeParams turns one object into another: the members that differ, and
// null for removed ones.
func DiffObjects(oldObject, newObject jsonval.Object) jsonval.Object {
	out := jsonval.Object{}
	for key := range oldObject {
		if _, exists := newObject[key]; !exists {
			out[key] = nil
		}
	}
	for key, newValue := range newObject {
		oldValue, existed := oldObject[key]
		a, isObject := oldValue.(jsonval.Object)
		b, isStillObject := newValue.(jsonval.Object)
		switch {
		case existed && jsonval.Equal(oldValue, newValue):
		case isObject && isStillObject:
			out[key] = DiffObjects(a, b)
		default:
			out[key] = newValue
		}
	}
	return out
}

// findChangedStoredObjectKey returns the key of an object that the changes edit although its content is in the store;
// "" if there is none.
func findChangedStoredObjectKey(shownParams, changes jsonval.Object) string {
	for k := range jsonval.Sorted(changes) {
		inner, isObject := changes[k].(jsonval.Object)
		if !isObject {
			continue
		}
		if _, isStored := jsonval.AsBlobHandle(shownParams[k]); isStored {
			return k
		}
		if changedKey := findChangedStoredObjectKey(jsonval.AsObject(shownParams[k]), inner); changedKey != "" {
			return changedKey
		}
	}
	return ""
}
