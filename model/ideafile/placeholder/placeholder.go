package placeholder

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Part is a piece of a template: literal Text, or, where Name is not empty,
// the place of a value.
type Part struct {
	Text string
	Name string
}

// Split cuts a template into its parts. A placeholder is {name}, a name being
// letters, digits, '_', '-' and dots; {{name}} is the literal {name}; every
// other brace is literal.
func Split(template string) []Part {
	var parts []Part
	var text strings.Builder
	for rest := template; rest != ""; {
		if name, after, doubled := cut(rest); doubled {
			text.WriteString("{" + name + "}")
			rest = after
		} else if name != "" {
			if text.Len() > 0 {
				parts = append(parts, Part{Text: text.String()})
				text.Reset()
			}
			parts = append(parts, Part{Name: name})
			rest = after
		} else {
			text.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	if text.Len() > 0 {
		parts = append(parts, Part{Text: text.String()})
	}
	return parts
}

// cut reads the placeholder that s begins with; name is empty where there is none.
func cut(s string) (name, after string, doubled bool) {
	inner, ok := strings.CutPrefix(s, "{{")
	if ok {
		n := nameLen(inner)
		if after, ok := strings.CutPrefix(inner[n:], "}}"); ok && n > 0 {
			return inner[:n], after, true
		}
		return "", s, false
	}
	inner, ok = strings.CutPrefix(s, "{")
	if !ok {
		return "", s, false
	}
	n := nameLen(inner)
	if after, ok := strings.CutPrefix(inner[n:], "}"); ok && n > 0 {
		return inner[:n], after, false
	}
	return "", s, false
}

// nameLen counts the bytes of the name that s begins with. Letters of every
// script count, as parameters may be named in any language.
func nameLen(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		word := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if !word && (n == 0 || (r != '.' && r != '-' && !unicode.IsMark(r))) {
			break
		}
		n += size
	}
	return n
}

// Find looks a name up in values: the key of that very name, else the path
// that its dots make through objects and lists ("user.name", "items.0.id").
func Find(values map[string]any, name string) (any, bool) {
	if v, ok := values[name]; ok {
		return v, true
	}
	var at any = values
	for step := range strings.SplitSeq(name, ".") {
		next, ok := child(at, step)
		if !ok {
			return nil, false
		}
		at = next
	}
	return at, true
}

func child(v any, step string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[step]
		return next, ok
	case []any:
		i, err := strconv.ParseUint(step, 10, 31)
		if err != nil || int(i) >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// Root is the top-level key of values that a name reads.
func Root(values map[string]any, name string) string {
	if _, ok := values[name]; ok {
		return name
	}
	root, _, _ := strings.Cut(name, ".")
	return root
}

// Text is how a value reads inside text: a string as it is, null as nothing, a
// number as it was written, a list or an object as compact JSON.
func Text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
