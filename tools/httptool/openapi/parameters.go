package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"processidea/model/jsonval"
	"processidea/tools/httptool"
)

// readParameters reads the parameters of path, query and headers.
func (t *toolBuilder) readParameters() error {
	t.placeholderByParam = map[string]string{}
	list, err := t.doc.parameters(t.op)
	for _, p := range list {
		err := t.readParameter(p)
		if err != nil && (p.isRequired || p.in == "path") {
			return fmt.Errorf("%s parameter %q is needed: %w", p.in, p.name, err)
		}
		if err != nil {
			t.note("%s parameter %q is left out: %s", p.in, p.name, err)
		}
	}
	return err
}

// errParamStyle means that an HTTP tool cannot send a value in the required form.
var errParamStyle = errors.New("an HTTP tool cannot send it in its form")

func (t *toolBuilder) readParameter(p parameter) error {
	f, jsonType, err := t.readParamSchema(p)
	if err != nil {
		return err
	}
	switch p.in {
	case "path":
		return t.readPathParameter(p, f, jsonType)
	case "query":
		return t.readQueryParameter(p, f, jsonType)
	case "header":
		return t.readHeaderParameter(p, f, jsonType)
	}
	return errors.New("an HTTP tool sends none")
}

// readParamSchema reads a parameter's schema. A parameter with a media type must be a JSON object.
func (t *toolBuilder) readParamSchema(p parameter) (f toolParam, jsonType string, err error) {
	content := jsonval.AsObject(p.definition["content"])
	f = toolParam{name: p.name, description: strings.TrimSpace(textOf(p.definition["description"])),
		isRequired: p.isRequired || p.in == "path", schema: p.definition["schema"]}
	for mediaType, one := range content {
		if !isJSONMediaType(mediaType) {
			return f, "", errParamStyle
		}
		f.schema = t.doc.valueAt(one, "schema")
	}
	jsonType = t.doc.nonNullValueType(f.schema)
	if len(content) > 0 && jsonType != "object" {
		return f, "", errParamStyle // as JSON, a text would need quotes
	}
	return f, jsonType, nil
}

func (t *toolBuilder) readPathParameter(p parameter, f toolParam, jsonType string) error {
	if !slices.Contains([]string{"", "simple"}, p.style) || jsonType == "object" {
		return errParamStyle
	}
	if jsonType == "array" {
		f.separator = ","
	}
	if !strings.Contains(t.op.path, "{"+p.name+"}") {
		t.note("path parameter %q does not stand in the path", p.name)
		return nil
	}
	t.placeholderByParam[p.name] = t.addParam(f, "path")
	return nil
}

// separatorByStyle are the separators of a list's items, by the style of a query parameter that is not exploded.
var separatorByStyle = map[string]string{"": ",", "form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}

func (t *toolBuilder) readQueryParameter(p parameter, f toolParam, jsonType string) error {
	isForm := p.style == "" || p.style == "form"
	isExploded := isTrue(p.definition["explode"]) || isForm && p.definition["explode"] == nil
	switch {
	case jsonType == "object" && p.definition["content"] != nil:
	case jsonType == "object" && p.style == "deepObject":
		return t.addMembersAsParams(p, f, func(name string) string { return p.name + "[" + name + "]" })
	case jsonType == "object" && isForm && isExploded:
		return t.addMembersAsParams(p, f, func(name string) string { return name })
	case jsonType == "object", p.style == "deepObject":
		return errParamStyle
	case jsonType == "array" && (!isExploded || !isForm):
		separator, ok := separatorByStyle[p.style]
		if !ok {
			return errParamStyle
		}
		f.separator = separator
	}
	t.queryPairs = append(t.queryPairs, escapeQueryLiteral(p.name)+"="+t.addParam(f, "query"))
	return nil
}

// addMembersAsParams makes each member of an object a parameter, if the query carries the members one by one.
func (t *toolBuilder) addMembersAsParams(p parameter, f toolParam, wireNameOf func(string) string) error {
	members, ok := t.doc.objectFields(f.schema)
	if !ok {
		return errParamStyle
	}
	for _, m := range members {
		jsonType := t.doc.nonNullValueType(m.schema)
		if jsonType == "array" || jsonType == "object" {
			if m.isRequired && p.isRequired {
				return errParamStyle
			}
			t.note("query parameter %q is left out: %s", wireNameOf(m.name), errParamStyle)
			continue
		}
		name := wireNameOf(m.name)
		m.isRequired = m.isRequired && p.isRequired
		m.name = templateParamName(name)
		t.queryPairs = append(t.queryPairs, escapeQueryLiteral(name)+"="+t.addParam(m, "query"))
	}
	return nil
}

func (t *toolBuilder) readHeaderParameter(p parameter, f toolParam, jsonType string) error {
	if httptool.IsReservedHeader(p.name) || slices.Contains([]string{"accept", "content-type", "authorization"},
		strings.ToLower(p.name)) {
		t.note("header parameter %q is left out: it is not the caller's", p.name)
		return nil
	}
	if !httpguts.ValidHeaderFieldName(p.name) || jsonType == "object" {
		return errParamStyle
	}
	if jsonType == "array" {
		f.separator = ","
	}
	t.headers[p.name] = t.addParam(f, "header")
	return nil
}
