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

// tool is a Tool in the making.
type tool struct {
	doc     *document
	op      *operation
	options Options

	fields  []field
	used    map[string]bool // names of parameters
	base    string          // of the address, to the path
	host    string          // for the allow-list; empty where it is a secret
	path    string
	places  map[string]string // placeholders of the path, by parameter
	query   []string
	headers map[string]string
	body    any // the template; nil for none
	output  any // the schema of the result; nil where nothing is known of it
	secrets map[string]string
	notes   []string
	// parts are the converted schemas, with what they refer to.
	properties, definitions jsonval.Object
}

// field is a parameter of a Tool.
type field struct {
	name, description string
	schema            any // as the document has it; nil for any value
	required          bool
	list              string // what separates the items of a list that is given as a text
	place             int    // among the fields as people are shown them; 0: after those that were added
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

// add makes a parameter of the Tool and gives the placeholder for it.
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

// spec is the request of the HTTP tool.
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

// asIdeaTool is the Tool as an Idea file has it.
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

// asLiteral writes a text of the document for a URL: nothing in it is read as a parameter or as a secret.
func asLiteral(s string) string {
	return strings.NewReplacer("+", "%20", "%5B", "[", "%5D", "]").Replace(url.QueryEscape(s))
}
