package statelog

import "processidea/model/jsonval"

// SplitPatch splits a patch into one Write for each value that it sets, in the order of their paths. An empty object
// below the top and a BlobHandle are values.
func SplitPatch(patch any, parent jsonval.Path) []Write {
	m, ok := patch.(jsonval.Object)
	_, isBlob := jsonval.AsBlobHandle(patch)
	if !ok || isBlob || (len(m) == 0 && len(parent) > 0) {
		return []Write{{Path: parent, Value: patch}}
	}
	var list []Write
	for k, v := range jsonval.Sorted(m) {
		list = append(list, SplitPatch(v, parent.WithStep(k))...)
	}
	return list
}
