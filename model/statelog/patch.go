package statelog

import "processidea/model/jsonval"

// SplitPatch splits a patch into one Write for each value that it sets, in the order of their paths. An empty object
// and a Handle are values.
func SplitPatch(patch any, at jsonval.Path) []Write {
	m, ok := patch.(map[string]any)
	_, stored := jsonval.AsBlobHandle(patch)
	if !ok || stored || (len(m) == 0 && len(at) > 0) {
		return []Write{{Path: at, Value: patch}}
	}
	var list []Write
	for _, k := range jsonval.SortedKeys(m) {
		list = append(list, SplitPatch(m[k], append(at[:len(at):len(at)], k))...)
	}
	return list
}
