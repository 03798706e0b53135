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
func missingRequiredPaths(root, node, value any, at jsonval.Path) []string {
	node, _ = jsonschema.ResolveLocalRefs(root, node, "")
	m, ok := node.(map[string]any)
	object, isObject := value.(map[string]any)
	if _, stored := jsonval.AsBlobHandle(value); !ok || !isObject || stored {
		return nil
	}
	var out []string
	below := func(name string) jsonval.Path { return append(at[:len(at):len(at)], name) }
	required, _ := jsonval.AsStringList(m["required"])
	for _, name := range required {
		if _, ok := object[name]; !ok {
			out = append(out, below(name).String())
		}
	}
	props, _ := m["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(props) {
		if v, ok := object[name]; ok {
			out = append(out, missingRequiredPaths(root, props[name], v, below(name))...)
		}
	}
	return out
}
