package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"processidea/tools/httptool"
)

// readParameters reads the parameters of path, query and headers.
func (t *toolBuilder) readParameters() error {
	t.placeholderByParam = map[string]string{}
	for _, p := range t.doc.parameters(t.op) {
		err := t.readParameter(p)
		if err != nil && (p.Required || p.In == "path") {
			return fmt.Errorf("%s parameter %q is needed: %w", p.In, p.Name, err)
		}
		if err != nil {
			t.note("%s parameter %q is left out: %s", p.In, p.Name, err)
		}
	}
	return nil
}

// errParamStyle means that an HTTP tool cannot send a value in the required form.
var errParamStyle = errors.New("an HTTP tool cannot send it in its form")

func (t *toolBuilder) readParameter(p parameter) error {
	f, kind, err := t.readParamSchema(p)
	if err != nil {
		return err
	}
	switch p.In {
	case "path":
		return t.readPathParameter(p, f, kind)
	case "query":
		return t.readQuery(p, f, kind)
	case "header":
		return t.readHeader(p, f, kind)
	}
	return errors.New("an HTTP tool sends none")
}

// readParamSchema reads a parameter's schema. A parameter with a media type must be a JSON object.
func (t *toolBuilder) readParamSchema(p parameter) (f toolParam, kind string, err error) {
	f = toolParam{name: p.Name, description: strings.TrimSpace(p.Description), required: p.Required || p.In == "path"}
	f.schema = t.doc.valueAt(p.raw, "schema")
	for mediaType := range p.Content {
		if !isJSON(mediaType) {
			return f, "", errParamStyle
		}
		f.schema = t.doc.valueAt(p.raw, "content", mediaType, "schema")
	}
	kind = t.doc.valueType(f.schema)
	if len(p.Content) > 0 && kind != "object" {
		return f, "", errParamStyle // as JSON, a text would need quotes
	}
	return f, kind, nil
}

func (t *toolBuilder) readPathParameter(p parameter, f toolParam, kind string) error {
	if !slices.Contains([]string{"", "simple"}, p.Style) || kind == "object" {
		return errParamStyle
	}
	if kind == "array" {
		f.separator = ","
	}
	if !strings.Contains(t.op.path, "{"+p.Name+"}") {
		t.note("path parameter %q does not stand in the path", p.Name)
		return nil
	}
	t.placeholderByParam[p.Name] = t.addParam(f, "path")
	return nil
}

// separatorByStyle are the separators of a list's items, by the style of a query parameter that is not exploded.
var separatorByStyle = map[string]string{"": ",", "form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}

func (t *toolBuilder) readQuery(p parameter, f toolParam, kind string) error {
	isForm := p.Style == "" || p.Style == "form"
	isExploded := (isForm && p.Explode == nil) || (p.Explode != nil && *p.Explode)
	switch {
	case kind == "object" && len(p.Content) > 0:
	case kind == "object" && p.Style == "deepObject":
		return t.spreadObject(p, f, func(name string) string { return p.Name + "[" + name + "]" })
	case kind == "object" && isForm && isExploded:
		return t.spreadObject(p, f, func(name string) string { return name })
	case kind == "object", p.Style == "deepObject":
		return errParamStyle
	case kind == "array" && (!isExploded || !isForm):
		separator, ok := separatorByStyle[p.Style]
		if !ok {
			return errParamStyle
		}
		f.separator = separator
	}
	t.query = append(t.query, asLiteral(p.Name)+"="+t.addParam(f, "query"))
	return nil
}

// spreadObject makes each member of an object a parameter, if the query carries the members one by one.
func (t *toolBuilder) spreadObject(p parameter, f toolParam, wireName func(string) string) error {
	members, ok := t.doc.objectFields(f.schema)
	if !ok {
		return errParamStyle
	}
	for _, m := range members {
		kind := t.doc.valueType(m.schema)
		if kind == "array" || kind == "object" {
			if m.required && p.Required {
				return errParamStyle
			}
			t.note("query parameter %q is left out: %s", wireName(m.name), errParamStyle)
			continue
		}
		name := wireName(m.name)
		m.required = m.required && p.Required
		m.name = paramName(name)
		t.query = append(t.query, asLiteral(name)+"="+t.addParam(m, "query"))
	}
	return nil
}

func (t *toolBuilder) readHeader(p parameter, f toolParam, kind string) error {
	if httptool.IsReservedHeader(p.Name) || slices.Contains([]string{"accept", "content-type", "authorization"},
		strings.ToLower(p.Name)) {
		t.note("header parameter %q is left out: it is not the caller's", p.Name)
		return nil
	}
	if !httpguts.ValidHeaderFieldName(p.Name) || kind == "object" {
		return errParamStyle
	}
	if kind == "array" {
		f.separator = ","
	}
	t.headers[p.Name] = t.addParam(f, "header")
	return nil
}
