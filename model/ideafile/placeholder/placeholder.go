package placeholder

import (
	"regexp"
	"strings"

	"processidea/model/jsonval"
)

// TemplatePart is a piece of a template: literal Text, or, where PlaceholderName is not empty, the place of a value.
type TemplatePart struct {
	Text            string
	PlaceholderName string
}

// namePattern is letters, digits, '_', '-' and dots. Letters of every script count,
// as parameters may be named in any language.
const namePattern = `[\p{L}\p{Nd}_][\p{L}\p{Nd}\p{M}_.-]*`

var placeholderPattern = regexp.MustCompile(`\{\{(` + namePattern + `)\}\}|\{(` + namePattern + `)\}`)

// Split cuts a template into its parts. A placeholder is {name}; {{name}} is
// the literal {name}; every other brace is literal.
func Split(template string) []TemplatePart {
	var parts []TemplatePart
	var text strings.Builder
	start := 0
	flushText := func(end int) {
		text.WriteString(template[start:end])
		if text.Len() > 0 {
			parts = append(parts, TemplatePart{Text: text.String()})
			text.Reset()
		}
	}
	for _, match := range placeholderPattern.FindAllStringSubmatchIndex(template, -1) {
		if isEscaped := match[2] >= 0; isEscaped {
			text.WriteString(template[start:match[0]] + template[match[0]+1:match[1]-1])
		} else {
			flushText(match[0])
			parts = append(parts, TemplatePart{PlaceholderName: template[match[4]:match[5]]})
		}
		start = match[1]
	}
	flushText(len(template))
	return parts
}

// FindValue looks a name up in values: the key of that very name, else the path
// that its dots make through objects and lists ("user.name", "items.0.id").
func FindValue(values jsonval.Object, name string) (any, bool) {
	if v, ok := values[name]; ok {
		return v, true
	}
	return jsonval.ValueAt(values, strings.Split(name, "."))
}

// RootKey is the top-level key of values that a name reads.
func RootKey(values jsonval.Object, name string) string {
	if _, ok := values[name]; ok {
		return name
	}
	root, _, _ := strings.Cut(name, ".")
	return root
}

// FormatValue is how a value reads inside text: a string as it is, null as nothing, a
// number as it was written, a list or an object as compact JSON.
func FormatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return jsonval.EncodeToString(v)
}
