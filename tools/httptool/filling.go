package httptool

import (
	"fmt"
	"strings"

	"processidea/model/ideafile/placeholder"
	"processidea/model/jsonval"
)

var errTooLarge = fmt.Errorf("with its parameters in place it would have more than %d MB", jsonval.MaxResolvedBytes>>20)

// templateFiller puts the values of one Call into templates. Values are data: neither {name} nor $env:NAME has a
// meaning in them.
type templateFiller struct {
	params jsonval.Object
	vault  *vault
	read   map[string]bool // top-level parameters that a template has read
}

func (f *templateFiller) find(name string) (any, bool) {
	f.read[placeholder.Root(f.params, name)] = true
	return placeholder.Find(f.params, name)
}

// text fills a text template. encode, if not nil, encodes values and secrets for a URL. open reports whether the
// template has a parameter. Lists, objects and absent values are errors.
func (f *templateFiller) text(template string, encode func(string) string) (text string, open bool, err error) {
	var out strings.Builder
	for _, part := range placeholder.Split(template) {
		var piece string
		if part.Name == "" {
			piece, err = f.vault.insertSecrets(part.Text, encode)
			if encode != nil {
				piece = encodeLiteral(piece)
			}
		} else {
			open = true
			piece, err = f.plainText(part.Name)
			if encode != nil {
				piece = encode(piece)
			}
		}
		if err != nil {
			return "", open, err
		}
		if out.Len()+len(piece) > jsonval.MaxResolvedBytes {
			return "", open, errTooLarge
		}
		out.WriteString(piece)
	}
	return out.String(), open, nil
}

func (f *templateFiller) plainText(name string) (string, error) {
	v, ok := f.find(name)
	if !ok || v == nil {
		return "", fmt.Errorf("parameter %q is missing", name)
	}
	switch v.(type) {
	case []any, jsonval.Object:
		return "", fmt.Errorf("parameter %q is a list or an object, and stands in text", name)
	}
	return placeholder.Text(v), nil
}

// solePlaceholder returns the name in a template that consists of one placeholder.
func solePlaceholder(template string) (string, bool) {
	parts := placeholder.Split(template)
	if len(parts) == 1 && parts[0].Name != "" {
		return parts[0].Name, true
	}
	return "", false
}

// value fills a body's template: a string that is one placeholder becomes the parameter's value, of any type. there is
// false if that parameter is absent; its key or item must then be left out.
func (f *templateFiller) value(template any) (v any, there bool, err error) {
	switch template := template.(type) {
	case string:
		if name, ok := solePlaceholder(template); ok {
			v, there = f.find(name)
			return v, there, nil
		}
		v, _, err = f.text(template, nil)
		return v, true, err
	case []any:
		list := []any{}
		for _, item := range template {
			v, there, err := f.value(item)
			if err != nil {
				return nil, false, err
			}
			if there {
				list = append(list, v)
			}
		}
		return list, true, nil
	case jsonval.Object:
		object := jsonval.Object{}
		for _, name := range jsonval.SortedKeys(template) {
			v, there, err := f.value(template[name])
			if err != nil {
				return nil, false, err
			}
			if there {
				object[name] = v
			}
		}
		return object, true, nil
	}
	return template, true, nil
}
