package statelog

import "processidea/model/jsonval"

// SplitPatch splits a patch into one Write for each value that it sets, in the order of their paths. An empty object
// below the top and a BlobHandle are values.
func SplitPatch(patch any, at jsonval.Path) []Write {
	m, ok := patch.(jsonval.Object)
	_, stored := jsonval.AsBlobHandle(patch)
	if !ok || stored || (len(m) == 0 && len(at) > 0) {
		return []Write{{Path: at, Value: patch}}
	}
	var list []Write
	for k, v := range jsonval.Sorted(m) {
		list = append(list, SplitPatch(v, at.With(k))...)
	}
	return list
}
