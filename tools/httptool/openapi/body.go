package openapi

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

const (
	mediaJSON      = "application/json"
	mediaJSONPatch = "application/json-patch+json"
	mediaForm      = "application/x-www-form-urlencoded"
)

// readBody makes the template of the request's body. If the method sends a body and the operation describes none, the
// body is an empty object.
func (t *toolBuilder) readBody() error {
	if slices.Contains([]string{"POST", "PUT", "PATCH", "OPTIONS"}, t.op.method) {
		t.bodyTemplate = jsonval.Object{}
	}
	body, err := t.doc.resolveObject(t.op.definition["requestBody"])
	content := jsonval.AsObject(body["content"])
	if err != nil || len(content) == 0 {
		return err
	}
	if t.op.method == "GET" || t.op.method == "HEAD" {
		t.note("the request's body is left out: a %s has none", t.op.method)
		return nil
	}
	mediaType, key := chooseContent(content)
	schema, isRequired := t.doc.valueAt(content[key], "schema"), isTrue(body["required"])
	switch {
	case key == "":
		err = fmt.Errorf("an HTTP tool cannot send %s",
			strings.Join(jsonval.SortedKeys(content), " or "))
	case isJSONMediaType(mediaType) && t.doc.isFileSchema(schema):
		err = errFileUpload
	}
	if err != nil {
		if isRequired || t.isBodyNeeded(content) {
			return err
		}
		t.note("the request's body is left out: %s", err)
		return nil
	}
	if mediaType != mediaJSON {
		t.headers["Content-Type"] = mediaType
	}
	switch {
	case mediaType == mediaForm:
		return t.readFormBody(schema, content[key], isRequired)
	case isJSONMediaType(mediaType):
		t.readJSONBody(schema, textOf(body["description"]), isRequired)
	default:
		t.addBodyParameter(toolParam{schema: jsonval.Object{"type": "string"},
			description: textOf(body["description"])}, isRequired)
	}
	return nil
}

// isBodyNeeded reports whether every form of the body has a required member: the server would then refuse each request
// without a body.
func (t *toolBuilder) isBodyNeeded(content jsonval.Object) bool {
	for _, one := range content {
		schema := t.doc.valueAt(one, "schema")
		if len(jsonschema.Required(t.doc.unwrapSchema(schema))) == 0 {
			return false
		}
	}
	return true
}

// chooseContent returns the content that an HTTP tool sends best, and its key: JSON before a form before a text, and
// before a list of changes to JSON.
func chooseContent(content jsonval.Object) (mediaType, key string) {
	for _, isMatch := range []func(string) bool{
		func(s string) bool { return s == mediaJSON },
		func(s string) bool { return isJSONMediaType(s) && s != mediaJSONPatch },
		isJSONMediaType,
		isWildcardMediaType,
		func(s string) bool { return s == mediaForm },
		func(s string) bool { return strings.HasPrefix(s, "text/") },
	} {
		for _, key := range jsonval.SortedKeys(content) {
			parsedMediaType, _, err := mime.ParseMediaType(key)
			if err != nil || !isMatch(parsedMediaType) {
				continue
			}
			switch {
			case strings.HasPrefix(parsedMediaType, "text/*"):
				parsedMediaType = "text/plain"
			case strings.Contains(parsedMediaType, "*"):
				parsedMediaType = mediaJSON
			}
			return parsedMediaType, key
		}
	}
	return "", ""
}

// fileSchemaFormat is the format of a string that represents a file.
const fileSchemaFormat = "binary"

// fileSchemaType is the type of such a string in Swagger 2.
const fileSchemaType = "file"

var errFileUpload = errors.New("an HTTP tool cannot send a file")

func (d *document) isFileSchema(schema any) bool {
	m := d.unwrapSchema(schema)
	return m["format"] == fileSchemaFormat || m["type"] == fileSchemaType
}

func isJSONMediaType(mediaType string) bool {
	parsedMediaType, _, err := mime.ParseMediaType(mediaType)
	return err == nil && (parsedMediaType == mediaJSON || parsedMediaType == "text/json" ||
		strings.HasSuffix(parsedMediaType, "+json"))
}

// isWildcardMediaType reports whether a media type allows any type, as Spring writes it.
func isWildcardMediaType(mediaType string) bool {
	parsedMediaType, _, err := mime.ParseMediaType(mediaType)
	return err == nil && (parsedMediaType == "*/*" || parsedMediaType == "application/*")
}

// readJSONBody makes each member of an object a parameter; any other value becomes one parameter.
func (t *toolBuilder) readJSONBody(schema any, description string, isBodyRequired bool) {
	members, ok := t.doc.objectFields(schema)
	if !ok || t.doc.hasSubtypes(schema) {
		t.addBodyParameter(toolParam{schema: schema, description: description}, isBodyRequired)
		return
	}
	template := jsonval.Object{}
	t.noteRequiredMembers(members, isBodyRequired)
	for _, m := range members {
		template[m.name] = t.addParam(m, "body")
	}
	t.bodyTemplate = template
}

// noteRequiredMembers adds a note if members are required although the body is not. Hardly any document declares a body
// as required, but a server that requires a member requires the body.
func (t *toolBuilder) noteRequiredMembers(fields []toolParam, isBodyRequired bool) {
	if !isBodyRequired && slices.ContainsFunc(fields, func(f toolParam) bool { return f.isRequired }) {
		t.note("the request's body is optional there, but required here: so are its required members")
	}
}

func (t *toolBuilder) addBodyParameter(param toolParam, isBodyRequired bool) {
	if !isBodyRequired {
		t.note("the request's body is optional there, but required here")
	}
	param.name, param.isRequired = "body", true
	param.description = strings.TrimSpace(param.description)
	t.bodyTemplate = t.addParam(param, "request")
}

// readFormBody makes each member of a form a parameter. HTTP tools send the items of a list one by one.
func (t *toolBuilder) readFormBody(schema, content any, isBodyRequired bool) error {
	members, ok := t.doc.objectFields(schema)
	if !ok {
		return errors.New("its form is no list of named members")
	}
	template := jsonval.Object{}
	t.noteRequiredMembers(members, isBodyRequired)
	for _, m := range members {
		name := m.name
		style := jsonval.AsText(t.doc.valueAt(content, "encoding", name, "style"))
		var err error
		switch {
		case t.doc.isFileSchema(m.schema):
			err = errFileUpload
		case t.doc.nonNullValueType(m.schema) == "object",
			style != "" && style != "form":
			err = errParamStyle
		}
		if err != nil {
			if m.isRequired {
				return fmt.Errorf("form member %q is needed: %w", name, err)
			}
			t.note("form member %q is left out: %s", name, err)
			continue
		}
		template[name] = t.addParam(m, "body")
	}
	t.bodyTemplate = template
	return nil
}
