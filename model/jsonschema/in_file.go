package jsonschema

import (
	"processidea/model/diag"
)

// CompileReportingProblems returns nil, and adds a problem, for a schema that does not compile.
func CompileReportingProblems(v any, path string, ps *diag.Problems) *Schema {
	return CompilePartReportingProblems(v, "", path, ps)
}

// CompilePartReportingProblems is CompileReportingProblems for the part of a schema at a JSON pointer. If ps is nil,
// the part is compiled when it is first used.
func CompilePartReportingProblems(v any, pointer, path string, ps *diag.Problems) *Schema {
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
