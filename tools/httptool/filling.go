package httptool

import (
	"fmt"
	"strings"

	"processidea/model/ideafile/placeholder"
	"processidea/model/jsonval"
)

var errFilledTooLarge = fmt.Errorf("with its parameters in place it would have more than %d MB",
	jsonval.MaxResolvedBytes>>20)

// templateFiller puts the values of one Call into templates. Values are data: neither {name} nor $env:NAME has a
// meaning in them.
type templateFiller struct {
	params     jsonval.Object
	vault      *vault
	usedParams map[string]bool // top-level parameters that a template has read
}

func (f *templateFiller) findParam(name string) (any, bool) {
	f.usedParams[placeholder.RootKey(f.params, name)] = true
	return placeholder.FindValue(f.params, name)
}

// fillText fills a text template. encode, if not nil, encodes values and secrets for a URL. hasParam reports whether
// the template has a parameter. Lists, objects and absent values are errors.
func (f *templateFiller) fillText(template string,
	encodeForURL func(string) string) (text string, hasParam bool, err error) {
	var out strings.Builder
	for _, part := range placeholder.Split(template) {
		var piece string
		if part.PlaceholderName == "" {
			piece, err = f.vault.insertSecrets(part.Text, encodeForURL)
			if encodeForURL != nil {
				piece = encodeURLLiteral(piece)
			}
		} else {
			hasParam = true
			piece, err = f.scalarText(part.PlaceholderName)
			if encodeForURL != nil {
				piece = encodeForURL(piece)
			}
		}
		if err != nil {
			return "", hasParam, err
		}
		if out.Len()+len(piece) > jsonval.MaxResolvedBytes {
			return "", hasParam, errFilledTooLarge
		}
		out.WriteString(piece)
	}
	return out.String(), hasParam, nil
}

func (f *templateFiller) scalarText(name string) (string, error) {
	v, ok := f.findParam(name)
	if !ok || v == nil {
		return "", fmt.Errorf("parameter %q is missing", name)
	}
	switch v.(type) {
	case []any, jsonval.Object:
		return "", fmt.Errorf("parameter %q is a list or an object, and stands in text", name)
	}
	return placeholder.FormatValue(v), nil
}

// solePlaceholder returns the name in a template that consists of one placeholder.
func solePlaceholder(template string) (string, bool) {
	parts := placeholder.Split(template)
	if len(parts) == 1 && parts[0].PlaceholderName != "" {
		return parts[0].PlaceholderName, true
	}
	return "", false
}

// fillValue fills a body's template: a string that is one placeholder becomes the parameter's value, of any type. there
// is false if that parameter is absent; its key or item must then be left out.
func (f *templateFiller) fillValue(template any) (v any, isPresent bool, err error) {
	switch template := template.(type) {
	case string:
		if name, ok := solePlaceholder(template); ok {
			v, isPresent = f.findParam(name)
			return v, isPresent, nil
		}
		v, _, err = f.fillText(template, nil)
		return v, true, err
	case []any:
		list := []any{}
		for _, item := range template {
			v, isPresent, err := f.fillValue(item)
			if err != nil {
				return nil, false, err
			}
			if isPresent {
				list = append(list, v)
			}
		}
		return list, true, nil
	case jsonval.Object:
		object := jsonval.Object{}
		for _, name := range jsonval.SortedKeys(template) {
			v, isPresent, err := f.fillValue(template[name])
			if err != nil {
				return nil, false, err
			}
			if isPresent {
				object[name] = v
			}
		}
		return object, true, nil
	}
	return template, true, nil
}
