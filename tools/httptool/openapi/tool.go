package openapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// tool is a Tool under construction.
type tool struct {
	doc     *document
	op      *operation
	options Options

	fields  []field
	used    map[string]bool // names of parameters
	base    string          // the address before the path
	host    string          // for the allow-list; empty if it is a secret
	path    string
	places  map[string]string // placeholders of the path, by parameter
	query   []string
	headers map[string]string
	body    any // the template; nil if there is none
	output  any // the schema of the result; nil if unknown
	secrets map[string]string
	notes   []string
	// properties are the converted schemas of the parameters; definitions are the schemas that they refer to.
	properties, definitions jsonval.Object
}

// field is a parameter of a Tool.
type field struct {
	name, description string
	schema            any // as written in the document; nil for any value
	required          bool
	list              string // the separator of the items, for a list that is passed as a text
	place             int    // the position in which people see it; 0: after the fields so far
}

// newTool reads one operation.
func newTool(d *document, op *operation, o Options) (*tool, error) {
	t := &tool{doc: d, op: op, options: o, used: map[string]bool{}, headers: map[string]string{},
		secrets: map[string]string{}}
	for _, read := range []func() error{t.readServer, t.readParameters, t.readPath, t.readBody} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	t.readSecurity()
	t.readAnswer()
	return t, t.readSchemas()
}

func (t *tool) note(format string, args ...any) {
	t.notes = append(t.notes, t.op.place()+": "+fmt.Sprintf(format, args...))
}

// add adds a parameter to the Tool and returns its placeholder.
func (t *tool) add(f field, in string) string {
	name := paramName(f.name)
	if name == "" || t.used[name] {
		name = strings.TrimSuffix(in+"_"+name, "_")
	}
	f.name = uniqueName(name, 1<<10, t.used)
	if f.place == 0 {
		t.doc.placed++
		f.place = t.doc.placed
	}
	t.fields = append(t.fields, f)
	return "{" + f.name + "}"
}

// spec returns the request of the HTTP tool.
func (t *tool) spec() jsonval.Object {
	address := t.base + t.path
	if len(t.query) > 0 {
		address += "?" + strings.Join(t.query, "&")
	}
	spec := jsonval.Object{"url": address, "method": t.op.method}
	if len(t.headers) > 0 {
		headers := jsonval.Object{}
		for name, value := range t.headers {
			headers[name] = value
		}
		spec["headers"] = headers
	}
	if t.body != nil {
		spec["body"] = t.body
	}
	return spec
}

// asIdeaTool returns the Tool in the form of an Idea file.
func (t *tool) asIdeaTool() jsonval.Object {
	required := []any{}
	for _, f := range t.fields {
		if f.required {
			required = append(required, f.name)
		}
	}
	tree := jsonval.Object{"type": "object", "properties": t.properties, "_activity": jsonval.Object{"http": t.spec()}}
	if len(required) > 0 {
		tree["required"] = required
	}
	shown := slices.SortedFunc(slices.Values(t.fields), func(a, b field) int { return a.place - b.place })
	jsonschema.SetOrder(tree, jsonval.Map(shown, func(f field) string { return f.name }))
	if d := t.op.description(); d != "" {
		tree["description"] = d
	}
	if len(t.definitions) > 0 {
		tree["$defs"] = t.definitions
	}
	if t.output != nil {
		tree["_output"] = t.output
	}
	if a := t.options.Approve; a == ApproveAll || (a == ApproveWrites && t.op.writes()) {
		tree["_approval"] = true
	}
	if !t.op.writes() {
		tree["_undo"] = string(ideafile.UndoNone)
	}
	return tree
}

// asLiteral encodes a text of the document for a URL: nothing in it can be read as a parameter or as a secret.
func asLiteral(s string) string {
	return strings.NewReplacer("+", "%20", "%5B", "[", "%5D", "]").Replace(url.QueryEscape(s))
}
