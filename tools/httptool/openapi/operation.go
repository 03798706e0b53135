package openapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// operation is one method of one path.
type operation struct {
	method, path         string
	pathItem, definition jsonval.Object
	toolName             string // the Tool's name
}

func (o *operation) methodAndPath() string { return o.method + " " + o.path }

func (o *operation) id() string { return textOf(o.definition["operationId"]) }

// supportedMethods are the supported methods, in the order in which a path's operations are imported.
var supportedMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// operations lists all operations, by path and method, each with a unique name. An operation whose id is a valid name
// gets that name before operations whose names must be adapted.
func (d *document) operations() []*operation {
	var all []*operation
	for path, part := range jsonval.Sorted(jsonval.AsObject(d.valueAt(d.root, "paths"))) {
		item, err := d.resolveObject(part)
		switch {
		case err != nil:
			d.notes = append(d.notes, fmt.Sprintf("%s is left out: %s", path, err))
		case strings.HasPrefix(path, "x-"):
			continue
		}
		for _, method := range supportedMethods {
			if def, ok := item[strings.ToLower(method)].(jsonval.Object); ok {
				all = append(all, &operation{method: method, path: path, pathItem: item, definition: def})
			}
		}
		for _, method := range []string{"connect", "query", "trace"} {
			if item[method] != nil {
				d.notes = append(d.notes,
					strings.ToUpper(method)+" "+path+" is left out: an HTTP tool has no such method")
			}
		}
	}
	slices.Sort(d.notes)
	usedNames := map[string]bool{}
	for _, isExactOnly := range []bool{true, false} {
		for _, o := range all {
			name := toolNameFromID(cmp.Or(o.id(), nameFromMethodAndPath(o.method, o.path)))
			if o.toolName == "" && (!isExactOnly || name == o.id()) {
				o.toolName = reserveUniqueName(name, maxToolNameBytes, usedNames)
			}
		}
	}
	return all
}

// parameters returns the parameters of the path, each replaced by the operation's parameter with the same name and
// place, and the operation's other parameters.
func (d *document) parameters(o *operation) (list []parameter, err error) {
	for _, source := range []jsonval.Object{o.pathItem, o.definition} {
		writtenParams, isList := source["parameters"].([]any)
		if !isList && source["parameters"] != nil {
			return nil, fmt.Errorf("its parameters are no list, but %s", jsonval.TypeOf(source["parameters"]))
		}
		for _, part := range writtenParams {
			def, err := d.resolveObject(part)
			if err != nil {
				return nil, err
			}
			p := parameter{def, textOf(def["name"]), jsonval.AsText(def["in"]), jsonval.AsText(def["style"]),
				isTrue(def["required"])}
			isSame := func(other parameter) bool { return other.in == p.in && other.name == p.name }
			if index := slices.IndexFunc(list, isSame); index >= 0 {
				list[index] = p
			} else if def != nil {
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// parameter is a parameter of an operation.
type parameter struct {
	definition      jsonval.Object
	name, in, style string
	isRequired      bool
}

// maxDescriptionChars bounds the part of a description that an LLM sees, in characters.
const maxDescriptionChars = 1000

func (o *operation) description() string {
	parts := []string{strings.TrimSpace(textOf(o.definition["summary"]))}
	if d := strings.TrimSpace(textOf(o.definition["description"])); d != parts[0] {
		parts = append(parts, d)
	}
	if isTrue(o.definition["deprecated"]) {
		parts = append(parts, "It is deprecated.")
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return jsonval.Clip(strings.Join(parts, "\n"), maxDescriptionChars)
}

// mayWrite reports whether an operation may change something.
func (o *operation) mayWrite() bool {
	return !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, o.method)
}
