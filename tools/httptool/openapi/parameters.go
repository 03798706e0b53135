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
func (t *tool) readParameters() error {
	t.places = map[string]string{}
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

// errForm means that an HTTP tool cannot send a value in the required form.
var errForm = errors.New("an HTTP tool cannot send it in its form")

func (t *tool) readParameter(p parameter) error {
	f, kind, err := t.field(p)
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

// field reads a parameter's schema. A parameter with a media type must be a JSON object.
func (t *tool) field(p parameter) (f field, kind string, err error) {
	f = field{name: p.Name, description: strings.TrimSpace(p.Description), required: p.Required || p.In == "path"}
	f.schema = t.doc.valueAt(p.written, "schema")
	for mediaType := range p.Content {
		if !isJSON(mediaType) {
			return f, "", errForm
		}
		f.schema = t.doc.valueAt(p.written, "content", mediaType, "schema")
	}
	kind = t.doc.valueType(f.schema)
	if len(p.Content) > 0 && kind != "object" {
		return f, "", errForm // as JSON, a text would need quotes
	}
	return f, kind, nil
}

func (t *tool) readPathParameter(p parameter, f field, kind string) error {
	if !slices.Contains([]string{"", "simple"}, p.Style) || kind == "object" {
		return errForm
	}
	if kind == "array" {
		f.list = ","
	}
	if !strings.Contains(t.op.path, "{"+p.Name+"}") {
		t.note("path parameter %q does not stand in the path", p.Name)
		return nil
	}
	t.places[p.Name] = t.add(f, "path")
	return nil
}

// separators are the separators of a list's items, by the style of a query parameter that is not exploded.
var separators = map[string]string{"": ",", "form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}

func (t *tool) readQuery(p parameter, f field, kind string) error {
	form := p.Style == "" || p.Style == "form"
	exploded := (form && p.Explode == nil) || (p.Explode != nil && *p.Explode)
	switch {
	case kind == "object" && len(p.Content) > 0:
	case kind == "object" && p.Style == "deepObject":
		return t.spreadObject(p, f, func(name string) string { return p.Name + "[" + name + "]" })
	case kind == "object" && form && exploded:
		return t.spreadObject(p, f, func(name string) string { return name })
	case kind == "object", p.Style == "deepObject":
		return errForm
	case kind == "array" && (!exploded || !form):
		separator, ok := separators[p.Style]
		if !ok {
			return errForm
		}
		f.list = separator
	}
	t.query = append(t.query, asLiteral(p.Name)+"="+t.add(f, "query"))
	return nil
}

// spreadObject makes each member of an object a parameter, if the query carries the members one by one.
func (t *tool) spreadObject(p parameter, f field, wire func(string) string) error {
	members, ok := t.doc.objectFields(f.schema)
	if !ok {
		return errForm
	}
	for _, m := range members {
		kind := t.doc.valueType(m.schema)
		if kind == "array" || kind == "object" {
			if m.required && p.Required {
				return errForm
			}
			t.note("query parameter %q is left out: %s", wire(m.name), errForm)
			continue
		}
		name := wire(m.name)
		m.required = m.required && p.Required
		m.name = paramName(name)
		t.query = append(t.query, asLiteral(name)+"="+t.add(m, "query"))
	}
	return nil
}

func (t *tool) readHeader(p parameter, f field, kind string) error {
	if httptool.ReservedHeader(p.Name) || slices.Contains([]string{"accept", "content-type", "authorization"},
		strings.ToLower(p.Name)) {
		t.note("header parameter %q is left out: it is not the caller's", p.Name)
		return nil
	}
	if !httpguts.ValidHeaderFieldName(p.Name) || kind == "object" {
		return errForm
	}
	if kind == "array" {
		f.list = ","
	}
	t.headers[p.Name] = t.add(f, "header")
	return nil
}
