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

// toolBuilder is a Tool under construction.
type toolBuilder struct {
	doc     *document
	op      *operation
	options Options

	params              []toolParam
	usedParamNames      map[string]bool // names of parameters
	baseURL             string          // the address before the path
	allowListHost       string          // for the allow-list; empty if it is a secret
	pathTemplate        string
	placeholderByParam  map[string]string // placeholders of the path, by parameter
	queryPairs          []string
	headers             map[string]string
	bodyTemplate        any // the template; nil if there is none
	resultSchema        any // the schema of the result; nil if unknown
	descriptionBySecret map[string]string
	notes               []string
	// paramSchemas are the converted schemas of the parameters; definitions are the schemas that they refer to.
	paramSchemas, paramDefinitions jsonval.Object
}

// toolParam is a parameter of a Tool.
type toolParam struct {
	name, description string
	schema            any // as written in the document; nil for any value
	isRequired        bool
	separator         string // the separator of the items, for a list that is passed as a text
	displayPosition   int    // the position in which people see it; 0: after the fields so far
}

// newToolBuilder reads one operation.
func newToolBuilder(d *document, op *operation, o Options) (*toolBuilder, error) {
	t := &toolBuilder{doc: d, op: op, options: o, usedParamNames: map[string]bool{}, headers: map[string]string{},
		descriptionBySecret: map[string]string{}}
	for _, read := range []func() error{t.readServer, t.readParameters, t.readPath, t.readBody, t.readSecurity} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	t.readResultSchema()
	return t, t.readSchemas()
}

func (t *toolBuilder) note(format string, args ...any) {
	t.notes = append(t.notes, t.op.methodAndPath()+": "+fmt.Sprintf(format, args...))
}

// addParam adds a parameter to the Tool and returns its placeholder.
func (t *toolBuilder) addParam(f toolParam, location string) string {
	name := templateParamName(f.name)
	if name == "" || t.usedParamNames[name] {
		name = strings.TrimSuffix(location+"_"+name, "_")
	}
	f.name = reserveUniqueName(name, 1<<10, t.usedParamNames)
	if f.displayPosition == 0 {
		t.doc.placedFieldCount++
		f.displayPosition = t.doc.placedFieldCount
	}
	t.params = append(t.params, f)
	return "{" + f.name + "}"
}

// httpSpec returns the request of the HTTP tool.
func (t *toolBuilder) httpSpec() jsonval.Object {
	address := t.baseURL + t.pathTemplate
	if len(t.queryPairs) > 0 {
		address += "?" + strings.Join(t.queryPairs, "&")
	}
	spec := jsonval.Object{"url": address, "method": t.op.method}
	if len(t.headers) > 0 {
		headers := jsonval.Object{}
		for name, value := range t.headers {
			headers[name] = value
		}
		spec["headers"] = headers
	}
	if t.bodyTemplate != nil {
		spec["body"] = t.bodyTemplate
	}
	return spec
}

// asIdeaTool returns the Tool in the form of an Idea file.
func (t *toolBuilder) asIdeaTool() jsonval.Object {
	required := []any{}
	for _, f := range t.params {
		if f.isRequired {
			required = append(required, f.name)
		}
	}
	toolSource := jsonval.Object{"type": "object", "properties": t.paramSchemas,
		"_activity": jsonval.Object{"http": t.httpSpec()}}
	if len(required) > 0 {
		toolSource["required"] = required
	}
	orderedParams := slices.SortedFunc(slices.Values(t.params),
		func(a, b toolParam) int { return a.displayPosition - b.displayPosition })
	jsonschema.SetPropertyOrder(toolSource, jsonval.Map(orderedParams, func(f toolParam) string { return f.name }))
	if d := t.op.description(); d != "" {
		toolSource["description"] = d
	}
	if len(t.paramDefinitions) > 0 {
		toolSource["$defs"] = t.paramDefinitions
	}
	if t.resultSchema != nil {
		toolSource["_output"] = t.resultSchema
	}
	if a := t.options.ApprovalMode; a == ApproveAll || (a == ApproveWrites && t.op.mayWrite()) {
		toolSource["_approval"] = true
	}
	if !t.op.mayWrite() {
		toolSource["_undo"] = string(ideafile.UndoNotNeeded)
	}
	return toolSource
}

// escapeQueryLiteral encodes a text of the document for a URL: nothing in it can be read as a parameter or as a secret.
func escapeQueryLiteral(s string) string {
	return strings.NewReplacer("+", "%20", "%5B", "[", "%5D", "]").Replace(url.QueryEscape(s))
}
