package statelog

import (
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// MissingRequiredPaths lists the paths that a State schema requires and a State does not have.
func MissingRequiredPaths(schema, state any) []string {
	return missingRequiredPaths(schema, schema, state, nil)
}

// missingRequiredPaths lists the required paths below one node of the schema that the value does not have. path is the
// path of both.
func missingRequiredPaths(rootSchema, schemaNode, value any, path jsonval.Path) []string {
	schemaNode, _ = jsonschema.ResolveLocalRefs(rootSchema, schemaNode, "")
	m, ok := schemaNode.(jsonval.Object)
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
			out = append(out, missingRequiredPaths(rootSchema, value, v, path.WithStep(name))...)
		}
	}
	return out
}
