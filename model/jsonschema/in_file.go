package jsonschema

import (
	"processidea/model/diag"
)

// CompileInFile returns nil, and adds a problem, for a schema that does not compile.
func CompileInFile(v any, path string, ps *diag.Problems) *Schema {
	return CompilePartInFile(v, "", path, ps)
}

// CompilePartInFile is CompileInFile for the part of a schema at a JSON pointer. If ps is nil, the part is compiled
// when it is first used.
func CompilePartInFile(v any, pointer, path string, ps *diag.Problems) *Schema {
	if ps == nil {
		return NewLazySchema(v, pointer)
	}
	s, err := CompileAt(v, pointer)
	if err != nil {
		ps.Add(path, "%s", diag.WithoutPackagePrefix(err))
		return nil
	}
	return s
}
