package openapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"processidea/model/jsonval"
)

// operation is one method of one path.
type operation struct {
	method, path string
	pathItem     *openapi3.PathItem
	def          *openapi3.Operation
	raw          any    // the operation as it is written
	toolName     string // the Tool's name
}

func (o *operation) methodAndPath() string { return o.method + " " + o.path }

// methods are the supported methods, in the order in which a path's operations are imported.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// operations lists all operations, by path and method, each with a unique name. An operation whose id is a valid name
// gets that name before operations whose names must be adapted.
func (d *document) operations() []*operation {
	var all []*operation
	for _, path := range d.Paths.Keys() {
		item := d.Paths.Value(path)
		for _, method := range methods {
			if op := item.GetOperation(method); op != nil {
				all = append(all, &operation{method: method, path: path, pathItem: item, def: op,
					raw: d.valueAt(d.root, "paths", path, strings.ToLower(method))})
			}
		}
		for method := range item.Operations() {
			if !slices.Contains(methods, method) {
				d.notes = append(d.notes, method+" "+path+" is left out: an HTTP tool has no such method")
			}
		}
	}
	slices.Sort(d.notes)
	used := map[string]bool{}
	for _, exact := range []bool{true, false} {
		for _, o := range all {
			name := toolName(cmp.Or(o.def.OperationID, nameFromPath(o.method, o.path)))
			if o.toolName == "" && (!exact || name == o.def.OperationID) {
				o.toolName = uniqueName(name, maxToolName, used)
			}
		}
	}
	return all
}

// parameters returns the parameters of the path, each replaced by the operation's parameter with the same name and
// place, and the operation's other parameters.
func (d *document) parameters(o *operation) (list []parameter) {
	for _, source := range []struct {
		refs    openapi3.Parameters
		written any
	}{
		{o.pathItem.Parameters, d.valueAt(d.root, "paths", o.path, "parameters")},
		{o.def.Parameters, d.valueAt(o.raw, "parameters")},
	} {
		written, _ := source.written.([]any)
		for n, ref := range source.refs {
			if ref == nil || ref.Value == nil || n >= len(written) {
				continue
			}
			p := parameter{ref.Value, written[n]}
			isSame := func(other parameter) bool { return other.In == p.In && other.Name == p.Name }
			if index := slices.IndexFunc(list, isSame); index >= 0 {
				list[index] = p
			} else {
				list = append(list, p)
			}
		}
	}
	return list
}

// parameter is a parameter, typed and as written.
type parameter struct {
	*openapi3.Parameter
	raw any
}

// maxDescription bounds the part of a description that an LLM sees, in characters.
const maxDescription = 1000

func (o *operation) description() string {
	parts := []string{strings.TrimSpace(o.def.Summary)}
	if d := strings.TrimSpace(o.def.Description); d != parts[0] {
		parts = append(parts, d)
	}
	if o.def.Deprecated {
		parts = append(parts, "It is deprecated.")
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return jsonval.Clip(strings.Join(parts, "\n"), maxDescription)
}

// isWrite reports whether an operation may change something.
func (o *operation) isWrite() bool {
	return !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, o.method)
}
