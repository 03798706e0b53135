package statelog

import (
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// MissingRequiredPaths lists the paths that a State schema requires and a State does not have.
func MissingRequiredPaths(schema, state any) []string {
	return missingRequiredPaths(schema, schema, state, nil)
}

// missingRequiredPaths lists the required paths below one node of the schema that the value does not have. at is the
// path of both.
func missingRequiredPaths(root, node, value any, path jsonval.Path) []string {
	node, _ = jsonschema.ResolveLocalRefs(root, node, "")
	m, ok := node.(jsonval.Object)
	object, isObject := value.(jsonval.Object)
	if _, isBlob := jsonval.AsBlobHandle(value); !ok || !isObject || isBlob {
		return nil
	}
	var out []string
	for _, name := range jsonschema.Required(m) {
		if _, ok := object[name]; !ok {
			out = append(out, path.WithStep(name).String())
		}
	}
	for name, value := range jsonval.Sorted(jsonschema.Properties(m)) {
		if v, ok := object[name]; ok {
			out = append(out, missingRequiredPaths(root, value, v, path.WithStep(name))...)
		}
	}
	return out
}
