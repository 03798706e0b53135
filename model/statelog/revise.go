package statelog

import "processidea/model/jsonval"

// settings takes a patch apart into what it sets, in the order of the paths.
func Settings(patch any, at jsonval.Path) []Write {
	m, ok := patch.(map[string]any)
	_, stored := jsonval.AsHandle(patch)
	if !ok || stored || len(m) == 0 && len(at) > 0 {
		return []Write{{Path: at, Value: patch}}
	}
	var list []Write
	for _, k := range jsonval.SortedKeys(m) {
		list = append(list, Settings(m[k], append(at[:len(at):len(at)], k))...)
	}
	return list
}
