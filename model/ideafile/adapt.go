package ideafile

import (
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// withoutAbsent leaves out what is null because it may be absent.
func (t *Tool) WithoutAbsent(params map[string]any) map[string]any {
	out := map[string]any{}
	for _, k := range jsonval.SortedKeys(params) {
		if t == nil {
			out[k] = params[k]
			continue
		}
		if params[k] == nil && !t.Requires(k) && !t.ParamSchemas[k].TakesNull() {
			continue
		}
		out[k] = jsonschema.WithoutNulls(t.Source, jsonval.Path{k}, params[k])
	}
	return out
}
